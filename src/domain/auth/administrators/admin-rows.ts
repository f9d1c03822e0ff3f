/** The rows of administrators: the fields to show, and the rule that an owner must remain. */

import { asc } from "drizzle-orm";
import { UamError } from "../../../shared/errors.ts";
import type { Database, Transaction } from "../../../store/client.ts";
import { type AdminRow, admins } from "../../../store/schema-auth.ts";
import type { Context } from "../../operation/context.ts";
import { factorsOf } from "../factors/factors.ts";
import { type Factors, NO_FACTORS } from "../required-factors.ts";

/** An administrator without the password's hash; an invited one has set no password yet, and has no other way in. */
export interface AdminEntry extends Omit<AdminRow, "passwordHash">, Factors {
  readonly status: "active" | "invited";
}

/** An administrator by name, or by id as the API names them. */
export type AdminRef = string | number;

/** The row without the password's hash, and with the other factors of the administrator. */
export function entryOf({ passwordHash, ...entry }: AdminRow, factors = NO_FACTORS): AdminEntry {
  return { ...entry, ...factors, status: passwordHash === null && !entry.sso ? "invited" : "active" };
}

/** The same of several. */
export async function entriesOf(db: Database | Transaction, rows: readonly AdminRow[]): Promise<readonly AdminEntry[]> {
  const factors = await factorsOf(
    db,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => entryOf(row, factors.get(row.id)));
}

/**
 * All administrators, locked, always in the same order: two simultaneous changes must neither both find another owner left, nor
 * deadlock.
 */
export async function lockAdmins(tx: Transaction): Promise<readonly AdminRow[]> {
  return await tx.select().from(admins).orderBy(asc(admins.id)).for("update");
}

/** Throws `forbidden` if the caller is an administrator who was an owner when the request began, and no longer is. */
export function requireStillOwner({ actor }: Context, all: readonly AdminRow[]): void {
  const caller = actor.type === "token" ? actor.owner : actor.name;
  const isBound = actor.type === "admin" || actor.type === "token";
  if (!isBound || all.some(({ username, role }) => username === caller && role === "owner")) return;
  throw new UamError("forbidden", "This needs the role owner, which you no longer have", {
    reason: "role.insufficient",
  });
}

/** The administrator among the locked ones; throws `not_found`. */
export function requireAdmin(all: readonly AdminRow[], who: AdminRef): AdminRow {
  const admin = all.find(({ id, username }) => (typeof who === "number" ? id : username) === who);
  if (admin !== undefined) return admin;
  const which = typeof who === "number" ? who : `named ${JSON.stringify(who)}`;
  throw new UamError("not_found", `There is no administrator ${which}`, { reason: "admin.missing" });
}

/**
 * Throws `conflict` if the administrator is the only owner who can log in, or the only administrator; at the shell the sentence says how
 * to go on.
 */
export function requireOther({ actor }: Context, all: readonly AdminRow[], admin: AdminRow): void {
  const isLast = all.length === 1;
  if (!isLast && !isLastOwner(all, admin)) return;
  const instead = isLast ? "administrator; add another first" : "owner; make another administrator an owner first";
  const force = actor.type === "cli" ? ", or use --force" : "";
  throw new UamError("conflict", `${admin.username} is the last ${instead}${force}`, { reason: "admin.last_owner" });
}

/** Throws `conflict` if the administrator is the only owner who can log in. */
export function requireOtherOwner(all: readonly AdminRow[], admin: AdminRow): void {
  if (!isLastOwner(all, admin)) return;
  throw new UamError("conflict", `${admin.username} is the last owner; make another administrator an owner first`, {
    reason: "admin.last_owner",
  });
}

/** An invited owner does not count: perhaps nobody ever reads that mail. */
function isLastOwner(all: readonly AdminRow[], admin: AdminRow): boolean {
  const owners = all.filter(({ role, passwordHash, sso }) => role === "owner" && (passwordHash !== null || sso));
  return owners.length === 1 && owners[0]?.id === admin.id;
}
