/** Tables of administrators' further login factors. */

import { sql } from "drizzle-orm";
import { bigint, boolean, check, index, pgTable, text } from "drizzle-orm/pg-core";
import { bytea, id, time } from "./columns.ts";
import { admins } from "./schema-auth.ts";

/** Passkeys: the public half of the key in an administrator's device or security key. */
export const passkeys = pgTable(
  "passkeys",
  {
    id: id(),
    adminId: bigint({ mode: "number" })
      .notNull()
      .references(() => admins.id, { onDelete: "cascade" }),
    name: text().notNull(),
    /** The authenticator's own id for it, base64url. */
    credentialId: text().notNull().unique("passkeys_credential_id"),
    /** A COSE key (RFC 9052). */
    publicKey: bytea().notNull(),
    /** Of uses, as the authenticator counts them; always 0 if it does not count. It only rises. */
    counter: bigint({ mode: "number" }).notNull(),
    /** How the browser reaches the authenticator: `internal`, `hybrid`, `usb` and so on. */
    transports: text().array().notNull().default([]),
    /** Whether a copy of it is kept elsewhere, as in a password manager. */
    backedUp: boolean().notNull(),
    createdAt: time().notNull(),
    lastUsedAt: time(),
  },
  (t) => [check("passkeys_counter", sql`${t.counter} >= 0`), index("passkeys_admin").on(t.adminId, t.id)],
);

/** Secrets of authenticator apps (RFC 6238); at most one an administrator. */
export const totpSecrets = pgTable("totp_secrets", {
  adminId: bigint({ mode: "number" })
    .primaryKey()
    .references(() => admins.id, { onDelete: "cascade" }),
  /** Sealed with a key that is not in the database. */
  sealed: bytea().notNull(),
  /** The time step of the last accepted code: that one and earlier ones are no longer accepted. */
  lastStep: bigint({ mode: "number" }).notNull(),
  createdAt: time().notNull(),
  lastUsedAt: time(),
});

/** Used tickets: issued under a seal for one use (auth/tickets.ts). */
export const usedTickets = pgTable("used_tickets", { id: text().primaryKey(), expiresAt: time().notNull() }, (t) => [
  index("used_tickets_expires_at").on(t.expiresAt),
]);

export type PasskeyRow = typeof passkeys.$inferSelect;
export type TotpRow = typeof totpSecrets.$inferSelect;
