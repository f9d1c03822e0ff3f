/** Tables of people and machines that log in or answer by a link, and of the limits on guessing. */

import { sql } from "drizzle-orm";
import { bigint, boolean, check, index, integer, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { ADMIN_ROLES, LOGIN_WAYS, QUESTION_KINDS } from "../shared/product/statuses.ts";
import { bytea, id, time } from "./columns.ts";
import { users } from "./schema.ts";

export const admins = pgTable(
  "admins",
  {
    id: id(),
    username: text().notNull().unique(),
    email: text().notNull(),
    /** Null while the administrator is invited, and has set no password yet. */
    passwordHash: text(),
    role: text({ enum: ADMIN_ROLES }).notNull().default("owner"),
    /** Whether they came in by single sign-on: their role is the provider's to say, and no mail sets a password for them. */
    sso: boolean().notNull().default(false),
    /** The administrator who invited them, while they have set no password; null if no administrator did. */
    invitedBy: bigint({ mode: "number" }),
    /** Null before the first login. */
    lastLoginAt: time(),
    createdAt: time().notNull(),
    updatedAt: time().notNull(),
  },
  (t) => [check("admins_role", sql`${t.role} in ('owner', 'operator', 'reviewer', 'auditor')`)],
);

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
    /** How an administrator logged in; "" for users, and for sessions from before this was stored. */
    way: text({ enum: ["", ...LOGIN_WAYS] })
      .notNull()
      .default(""),
    createdAt: time().notNull(),
    expiresAt: time().notNull(),
  },
  (t) => [index("sessions_principal").on(t.userType, t.principalId), index("sessions_expires_at").on(t.expiresAt)],
);

/** Credentials of machines. Rows outlive their owner and their use, so that lists can show their status: there is no foreign key. */
export const tokens = pgTable(
  "tokens",
  {
    id: id(),
    /** SHA-256 of the token, which is stored nowhere. */
    tokenHash: bytea().notNull().unique(),
    /** The beginning of the token, to recognise it by. */
    prefix: text().notNull(),
    name: text().notNull(),
    role: text({ enum: ADMIN_ROLES }).notNull(),
    ownerId: bigint({ mode: "number" }).notNull(),
    owner: text().notNull(),
    /** The token that made it, which it never outlives; null where a person did. */
    madeBy: bigint({ mode: "number" }),
    /** The networks from which it may be used: CIDRs with a space between them; "" means from anywhere. */
    networks: text().notNull().default(""),
    createdAt: time().notNull(),
    expiresAt: time().notNull(),
    /** At most a minute old, where it is in use. */
    lastUsedAt: time(),
    lastUsedFrom: text().notNull().default(""),
    revokedAt: time(),
  },
  (t) => [
    check("tokens_role", sql`${t.role} in ('owner', 'operator', 'reviewer', 'auditor')`),
    index("tokens_owner").on(t.ownerId, t.id),
    index("tokens_expires_at").on(t.expiresAt),
  ],
);

/**
 * One-time codes, keyed by the submitted username whether or not a user has it, so that nothing reveals which names exist.
 * `codeHash` is null where no code is pending.
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

/** Limits on guessing, by the kind of secret and the submitted username, whether or not a user of that name exists. */
export const loginLimits = pgTable(
  "login_limits",
  {
    kind: text({ enum: ["code", "password", "totp"] }).notNull(),
    username: text().notNull(),
    /** Wrong answers since the last right one. */
    failures: integer().notNull().default(0),
    /** Until then answers are not evaluated, and codes are not created. */
    lockedUntil: time(),
    /** Until then further codes and reset tokens are not mailed. */
    cooldownUntil: time(),
    updatedAt: time().notNull(),
  },
  (t) => [primaryKey({ columns: [t.kind, t.username] }), index("login_limits_updated_at").on(t.updatedAt)],
);

/** Captchas that were answered, right or wrong: each is valid for one answer. */
export const usedCaptchas = pgTable("used_captchas", { id: text().primaryKey(), expiresAt: time().notNull() }, (t) => [
  index("used_captchas_expires_at").on(t.expiresAt),
]);

/** Keys that all replicas share, such as the one that seals captchas. */
export const secrets = pgTable("secrets", { name: text().primaryKey(), value: bytea().notNull() });

/** The terms of use that were ever in force, by the SHA-256 of their text in hexadecimal digits. */
export const terms = pgTable("terms", {
  version: text().primaryKey(),
  /** Since when users are asked for it, the last time that it came into force. */
  since: time().notNull(),
});

/** What users did about the terms of use. */
export const termsAnswers = pgTable("terms_answers", {
  userId: bigint({ mode: "number" })
    .primaryKey()
    .references(() => users.id, { onDelete: "cascade" }),
  /** The last version that the user accepted; "" for none. */
  accepted: text().notNull().default(""),
  acceptedAt: time(),
  /** The last version that the user was mailed about; "" for none. */
  mailed: text().notNull().default(""),
});

export type AdminRow = typeof admins.$inferSelect;
export type SessionRow = typeof sessions.$inferSelect;
export type TokenRow = typeof tokens.$inferSelect;

/**
 * Questions, one row for each mail with a link. Whether each of its things was answered, or is asked no more, is stored with the thing itself: an
 * application, a review's item, a user. There is no foreign key, as a link outlives what it is about.
 */
export const questions = pgTable(
  "questions",
  {
    id: id(),
    kind: text({ enum: QUESTION_KINDS }).notNull(),
    /** Who is asked, in lower case: nobody else's answer counts. */
    email: text().notNull(),
    /** Ids of what it is about: applications (`vouch`, `access`), users (`end`), one review (`review`). */
    about: bigint({ mode: "number" }).array().notNull(),
    /** SHA-256 of the token in the link, which is stored nowhere. */
    tokenHash: bytea().notNull().unique(),
    createdAt: time().notNull(),
    /** From then on the link is dead. */
    expiresAt: time().notNull(),
    /** When they last answered something of it; null before. */
    answeredAt: time(),
    /** JSON of what was answered by this link, for kinds whose answers are stored nowhere else. */
    answers: text().notNull().default("[]"),
  },
  (t) => [
    check("questions_kind", sql`${t.kind} in ('vouch', 'end', 'review', 'access')`),
    index("questions_email").on(t.email, t.id),
    index("questions_expires_at").on(t.expiresAt),
  ],
);

export type QuestionRow = typeof questions.$inferSelect;
