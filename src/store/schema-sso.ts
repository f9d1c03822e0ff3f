/**
 * Tables of single sign-on: the people who came in by it, logins under way, and the sessions that the provider may end.
 */

import { bigint, index, pgTable, text, unique } from "drizzle-orm/pg-core";
import { bytea, id, time } from "./columns.ts";
import { admins, sessions } from "./schema-auth.ts";

/**
 * The administrator of a person at the provider. A row outlives its administrator: without one it means that an owner removed
 * them, and that they may not come in again, unless an owner lets them.
 */
export const ssoIdentities = pgTable(
  "sso_identities",
  {
    id: id(),
    issuer: text().notNull(),
    subject: text().notNull(),
    adminId: bigint({ mode: "number" }).references(() => admins.id, { onDelete: "set null" }),
    /** The administrator's name, also once they are removed. */
    username: text().notNull(),
    /** The owner who lets them in again, as long as they have not come. */
    readmittedBy: bigint({ mode: "number" }),
    createdAt: time().notNull(),
  },
  (t) => [unique("sso_identities_subject").on(t.issuer, t.subject), index("sso_identities_admin").on(t.adminId)],
);

/** Logins that were sent to the provider and have not come back. */
export const ssoLogins = pgTable(
  "sso_logins",
  {
    /** SHA-256 of the state, which is stored nowhere. */
    stateHash: bytea().primaryKey(),
    /** SHA-256 of the cookie of the browser that began it. */
    browserHash: bytea().notNull(),
    nonce: text().notNull(),
    /** PKCE's code verifier (RFC 7636). */
    verifier: text().notNull(),
    /** The page that the login leads to. */
    next: text().notNull(),
    /** The session of the browser when it began, which the new one replaces: its cookie does not come back with the provider's answer. */
    replacesHash: bytea(),
    expiresAt: time().notNull(),
  },
  (t) => [index("sso_logins_expires_at").on(t.expiresAt)],
);

/** The provider's session that a session here came from. */
export const ssoSessions = pgTable(
  "sso_sessions",
  {
    tokenHash: bytea()
      .primaryKey()
      .references(() => sessions.tokenHash, { onDelete: "cascade" }),
    issuer: text().notNull(),
    subject: text().notNull(),
    /** Null where the provider names none. */
    sid: text(),
  },
  (t) => [index("sso_sessions_subject").on(t.issuer, t.subject), index("sso_sessions_sid").on(t.issuer, t.sid)],
);

/** Logouts reported by the provider, each once; kept until no login that began earlier can complete. */
export const ssoLogouts = pgTable(
  "sso_logouts",
  {
    /** SHA-256 of the issuer and the token's `jti`. */
    tokenHash: bytea().primaryKey(),
    issuer: text().notNull(),
    subject: text(),
    sid: text(),
    /** When the provider says that it was. */
    issuedAt: time().notNull(),
    expiresAt: time().notNull(),
  },
  (t) => [index("sso_logouts_expires_at").on(t.expiresAt)],
);

export type SsoIdentityRow = typeof ssoIdentities.$inferSelect;
