/** The stored state, as Drizzle tables. Migrations are generated from here (`bun run migrations`). */

import { sql } from "drizzle-orm";
import {
  bigint,
  check,
  customType,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import { APPROVAL_STATUSES, CLOSING_KINDS, KEY_STATUSES, USER_STATUSES } from "../shared/statuses.ts";

const bytea = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => "bytea" });

const id = () => bigint({ mode: "number" }).generatedAlwaysAsIdentity().primaryKey();
const time = () => timestamp({ withTimezone: true, precision: 3, mode: "date" });

export const ACTOR_TYPES = ["admin", "user", "cli", "system", "anonymous"] as const;
export const RESULTS = ["success", "failed"] as const;

/** External users. A row goes when the user is deleted. */
export const users = pgTable(
  "users",
  {
    id: id(),
    username: text().notNull().unique(),
    email: text().notNull(),
    supervisor: text().notNull().default(""),
    purpose: text().notNull().default(""),
    status: text({ enum: USER_STATUSES }).notNull().default("active"),
    expireAt: time().notNull(),
    disabledAt: time(),
    /** The last login with a code; null before the first. */
    lastLoginAt: time(),
    /** When a mail last told the user until when the account lasts, besides reminders; null: at the creation. */
    expiryMailedAt: time(),
    createdAt: time().notNull(),
    updatedAt: time().notNull(),
  },
  (t) => [
    check("users_status", sql`${t.status} in ('active', 'disabled', 'expired')`),
    index("users_status_id").on(t.status, t.id),
    index("users_supervisor_id").on(t.supervisor, t.id),
    index("users_expire_at").on(t.expireAt),
  ],
);

/** The host that the service itself runs on. */
export const LOCAL_HOST = 1;

/** A user's account on a host. The uid is never given to another. */
export const accounts = pgTable(
  "accounts",
  {
    userId: bigint({ mode: "number" })
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    hostId: integer().notNull().default(LOCAL_HOST),
    uid: integer().notNull(),
    /** Rises with each change of what the account should be. */
    generation: bigint({ mode: "number" }).notNull().default(1),
  },
  (t) => [primaryKey({ columns: [t.userId, t.hostId] }), uniqueIndex("accounts_uid").on(t.hostId, t.uid)],
);

/**
 * Accounts that are being made. A row is committed before the host is touched, and goes in the transaction that stores the
 * user: one that is left names an account that a crash kept from becoming anybody's.
 */
export const accountIntents = pgTable("account_intents", {
  uid: integer().primaryKey(),
  /** The host account's name. */
  name: text().notNull(),
});

/**
 * Access that is being taken away. A row is committed before the host is touched, and goes in the transaction that leaves
 * nothing to do; as long as it is there, nothing opens what it is about, and the service goes on trying. There is no foreign
 * key: the row is written while its user's row is locked.
 */
export const closings = pgTable(
  "closings",
  {
    id: id(),
    userId: bigint({ mode: "number" }).notNull(),
    kind: text({ enum: CLOSING_KINDS }).notNull(),
    /** The key that is taken away; 0 where it is the account. */
    keyId: bigint({ mode: "number" }).notNull().default(0),
    /** The audit action to be recorded when it is done, in the name of the actor; "" where that is recorded already. */
    action: text().notNull(),
    actorType: text({ enum: ACTOR_TYPES }).notNull(),
    actor: text().notNull(),
    begunAt: time().notNull(),
    attempts: integer().notNull().default(0),
    /** When it is tried next. */
    dueAt: time().notNull(),
    /** What is left to do, in sentences; "" until the first attempt ended. */
    problem: text().notNull().default(""),
  },
  (t) => [
    check("closings_kind", sql`${t.kind} in ('shut', 'remove', 'revoke')`),
    uniqueIndex("closings_about").on(t.userId, t.kind, t.keyId),
    index("closings_due_at").on(t.dueAt),
  ],
);

/** SSH public keys. A revoked key's row is kept until its user is deleted. */
export const sshKeys = pgTable(
  "ssh_keys",
  {
    id: id(),
    userId: bigint({ mode: "number" })
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    name: text().notNull(),
    type: text().notNull(),
    bits: integer().notNull(),
    fingerprint: text().notNull(),
    publicKey: text().notNull(),
    status: text({ enum: KEY_STATUSES }).notNull().default("active"),
    createdAt: time().notNull(),
    revokedAt: time(),
  },
  (t) => [
    check("ssh_keys_status", sql`${t.status} in ('active', 'revoked')`),
    uniqueIndex("ssh_keys_active_fingerprint").on(t.fingerprint).where(sql`${t.status} = 'active'`),
    index("ssh_keys_user_id").on(t.userId, t.id),
  ],
);

