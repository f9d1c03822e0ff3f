/** Profiles: what accounts may do on hosts. Made, listed and deleted here; update.ts changes them. */

import { asc, eq, sql } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { profileSentence } from "../../shared/text/profile-sentence.ts";
import { type Database, isDuplicate, type Transaction } from "../../store/client.ts";
import { type ProfileRow, profiles } from "../../store/schema-companies.ts";
import { allProfiles, hostProfileOf } from "../accounts/profiles.ts";
import { lockFleet } from "../hosts/find-host.ts";
import { audited, auditedGrant } from "../operation/audited.ts";
import type { Context, Grant } from "../operation/context.ts";
import type { AuditDetail } from "../operation/entry.ts";
import { onward } from "../operation/permission.ts";
import { type NewProfile, parseNewProfile } from "./fields.ts";
import { holdStored, holdThese } from "./hold.ts";

/** A profile as lists show it. */
export interface Profile {
  readonly row: ProfileRow;
  /** How many users have it themselves. */
  readonly users: number;
  /** The groups of hosts that have it, by name. */
  readonly groups: readonly string[];
}

/** All of them, by name. */
export async function listProfiles({ db }: Pick<Context, "db">): Promise<readonly Profile[]> {
  return (await selectProfiles(db).orderBy(asc(profiles.name))).map(asProfile);
}

/** The profile; throws `not_found`. */
export async function getProfile({ db }: Pick<Context, "db">, ref: number | string): Promise<Profile> {
  return await readProfile(db, ref);
}

/**
 * Makes a profile, which nobody has yet, and has the service's own host hold it: both or neither. Throws `invalid`, also where that host
 * cannot hold it, and `conflict` for a name that is taken.
 */
export async function createProfile(context: Context, input: NewProfile): Promise<Profile> {
  const entry = { action: "profile.create", detail: { name: input.name } } as const;
  return await auditedGrant(context, entry, async (op) => {
    const fields = parseNewProfile(input);
    await lockFleet(op.tx);
    const now = context.clock.now();
    const insert = op.tx
      .insert(profiles)
      .values({ ...fields, createdAt: now, updatedAt: now })
      .returning();
    const [row] = await refuseTaken(fields.name, insert);
    if (row === undefined) throw new Error("insert returned no row");
    await holdOrRefuse(op, row.name);
    op.record({ resourceId: String(row.id), detail: profileDetail(row) });
    return { row, users: 0, groups: [] };
  });
}

/** Has the service's own host hold what is stored in the operation. Throws `invalid`, and has it hold what it did before, if it cannot hold this one. */
export async function holdOrRefuse(op: Grant, name: string): Promise<void> {
  await op.onRollback(async () => void (await holdStored(op.context)));
  const states = await holdThese(op.context, await allProfiles(op.tx), "give");
  const found = states.find((one) => one.name === name);
  if (found?.state !== "problem") return;
  const sentence = `The service's own host cannot hold the profile ${name}: ${found.problem}`;
  throw new UamError("invalid", sentence, { reason: "profile.refused" });
}

/** Deletes a profile that nobody has. Throws `not_found`, and `conflict` for one that users or groups of hosts have. */
export async function deleteProfile(context: Context, ref: number | string): Promise<void> {
  await audited(context, entryOf("profile.delete", ref), async (op) => {
    await lockFleet(op.tx);
    // Who gives it to somebody waits for this, and then finds it gone.
    const profile = await lockProfile(op.tx, ref);
    op.record({ resourceId: String(profile.row.id) });
    op.about({ detail: { name: profile.row.name } });
    requireUnused(profile);
    await op.tx.delete(profiles).where(eq(profiles.id, profile.row.id));
  });
  await followDeletion(onward(context));
}

/** Previews `deleteProfile`, and throws as it does. Changes nothing and records nothing. */
export async function previewProfileDelete({ db }: Pick<Context, "db">, ref: number | string) {
  const profile = await readProfile(db, ref);
  requireUnused(profile);
  const effects = [`The profile ${profile.row.name} is deleted. Nobody has it, so no account changes.`];
  return { effects, host: [], users: 0 };
}

/** Throws `conflict` for a profile that users or groups of hosts have. */
function requireUnused({ row: { name }, users, groups }: Profile): void {
  if (users + groups.length === 0) return;
  const whom = [
    ...(users === 0 ? [] : [users === 1 ? "1 user" : `${users} users`]),
    ...(groups.length === 0 ? [] : [`the groups of hosts ${groups.join(", ")}`]),
  ];
  const sentence = `The profile ${name} is in use by ${whom.join(" and ")}; give them another first`;
  throw new UamError("conflict", sentence, { reason: "profile.used" });
}

/** Nobody has it any more: what a host still holds of it harms nobody, and goes with the next comparison at the latest. */
async function followDeletion(context: Context): Promise<void> {
  await holdStored(context).catch((error: unknown) => {
    context.log.warn("a profile that was deleted is still held by this host; this is tried again", { error });
  });
}

/** The profile, whose row lock this takes; throws `not_found`. */
export async function lockProfile(tx: Transaction, ref: number | string): Promise<Profile> {
  await tx.select({ id: profiles.id }).from(profiles).where(isProfile(ref)).for("update");
  return await readProfile(tx, ref);
}

/** The entry of an operation on a profile. */
export function entryOf<A extends `profile.${"update" | "delete"}`>(action: A, ref: number | string) {
  return { action, resourceId: typeof ref === "number" ? String(ref) : "" } as const;
}

/** What a record says of a profile: all that it is made of. */
export function profileDetail(row: ProfileRow): AuditDetail {
  const { kind, name, ...parts } = hostProfileOf(row);
  const said = Object.entries(parts).map(([part, value]) => [
    snake(part),
    Array.isArray(value) ? value.join(", ") : value,
  ]);
  return { name, kind, ...Object.fromEntries(said), means: profileSentence({ kind, ...parts }) };
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The profile as lists show it; throws `not_found`. */
export async function readProfile(db: Database | Transaction, ref: number | string): Promise<Profile> {
  const [row] = await selectProfiles(db).where(isProfile(ref));
  if (row !== undefined) return asProfile(row);
  const sentence =
    typeof ref === "number" ? "There is no such profile" : `There is no profile named ${JSON.stringify(ref)}`;
  throw new UamError("not_found", sentence, { reason: "profile.missing" });
}

function isProfile(ref: number | string) {
  return typeof ref === "number" ? eq(profiles.id, ref) : eq(profiles.name, ref);
}

function selectProfiles(db: Database | Transaction) {
  const name = sql.raw("profiles.name");
  return db
    .select({
      row: profiles,
      users: sql<number>`(select count(*)::int from users u where u.profile = ${name})`,
      groups: sql<string>`(select coalesce(json_agg(g.name order by g.name), '[]')::text from host_groups g where g.profile = ${name})`,
    })
    .from(profiles)
    .$dynamic();
}

function asProfile({ groups, ...profile }: Omit<Profile, "groups"> & { readonly groups: string }): Profile {
  return { ...profile, groups: JSON.parse(groups) as string[] };
}

async function refuseTaken<T>(name: string, statement: PromiseLike<T>): Promise<T> {
  try {
    return await statement;
  } catch (error) {
    if (!isDuplicate(error, "profiles_name_unique")) throw error;
    throw new UamError("conflict", `There is a profile named ${name}`, { reason: "profile.taken" });
  }
}
