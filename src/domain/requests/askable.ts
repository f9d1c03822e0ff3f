/** The hosts to which users may ask for access, and what of it is allowed on them. */

import { sql } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { type Allowed, allowedOn, readAllowed } from "../../shared/hours/allowed.ts";
import type { Database, Transaction } from "../../store/client.ts";
import type { UserRow } from "../../store/schema.ts";
import { allowedUntil } from "../accounts/access-state.ts";
import type { User } from "../accounts/find-user.ts";
import { PLACES } from "../hosts/placements.ts";

type Db = Database | Transaction;

export interface AskableHost {
  readonly id: number;
  /** `local` is the service's own. */
  readonly name: string;
}

/** The user's hosts, in the order of their ids; where the rule names groups, those of them that are in one. */
export async function askableHosts(
  db: Db,
  { id, requestGroups }: Pick<User, "id" | "requestGroups">,
): Promise<readonly AskableHost[]> {
  const groups = requestGroups === null ? sql`null` : sql`array[${sql.join([...requestGroups, ""], sql`, `)}]`;
  const rows = await db.execute<{ id: number; name: string }>(sql`
    select h.id, h.name from ${PLACES} p join hosts h on h.id = p.host_id
    where p.user_id = ${id} and (${groups}::text[] is null or exists (select 1 from host_group_members m
      join host_groups g on g.id = m.group_id where m.host_id = h.id and g.name = any(${groups}::text[])))
    order by h.id`);
  return rows.map((host) => ({ id: Number(host.id), name: host.name }));
}

/**
 * Those of the user's hosts that are asked for, by names or ids; null, for all, where nothing limits which. Throws `conflict`, naming the first that they
 * may not ask for, and if there are none.
 */
export async function requireAskable(
  db: Db,
  user: User,
  asked: readonly (string | number)[] | null,
): Promise<readonly AskableHost[] | null> {
  if (asked === null && user.requestGroups === null) return null;
  const may = await askableHosts(db, user);
  const other = asked?.find((ref) => !may.some((host) => isNamed(host, ref)));
  if (other !== undefined) {
    const theirs = may.length === 0 ? "there are none" : `they are ${may.map(({ name }) => name).join(", ")}`;
    throw noHost(`${JSON.stringify(other)} is not among the hosts that ${user.username} may ask for: ${theirs}`);
  }
  return requireSome(user, may, asked);
}

/** The same at the moment at which it is allowed: hosts that they no longer have, or may no longer ask for, are left out. */
export async function stillAskable(
  db: Db,
  user: User,
  asked: readonly string[] | null,
): Promise<readonly AskableHost[] | null> {
  if (asked === null && user.requestGroups === null) return null;
  return requireSome(user, await askableHosts(db, user), asked);
}

function requireSome(user: User, may: readonly AskableHost[], asked: readonly (string | number)[] | null) {
  const wanted = asked === null ? may : may.filter((host) => asked.some((ref) => isNamed(host, ref)));
  if (wanted.length === 0) throw noHost(`There is no host that ${user.username} may ask for`);
  return wanted;
}

function isNamed({ id, name }: AskableHost, ref: string | number): boolean {
  return typeof ref === "number" ? id === ref : name === ref || String(id) === ref;
}

function noHost(sentence: string): UamError {
  return new UamError("conflict", sentence, { reason: "access.hosts" });
}

/** What is allowed now; undefined for nothing. */
export function allowedNow(user: UserRow, now: Date): Allowed | undefined {
  const until = allowedUntil(user, now);
  return until && readAllowed(until, user.allowedHosts);
}

/** Until when access on request is open on each of the hosts that the user may ask for, and on those where it is; null where it is not. */
export async function openOn(
  db: Db,
  user: User,
  now: Date,
): Promise<readonly { readonly name: string; readonly until: Date | null }[]> {
  const allowed = allowedNow(user, now);
  return (await askableHosts(db, user)).map(({ id, name }) => {
    const until = allowed && allowedOn(allowed, id);
    return { name, until: until === undefined || until <= now ? null : until };
  });
}

/** The names as on record: the hosts in question, or nothing where they are all. */
export function hostsDetail(hosts: readonly AskableHost[] | null): { readonly hosts?: string } {
  return hosts === null ? {} : { hosts: hosts.map(({ name }) => name).join(", ") };
}
