/** Tables of the hosts, and of the accounts of users on them. Never a row for each user on each host. */

import { sql } from "drizzle-orm";
import { bigint, check, index, integer, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import { HOST_KINDS, HOST_STATUSES } from "../shared/product/statuses.ts";
import { bytea, id, time } from "./columns.ts";
import { users } from "./schema.ts";
import { profiles } from "./schema-companies.ts";

/** The hosts; number 1 is the one that the service itself runs on. A row goes when the host is forgotten. */
export const hosts = pgTable(
  "hosts",
  {
    id: integer().generatedByDefaultAsIdentity({ startWith: 2 }).primaryKey(),
    name: text().notNull().unique(),
    kind: text({ enum: HOST_KINDS }).notNull().default("remote"),
    status: text({ enum: HOST_STATUSES }).notNull().default("active"),
    /** The agent's Ed25519 key; null for the local host. */
    publicKey: bytea().unique(),
    /** Of the agent's last request: each must be higher. */
    counter: bigint({ mode: "number" }).notNull().default(0),
    /** Milliseconds since 1970 in the nonce of that request. */
    nonceAt: bigint({ mode: "number" }).notNull().default(0),
    /** The host's own lease in milliseconds, 0 for none at all; null: as its groups say, or 4 hours. */
    leaseMs: bigint({ mode: "number" }),
    leaseEnds: text({ enum: ["logins", "sessions"] })
      .notNull()
      .default("logins"),
    /** When the last lease that it may have been given ends at the latest; null if it never had one. */
    leaseUntil: time(),
    sshHost: text().notNull().default(""),
    sshPort: integer().notNull().default(22),
    /** JSON of ServerKey. */
    hostKeys: text().notNull().default("[]"),
    /** JSON of ProfileState: whether it holds the profiles; null where it never said. */
    profiles: text(),
    mode: text().notNull().default(""),
    version: text().notNull().default(""),
    enrolledAt: time().notNull(),
    lastSeenAt: time(),
    /** Where the agent has applied everything up to. */
    appliedId: bigint({ mode: "number" }).notNull().default(0),
    appliedSeal: text().notNull().default(""),
    /** The host's clock less the service's, in milliseconds. */
    clockOffsetMs: bigint({ mode: "number" }).notNull().default(0),
    /** The agent knows records that the log does not have, and no administrator has accepted that. */
    divergedAt: time(),
    /** When administrators were mailed about its silence. */
    silenceMailedAt: time(),
    /** Of the service's own host: since when its accounts are still to follow other hours of its groups; null where they do. */
    hoursDueAt: time(),
  },
  (t) => [
    check("hosts_kind", sql`${t.kind} in ('local', 'remote')`),
    check("hosts_status", sql`${t.status} in ('active', 'locked', 'retiring')`),
  ],
);

export const hostGroups = pgTable("host_groups", {
  id: id(),
  name: text().notNull().unique(),
  /** As in hosts; the shortest of a host's groups counts. */
  leaseMs: bigint({ mode: "number" }),
  /** In which its hosts are open, as `parseHours` reads them; null for always. Those of all of a host's groups count. */
  hours: text(),
  /** What may be done at most by whoever comes to its hosts by it; null for anything. */
  profile: text().references(() => profiles.name),
  createdAt: time().notNull(),
});

export const hostGroupMembers = pgTable(
  "host_group_members",
  {
    groupId: bigint({ mode: "number" })
      .notNull()
      .references(() => hostGroups.id, { onDelete: "cascade" }),
    hostId: integer()
      .notNull()
      .references(() => hosts.id, { onDelete: "cascade" }),
  },
  (t) => [primaryKey({ columns: [t.groupId, t.hostId] }), index("host_group_members_host").on(t.hostId)],
);

/** The grants of users: a host, or all hosts of a group. Host 1 is in it like any other. */
export const grants = pgTable(
  "grants",
  {
    id: id(),
    userId: bigint({ mode: "number" })
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    groupId: bigint({ mode: "number" }).references(() => hostGroups.id),
    hostId: integer().references(() => hosts.id, { onDelete: "cascade" }),
    createdAt: time().notNull(),
  },
  (t) => [
    check("grants_of_one", sql`(${t.groupId} is null) <> (${t.hostId} is null)`),
    uniqueIndex("grants_user_group").on(t.userId, t.groupId),
    uniqueIndex("grants_user_host").on(t.userId, t.hostId),
    index("grants_group").on(t.groupId),
    index("grants_host").on(t.hostId),
  ],
);

/** Exceptions only: current problems on a remote host, as its agent reports them. */
export const hostProblems = pgTable(
  "host_problems",
  {
    id: id(),
    hostId: integer()
      .notNull()
      .references(() => hosts.id, { onDelete: "cascade" }),
    /** The host account's name; "" where it is about the host. */
    account: text().notNull(),
    kind: text({ enum: ["conflict", "missing", "refused", "drift", "finding", "unknown"] }).notNull(),
    text: text().notNull(),
    since: time().notNull(),
  },
  (t) => [index("host_problems_host").on(t.hostId), index("host_problems_account").on(t.account)],
);

/** Accounts that are to be removed from remote hosts: until each of `hosts` has applied the record, or while nobody has accepted that they go. */
export const removedAccounts = pgTable(
  "removed_accounts",
  {
    id: id(),
    name: text().notNull(),
    uid: integer().notNull(),
    /** The audit record of the removal; 0 as older versions stored it, until it was known; -1 until an administrator accepts it (see domain/recovery/unknown-accounts.ts). */
    recordId: bigint({ mode: "number" }).notNull().default(0),
    hosts: integer().array().notNull(),
    removedAt: time().notNull(),
  },
  (t) => [index("removed_accounts_name").on(t.name)],
);

/** Tokens that bind an agent to a host: used once. */
export const joinTokens = pgTable("join_tokens", {
  tokenHash: bytea().primaryKey(),
  /** The host's name; "" if the agent chooses it. */
  name: text().notNull().default(""),
  groupId: bigint({ mode: "number" }).references(() => hostGroups.id, { onDelete: "cascade" }),
  createdBy: text().notNull(),
  /** The administrator who made it, also by a token; null for the host's operator. */
  madeBy: bigint({ mode: "number" }),
  expiresAt: time().notNull(),
});

/** Changes that take access away and that remote hosts have yet to confirm; a row goes when the outcome is recorded. */
export const fleetChanges = pgTable("fleet_changes", {
  /** The audit record of the change. */
  recordId: bigint({ mode: "number" }).primaryKey(),
  userId: bigint({ mode: "number" }).notNull(),
  /** The host account's name. */
  account: text().notNull(),
  /** The remote hosts that had the account when the change was made. */
  hosts: integer().array().notNull(),
  madeAt: time().notNull(),
  /**
   * The time from which it is true on every host, even on those that stay silent; null until it is first computed, after
   * the commit.
   */
  effectiveBy: time(),
});

/**
 * Accounts that are being created. A row is committed before the host is touched, and goes in the transaction that stores the
 * user: one that is left names an account that a crash kept from becoming anybody's.
 */
export const accountIntents = pgTable("account_intents", {
  uid: integer().primaryKey(),
  /** The host account's name. */
  name: text().notNull(),
});

/** One row: the last uid given out, which only rises. */
export const uidCounter = pgTable("uid_counter", { one: integer().primaryKey(), last: integer().notNull() });

/**
 * Every uid that an account was ever given. `strayAt` is committed before ending processes with a uid that no account has, and goes with
 * the record of that.
 */
export const givenUids = pgTable("given_uids", { uid: integer().primaryKey(), strayAt: time() });

/** Entries of `uam lock` that are recorded, for as long as their files may be there (lifecycle/locks.ts), and locks and holds that hosts with agents report. */
export const importedLocks = pgTable("imported_locks", { id: text().primaryKey(), at: time().notNull() });

/** A user's possible repairs that are not recorded (lifecycle/repair-notes.ts). No foreign key: the user's row is locked meanwhile. */
export const repairs = pgTable(
  "repairs",
  { userId: bigint({ mode: "number" }).notNull(), kind: text().notNull(), notedAt: time().notNull() },
  (t) => [primaryKey({ columns: [t.userId, t.kind] })],
);

export type HostRow = typeof hosts.$inferSelect;
export type HostGroupRow = typeof hostGroups.$inferSelect;