/** Access applications. Any number may be pending for one username: whoever applies first must not keep it from its owner. */
export const approvals = pgTable(
  "approvals",
  {
    id: id(),
    username: text().notNull(),
    email: text().notNull(),
    supervisor: text().notNull().default(""),
    purpose: text().notNull().default(""),
    status: text({ enum: APPROVAL_STATUSES }).notNull().default("pending"),
    reason: text().notNull().default(""),
    reviewedBy: text().notNull().default(""),
    reviewedAt: time(),
    createdAt: time().notNull(),
  },
  (t) => [
    check("approvals_status", sql`${t.status} in ('pending', 'approved', 'rejected')`),
    index("approvals_status_id").on(t.status, t.id),
  ],
);

/** The newest application that the administrators were mailed, and when; its row lock gives applications their order. */
export const applicationNotice = pgTable("application_notice", {
  one: integer().primaryKey(),
  applicationId: bigint({ mode: "number" }).notNull().default(0),
  mailedAt: time(),
});

export const admins = pgTable("admins", {
  id: id(),
  username: text().notNull().unique(),
  email: text().notNull(),
  passwordHash: text().notNull(),
  createdAt: time().notNull(),
  updatedAt: time().notNull(),
});

/** At most one reset token an administrator: a new one voids the old. */
export const resetTokens = pgTable("reset_tokens", {
  adminId: bigint({ mode: "number" })
    .primaryKey()
    .references(() => admins.id, { onDelete: "cascade" }),
  tokenHash: bytea().notNull().unique(),
  expiresAt: time().notNull(),
});

/** Sessions outlive a change of the user's state and even the user's row, so there is no foreign key. */
export const sessions = pgTable(
  "sessions",
  {
    /** SHA-256 of the cookie's value, which is stored nowhere. */
    tokenHash: bytea().primaryKey(),
    userType: text({ enum: ["admin", "user"] }).notNull(),
    principalId: bigint({ mode: "number" }).notNull(),
    username: text().notNull(),
    createdAt: time().notNull(),
    expiresAt: time().notNull(),
  },
  (t) => [index("sessions_principal").on(t.userType, t.principalId), index("sessions_expires_at").on(t.expiresAt)],
);

/**
 * One-time codes, keyed by the submitted username whether or not a user has it, so that nothing tells which names exist.
 * `codeHash` is null where no code is out.
 */
export const otpCodes = pgTable(
  "otp_codes",
  {
    username: text().primaryKey(),
    codeHash: text(),
    expiresAt: time().notNull(),
  },
  (t) => [index("otp_codes_expires_at").on(t.expiresAt)],
);

/** What holds guessing back, by what is guessed and the submitted username, whether or not anybody has it. */
export const loginLimits = pgTable(
  "login_limits",
  {
    kind: text({ enum: ["code", "password"] }).notNull(),
    username: text().notNull(),
    /** Wrong answers since the last right one. */
    failures: integer().notNull().default(0),
    /** Until then no answer is looked at, and no code is made. */
    lockedUntil: time(),
    /** Until then no other code or reset token is mailed. */
    cooldownUntil: time(),
    updatedAt: time().notNull(),
  },
  (t) => [primaryKey({ columns: [t.kind, t.username] }), index("login_limits_updated_at").on(t.updatedAt)],
);

/** Captchas that were answered, right or wrong: each is good for one answer. */
export const usedCaptchas = pgTable("used_captchas", { id: text().primaryKey(), expiresAt: time().notNull() }, (t) => [
  index("used_captchas_expires_at").on(t.expiresAt),
]);

/** Overrides of the policy durations, in milliseconds. */
export const settings = pgTable("settings", {
  key: text().primaryKey(),
  value: bigint({ mode: "number" }).notNull(),
  updatedAt: time().notNull(),
});

/**
 * What the policy durations are to be compared with, in milliseconds: `configured` is the default that the service started
 * with last; until `heldUntil` no shorter value than `heldValue` is in force (settings/settings.ts).
 */
export const policyState = pgTable("policy_state", {
  key: text().primaryKey(),
  configured: bigint({ mode: "number" }).notNull(),
  heldValue: bigint({ mode: "number" }),
  heldUntil: time(),
});

/** One row: the last uid given out, which only rises. */
export const uidCounter = pgTable("uid_counter", { one: integer().primaryKey(), last: integer().notNull() });

/** One row: when the service last said that it runs, and until when nothing is deleted (lifecycle/heartbeat.ts). */
export const serviceState = pgTable("service_state", {
  one: integer().primaryKey(),
  heartbeatAt: time().notNull(),
  holdUntil: time(),
});

/** Entries of `uam lock` that are recorded, for as long as their files may be there (lifecycle/locks.ts). */
export const importedLocks = pgTable("imported_locks", { id: text().primaryKey(), at: time().notNull() });

/** Keys that all replicas share, such as the one that seals captchas. */
export const secrets = pgTable("secrets", { name: text().primaryKey(), value: bytea().notNull() });

/** The newest audit record's number, time and seal; its row lock gives the records their order. */
export const auditHead = pgTable("audit_head", {
  one: integer().primaryKey(),
  id: bigint({ mode: "number" }).notNull(),
  createdAt: time().notNull().default(sql`'1970-01-01T00:00:00Z'`),
  mac: bytea().notNull().default(sql`''::bytea`),
});

