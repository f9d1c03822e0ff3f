/** Finds hosts and groups by id or name, and takes the lock that every change of them begins with. */

import { eq, inArray, sql } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { LOCKS } from "../../store/advisory-locks.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { type HostGroupRow, type HostRow, hostGroups, hosts } from "../../store/schema-fleet.ts";

/** A host or a group: by id, as the API names it, or by name. */
export type Ref = number | string;

/**
 * Keeps everybody else from changing hosts, groups or grants until the transaction ends, so that results computed from
 * them hold.
 */
export async function lockFleet(tx: Transaction): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${LOCKS.fleet})`);
}

/** The host; throws `not_found`. */
export async function requireHost(db: Database | Transaction, ref: Ref): Promise<HostRow> {
  const [row] = await db
    .select()
    .from(hosts)
    .where(typeof ref === "number" ? eq(hosts.id, ref) : eq(hosts.name, ref));
  return row ?? missing("host", ref);
}

/** The group; throws `not_found`. */
export async function requireGroup(db: Database | Transaction, ref: Ref): Promise<HostGroupRow> {
  const [row] = await db
    .select()
    .from(hostGroups)
    .where(typeof ref === "number" ? eq(hostGroups.id, ref) : eq(hostGroups.name, ref));
  return row ?? missing("host_group", ref);
}

/** The hosts of these names, in the order of their ids. Throws `invalid`, naming the first unknown one. */
export async function namedHosts(db: Database | Transaction, names: readonly string[]): Promise<readonly HostRow[]> {
  if (names.length === 0) return [];
  const rows = await db
    .select()
    .from(hosts)
    .where(inArray(hosts.name, [...names]))
    .orderBy(hosts.id);
  return requireAll("host", names, rows);
}

/** The same of groups. */
export async function namedGroups(
  db: Database | Transaction,
  names: readonly string[],
): Promise<readonly HostGroupRow[]> {
  if (names.length === 0) return [];
  const rows = await db
    .select()
    .from(hostGroups)
    .where(inArray(hostGroups.name, [...names]))
    .orderBy(hostGroups.id);
  return requireAll("host_group", names, rows);
}

/** Keeps groups of these names from being renamed or deleted until the transaction ends. Throws `invalid`, naming the first unknown one. */
export async function holdGroups(tx: Transaction, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  const isNamed = inArray(hostGroups.name, [...names]);
  requireAll("host_group", names, await tx.select().from(hostGroups).where(isNamed).for("key share"));
}

/** The reasons for programs. */
const MISSING = { host: "host.missing", host_group: "host_group.missing" } as const;

function requireAll<Row extends { readonly name: string }>(
  what: "host" | "host_group",
  names: readonly string[],
  rows: readonly Row[],
): readonly Row[] {
  const unknown = names.find((name) => !rows.some((row) => row.name === name));
  if (unknown === undefined) return rows;
  throw new UamError("invalid", sentenceOf(what, unknown), { reason: MISSING[what] });
}

function missing(what: "host" | "host_group", ref: Ref): never {
  throw new UamError("not_found", sentenceOf(what, ref), { reason: MISSING[what] });
}

function sentenceOf(what: "host" | "host_group", ref: Ref): string {
  const kind = what === "host" ? "host" : "group of hosts";
  if (ref === 0) return `There is no such ${kind}`;
  return `There is no ${kind} ${typeof ref === "number" ? ref : `named ${JSON.stringify(ref)}`}`;
}
