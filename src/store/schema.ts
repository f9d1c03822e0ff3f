/** The stored state, as Drizzle tables, with schema-auth.ts (logins) and schema-audit.ts: `bun run migrations` generates from them. */

import { sql } from "drizzle-orm";
import { bigint, boolean, check, index, integer, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import {
  ACTOR_TYPES,
  APPROVAL_KINDS,
  APPROVAL_STATUSES,
  CLOSING_KINDS,
  KEY_STATUSES,
  SPONSOR_ANSWERS,
  USER_STATUSES,
} from "../shared/product/statuses.ts";
import { allowance, hours, id, time } from "./columns.ts";
import { searched } from "./conditions.ts";
import { companies, profiles } from "./schema-companies.ts";

/** External users. A row goes when the user is deleted. */
export const users = pgTable(
  "users",
  {
    id: id(),
    username: text().notNull().unique(),
    email: text().notNull(),
    supervisor: text().notNull().default(""),
    purpose: text().notNull().default(""),
    /** The name of the person; "" where none is given. */
    fullName: text().notNull().default(""),
    /** For colleagues: nothing that the user can read holds it. */
    note: text().notNull().default(""),
    /** The networks from which the account's keys may be used, as canonical CIDRs; none: from anywhere. */
    sourceNetworks: text().array().notNull().default([]),
    /** The company that they come from; null for none. */
    companyId: bigint({ mode: "number" }).references(() => companies.id),
    /** Whether they may see and end the users of their company. */
    manager: boolean().notNull().default(false),
    /** Who answers for them, in lower case; "": their company's sponsor, or nobody. */
    sponsorEmail: text().notNull().default(""),
    /** What they may do, by the profile's name; null for anything. */
    profile: text().references(() => profiles.name),
    status: text({ enum: USER_STATUSES }).notNull().default("active"),
    expireAt: time().notNull(),
    ...hours(),
    ...allowance(),
    disabledAt: time(),
    /** The last login with a code; null before the first. */
    lastLoginAt: time(),
    /** The newer of that and the last use of any key that sshd's log proves; null before the first. An index finds silent users by it. */
    seenAt: time(),
    /** When a mail last told the user until when the account lasts, besides reminders; null: at the creation. */
    expiryMailedAt: time(),
    /** Since when the mail that tells the user of the account waits to be sent; null: it was sent when the user was created, or later. */
    welcomePendingSince: time(),
    createdAt: time().notNull(),
    updatedAt: time().notNull(),
  },
  (t) => [
    check("users_status", sql`${t.status} in ('active', 'disabled', 'expired')`),
    check("users_hours_end", sql`${t.hoursEnd} in ('sessions', 'logins')`),
    check("users_request_rule", sql`${t.requestRule} in ('self', 'sponsor', 'review')`),
    index("users_status_id").on(t.status, t.id),
    index("users_supervisor_id").on(t.supervisor, t.id),
    // Thousands may expire at the same moment: the id decides between them in lists.
    index("users_expire_at").on(t.expireAt, t.id),
    // For counts, which then need not read the users' rows.
    index("users_status_expire_at").on(t.status, t.expireAt),
    index("users_welcome_pending").on(t.id).where(sql`${t.welcomePendingSince} is not null`),
    index("users_hours_due_at").on(t.hoursDueAt).where(sql`${t.hoursDueAt} is not null`),
    index("users_window_sessions").on(t.id).where(sql`${t.windowSessions} > 0`),
    index("users_company_id").on(t.companyId, t.id).where(sql`${t.companyId} is not null`),
    index("users_sponsor_email").on(t.sponsorEmail, t.id).where(sql`${t.sponsorEmail} <> ''`),
    index("users_profile").on(t.profile, t.id).where(sql`${t.profile} is not null`),
    index("users_seen_at").on(t.seenAt, t.createdAt, t.id),
    // Each search looks through recent changes, so only a few may wait.
    index("users_search")
      .using("gin", sql`public.text_parts(lower((${searched(t)}) collate "C"))`)
      .with({ gin_pending_list_limit: 256 }),
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
    /** No longer used. Older instances still raise it, so it goes one version later. */
    generation: bigint({ mode: "number" }).notNull().default(1),
  },
  (t) => [primaryKey({ columns: [t.userId, t.hostId] }), uniqueIndex("accounts_uid").on(t.hostId, t.uid)],
);

/**
 * Access that is being taken away. A row is committed before the host is touched, and goes in the transaction that
 * finishes the work. As long as it is there, nothing gives the same access, and the service keeps trying. There is no
 * foreign key: the row is written while its user's row is locked.
 */
export const closings = pgTable(
  "closings",
  {
    id: id(),
    userId: bigint({ mode: "number" }).notNull(),
    kind: text({ enum: CLOSING_KINDS }).notNull(),
    /** The key that is taken away or narrowed; 0 if it is the whole account. */
    keyId: bigint({ mode: "number" }).notNull().default(0),
    /** The networks that remain allowed, if the use is narrowed. */
    networks: text().array().notNull().default([]),
    /** The earlier end of access, if the account is shortened; else null. */
    expireAt: time(),
    /** The audit action to be recorded when it is done, in the name of the actor; "" where that is already recorded. */
    action: text().notNull(),
    actorType: text({ enum: ACTOR_TYPES }).notNull(),
    actor: text().notNull(),
    /** The owner of the token, if a token asked. */
    actorOwner: text().notNull().default(""),
    /** Why, in the words of the actor; "" where they gave none. */
    reason: text().notNull().default(""),
    /** The review whose answer it carries out; null if it is of none. */
    review: bigint({ mode: "number" }),
    begunAt: time().notNull(),
    attempts: integer().notNull().default(0),
    /** When it is tried next. */
    dueAt: time().notNull(),
    /** The remaining work, in sentences; "" until the first attempt ended. */
    problem: text().notNull().default(""),
  },
  (t) => [
    check("closings_kind", sql`${t.kind} in ('shut', 'remove', 'revoke', 'narrow', 'shorten', 'leave', 'profile')`),
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
    /** Whose hardware made it, by the attestation's certificate, and the model's UUID; null for a key without proof. */
    ...{ model: text(), aaguid: text() },
    /** The networks from which it may be used, within the user's, as canonical CIDRs; none: as the user's. */
    sourceNetworks: text().array().notNull().default([]),
    status: text({ enum: KEY_STATUSES }).notNull().default("active"),
    createdAt: time().notNull(),
    revokedAt: time(),
    /** The last login with the key that sshd's own log proves; null where none is known. */
    lastUsedAt: time(),
    /** The client's address then; "" where none is known. */
    lastUsedFrom: text().notNull().default(""),
  },
  (t) => [
    check("ssh_keys_status", sql`${t.status} in ('active', 'revoked')`),
    uniqueIndex("ssh_keys_active_fingerprint").on(t.fingerprint).where(sql`${t.status} = 'active'`),
    // Revoked keys are kept, and a user who renews theirs often has many.
    index("ssh_keys_user_id").on(t.userId, t.status, t.id),
  ],
);

/** Keys that were found when an account was adopted, and that an administrator does not want to count. */
export const dismissedKeys = pgTable(
  "dismissed_keys",
  {
    userId: bigint({ mode: "number" })
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    fingerprint: text().notNull(),
    dismissedAt: time().notNull(),
  },
  (t) => [primaryKey({ columns: [t.userId, t.fingerprint] })],
);

/** How far sshd's log is read, in the host's own words (keys/last-use.ts). */
export const loginLogs = pgTable("login_logs", { hostId: integer().primaryKey(), next: text().notNull() });

/**
 * Applications for access, and users' requests for more time, or for access that is on request. Any number of applications may be pending for one username:
 * the first applicant must not keep it from its owner. Of a user's requests of a kind one is pending at a time.
 */
export const approvals = pgTable(
  "approvals",
  {
    id: id(),
    kind: text({ enum: APPROVAL_KINDS }).notNull().default("access"),
    /** The user who asks; stays when the user is gone. */
    userId: bigint({ mode: "number" }),
    /** How many days more they ask for. */
    days: integer(),
    /** For how many hours they ask for access; null for the other kinds. */
    hours: integer(),
    /** The hosts to which they ask for it, by name; null for all of theirs. */
    hosts: text().array(),
    /** The hours of the week that an applicant wishes for, in their words; "" for none. */
    hoursWish: text().notNull().default(""),
    /** Their end when they asked; null for applications, and for requests of before it was kept. */
    endThen: time(),
    username: text().notNull(),
    email: text().notNull(),
    fullName: text().notNull().default(""),
    supervisor: text().notNull().default(""),
    /** The purpose of the access; for a request for more time, the reason. */
    purpose: text().notNull().default(""),
    /** The company that it is for, if its manager applies; stays when the company is gone, so that it is for no other one. */
    companyId: bigint({ mode: "number" }),
    /** The manager who applies for somebody else; "" where they apply themselves. */
    requestedBy: text().notNull().default(""),
    /** Who is to say whether they answer for the applicant, in lower case; "" for nobody. */
    sponsorEmail: text().notNull().default(""),
    sponsorAnswer: text({ enum: SPONSOR_ANSWERS }).notNull().default("none"),
    /** The reason that the sponsor gave. */
    sponsorReason: text().notNull().default(""),
    sponsorAnsweredAt: time(),
    status: text({ enum: APPROVAL_STATUSES }).notNull().default("pending"),
    reason: text().notNull().default(""),
    reviewedBy: text().notNull().default(""),
    reviewedAt: time(),
    createdAt: time().notNull(),
  },
  (t) => [
    check("approvals_status", sql`${t.status} in ('pending', 'approved', 'rejected')`),
    check(
      "approvals_kind",
      sql`case ${t.kind} when 'access' then ${t.userId} is null and ${t.days} is null and ${t.hours} is null
        when 'extension' then ${t.userId} is not null and ${t.days} is not null and ${t.hours} is null
        when 'access_request' then ${t.userId} is not null and ${t.days} is null and ${t.hours} is not null
        else false end`,
    ),
    check("approvals_sponsor_answer", sql`${t.sponsorAnswer} in ('none', 'asked', 'vouched', 'declined')`),
    index("approvals_status_id").on(t.status, t.id),
    index("approvals_user_id").on(t.userId, t.id).where(sql`${t.kind} = 'extension'`),
    uniqueIndex("approvals_pending_extension")
      .on(t.userId)
      .where(sql`${t.kind} = 'extension' and ${t.status} = 'pending'`),
    index("approvals_access_request").on(t.userId, t.id).where(sql`${t.kind} = 'access_request'`),
    uniqueIndex("approvals_pending_access_request")
      .on(t.userId)
      .where(sql`${t.kind} = 'access_request' and ${t.status} = 'pending'`),
  ],
);

/** The newest application that the administrators were mailed, and when; its row lock gives applications their order. */
export const applicationNotice = pgTable("application_notice", {
  one: integer().primaryKey(),
  applicationId: bigint({ mode: "number" }).notNull().default(0),
  mailedAt: time(),
});

/** Mail to be sent, written in the transaction of the change that it reports. */
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
    /** After that it is useless, and is dropped; null for mail that never expires. */
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
    // In the order in which mail is sent: the next one is the first of the index, whatever the table's statistics say.
    index("outbox_due").on(t.expiresAt, t.dueAt, t.id).where(sql`${t.status} = 'queued'`),
    index("outbox_finished").on(t.finishedAt).where(sql`${t.status} <> 'queued'`),
    // Whether a sponsor's address accepts mail: no other mail is in it.
    index("outbox_sponsors").on(t.recipient, t.id).where(sql`${t.dedupeKey} like 'sponsor %'`),
    index("outbox_failed").on(t.finishedAt).where(sql`${t.lastError} <> '' and ${t.status} <> 'sent'`),
  ],
);

export type UserRow = typeof users.$inferSelect;
export type ClosingRow = typeof closings.$inferSelect;
export type KeyRow = typeof sshKeys.$inferSelect;
export type ApprovalRow = typeof approvals.$inferSelect;
export type OutboxRow = typeof outbox.$inferSelect;