/**
 * The audit log: numbered without gaps, in the order of commit and of time. Each `n` column counts the records with the
 * same columns as its index begins with, so that lists need not count: any filter is some of these series, one for each
 * action that it lets through. Only audit_append() adds records, only audit_purge() removes them, from the old end.
 */
export const audit = pgTable(
  "audit",
  {
    id: bigint({ mode: "number" }).primaryKey(),
    createdAt: time().notNull(),
    actorType: text({ enum: ACTOR_TYPES }).notNull(),
    actor: text().notNull(),
    action: text().notNull(),
    resourceType: text().notNull(),
    resourceId: text().notNull(),
    /** A JSON object as text. */
    detail: text().notNull(),
    result: text({ enum: RESULTS }).notNull(),
    ip: text().notNull(),
    /** The external user whom the record is about or who acted; null where there is none. */
    subjectId: bigint({ mode: "number" }),
    nAction: bigint({ mode: "number" }).notNull().default(0),
    nActorAction: bigint({ mode: "number" }).notNull().default(0),
    nResourceAction: bigint({ mode: "number" }).notNull().default(0),
    nResourceActorAction: bigint({ mode: "number" }).notNull().default(0),
    nSubject: bigint({ mode: "number" }).notNull().default(0),
    /** A JSON array: the counters that the seal covers instead, where a version before migration 0004 wrote the record. */
    sealedCounters: text(),
    /** Keyed hash of this record and of the `mac` before it; see audit/seal.ts. */
    mac: bytea().notNull().default(sql`''::bytea`),
  },
  (t) => [
    index("audit_created_at").on(t.createdAt, t.id),
    index("audit_by_action").on(t.action, t.id, t.nAction),
    index("audit_by_actor_action").on(t.actor, t.action, t.id, t.nActorAction),
    index("audit_by_resource_action").on(t.resourceId, t.action, t.id, t.nResourceAction),
    index("audit_by_resource_actor_action").on(t.resourceId, t.actor, t.action, t.id, t.nResourceActorAction),
    // With the columns that one user's records are filtered by, so that the index alone answers.
    index("audit_by_subject")
      .on(t.subjectId, t.id, t.nSubject, t.action, t.actor, t.resourceId)
      .where(sql`${t.subjectId} is not null`),
  ],
);

/** Where retention cut the log off: the last record removed, with a keyed hash that says that the service did it. */
export const auditCheckpoints = pgTable("audit_checkpoint", {
  id: bigint({ mode: "number" }).primaryKey(),
  createdAt: time().notNull(),
  mac: bytea().notNull(),
  purgedAt: time().notNull(),
  seal: bytea().notNull(),
});

/** One row: what tells whether a key is the one that seals the log. Only audit_begin() writes it, once ever. */
export const auditKey = pgTable("audit_key", { one: integer().primaryKey(), fingerprint: bytea().notNull() });

/** One row: milliseconds for which audit_purge() keeps every record, whoever calls it. Only the owner of the table writes it. */
export const auditFloor = pgTable("audit_floor", {
  one: integer().primaryKey(),
  milliseconds: bigint({ mode: "number" }).notNull(),
});

/** Mail to be sent, written in the transaction of the change that it tells of. */
export const outbox = pgTable(
  "outbox",
  {
    id: id(),
    /** Names what the mail is about, so that it is queued once. */
    dedupeKey: text().unique(),
    recipient: text().notNull(),
    subject: text().notNull(),
    /** Emptied once the mail is sent, dropped or dead: bodies hold codes and tokens. */
    text: text().notNull(),
    html: text().notNull(),
    createdAt: time().notNull(),
    /** When the next attempt is due. */
    dueAt: time().notNull(),
    /** After that it is worthless and dropped; null for mail that never is. */
    expiresAt: time(),
    attempts: integer().notNull().default(0),
    status: text({ enum: ["queued", "sent", "dropped", "dead"] })
      .notNull()
      .default("queued"),
    finishedAt: time(),
    lastError: text().notNull().default(""),
  },
  (t) => [
    check("outbox_status", sql`${t.status} in ('queued', 'sent', 'dropped', 'dead')`),
    index("outbox_due").on(t.dueAt).where(sql`${t.status} = 'queued'`),
    index("outbox_finished").on(t.finishedAt).where(sql`${t.status} <> 'queued'`),
  ],
);

export type UserRow = typeof users.$inferSelect;
export type ClosingRow = typeof closings.$inferSelect;
export type KeyRow = typeof sshKeys.$inferSelect;
export type ApprovalRow = typeof approvals.$inferSelect;
export type AdminRow = typeof admins.$inferSelect;
export type SessionRow = typeof sessions.$inferSelect;
export type AuditRow = typeof audit.$inferSelect;
export type OutboxRow = typeof outbox.$inferSelect;
