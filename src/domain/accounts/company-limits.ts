/**
 * What a company allows its users: until when, from which networks, on which groups of hosts, how many of them, and whether it has ended.
 * Every operation that gives one of its users something holds the company's row, so that nothing is given beside a change of it.
 */

import { count, eq, sql } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { allowedBy, outsideOf } from "../../shared/net/networks.ts";
import { DAY, shift } from "../../shared/time/clock.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { type UserRow, users } from "../../store/schema.ts";
import { type CompanyRow, companies } from "../../store/schema-companies.ts";

export type Company = CompanyRow;

/** The user's company as it is stored; undefined for none. */
export async function companyOf(
  db: Database | Transaction,
  { companyId }: Pick<UserRow, "companyId">,
): Promise<Company | undefined> {
  return companyId === null ? undefined : await findCompany(db, companyId);
}

/** The same, kept as it is until the transaction ends: a change of it waits. Call it under the user's row lock. */
export async function holdCompanyOf(
  tx: Transaction,
  { companyId }: Pick<UserRow, "companyId">,
): Promise<Company | undefined> {
  if (companyId === null) return undefined;
  const [row] = await tx.select().from(companies).where(eq(companies.id, companyId)).for("share");
  return row;
}

/**
 * The company that a user is about to join, kept as it is until the transaction ends; of several who join at once, one comes after the other.
 * Throws `invalid` if there is none, and `conflict` if it has ended or is full.
 */
export async function joinCompany(tx: Transaction, companyId: number): Promise<Company> {
  const company = await lockCompany(tx, companyId);
  if (company === undefined) throw new UamError("invalid", "There is no such company", { reason: "company.missing" });
  requireGoing(company);
  const { name, maxUsers } = company;
  if (maxUsers !== null && (await countUsers(tx, companyId)) >= maxUsers) {
    const sentence = `${name} has ${maxUsers === 1 ? "its 1 user" : `all of its ${maxUsers} users`}; delete one, or let it have more`;
    throw new UamError("conflict", sentence, { reason: "company.full" });
  }
  return company;
}

/** The companies that a user moves between. */
export interface Move {
  readonly from: Company | undefined;
  readonly to: Company | undefined;
}

/**
 * Lets a user leave their company and join another one, or none, as `joinCompany` does. Throws `conflict` while theirs is being ended or
 * narrowed: they would keep the access that they are losing.
 */
export async function moveCompany(
  tx: Transaction,
  { companyId: from }: Pick<UserRow, "companyId">,
  to: number | null,
): Promise<Move> {
  // Always in the same order, so that two who move in opposite directions do not wait for each other.
  const ids = [from, to].filter((id) => id !== null).sort((one, other) => one - other);
  for (const id of ids) await lockCompany(tx, id);
  const left = from === null ? undefined : await findCompany(tx, from);
  if (left !== undefined && left.narrowingSince !== null) {
    throw new UamError("conflict", `${left.name} is being narrowed; nobody leaves it until that is done`);
  }
  if (left?.status === "ending") {
    const sentence = `${left.name} is being ended; nobody leaves it until that is done`;
    throw new UamError("conflict", sentence, { reason: "company.ended" });
  }
  return { from: left, to: to === null ? undefined : await joinCompany(tx, to) };
}

/** What is stored of a user's company; throws `invalid` for a manager of none. */
export function belonging(companyId: number | null, manager: boolean): Pick<UserRow, "companyId" | "manager"> {
  if (companyId !== null || !manager) return { companyId, manager };
  throw new UamError("invalid", "A manager belongs to a company: send its company_id, too");
}

/** Takes the row's lock until the transaction ends; undefined if there is no such company. */
export async function lockCompany(tx: Transaction, companyId: number): Promise<Company | undefined> {
  const [row] = await tx.select().from(companies).where(eq(companies.id, companyId)).for("no key update");
  return row;
}

/** The company; undefined if there is none. */
export async function findCompany(db: Database | Transaction, companyId: number): Promise<Company | undefined> {
  const [row] = await db.select().from(companies).where(eq(companies.id, companyId));
  return row;
}

/** How many users it has, whatever their status. */
export async function countUsers(db: Database | Transaction, companyId: number): Promise<number> {
  const [row] = await db.select({ users: count() }).from(users).where(eq(users.companyId, companyId));
  return row?.users ?? 0;
}

/** Throws `conflict` if nobody of the company is to be given access any more. */
export function requireGoing(company: Company | undefined): void {
  if (company === undefined || company.status === "active") return;
  const sentence = `${company.name} has ended, and nobody of it is given access; resume the company first`;
  throw new UamError("conflict", sentence, { reason: "company.ended" });
}

/**
 * The end that a user of the company gets. Throws `conflict` if the company or its contract has ended, and `invalid` for an end beyond what
 * it allows, if somebody named that end; one that nobody named is moved to the last that it allows.
 */
export function endWithin(
  company: Company | undefined,
  { now, end, isNamed }: { readonly now: Date; readonly end: Date; readonly isNamed: boolean },
): Date {
  if (company === undefined) return end;
  requireGoing(company);
  const { name, contractEnd } = company;
  if (contractEnd !== null && contractEnd <= now) {
    const sentence = `The contract of ${name} ended at ${formatTimestamp(contractEnd)}; give the company a later end first`;
    throw new UamError("conflict", sentence, { reason: "company.ended" });
  }
  const latest = latestEndOf(company, now);
  if (latest === undefined || end <= latest) return end;
  if (isNamed) throw limit(`${name} allows no end after ${formatTimestamp(latest)}`);
  return latest;
}

/** The last end that it allows to be set now; undefined where it limits none. */
export function latestEndOf(
  { contractEnd, maxTtlDays }: Pick<Company, "contractEnd" | "maxTtlDays">,
  now: Date,
): Date | undefined {
  const ends = [contractEnd, maxTtlDays === null ? null : shift(now, maxTtlDays * DAY)].filter((end) => end !== null);
  return ends.length === 0 ? undefined : new Date(Math.min(...ends.map((end) => end.getTime())));
}

/**
 * The networks of a new user of the company: its own where none are named. Throws `invalid` for networks that are not within the company's.
 */
export function networksWithin(company: Company | undefined, networks: readonly string[] | undefined) {
  if (company === undefined) return networks ?? [];
  if (networks === undefined) return company.sourceNetworks;
  requireNetworksWithin(company, networks);
  return networks;
}

/** Throws `invalid` for networks that are not within the company's; none are from anywhere. */
export function requireNetworksWithin({ name, sourceNetworks }: Company, networks: readonly string[]): void {
  const [wider] = outsideOf(allowedBy(networks), allowedBy(sourceNetworks));
  if (wider === undefined) return;
  const what = networks.length === 0 ? "Access from anywhere" : wider;
  throw limit(`${what} is not within the networks of ${name}: ${sourceNetworks.join(", ")}`);
}

/** Throws `invalid` for hosts that are given by name, or by a group that is not the company's, if it has groups of its own. */
export function requireHostsWithin(
  company: Company | undefined,
  { hosts, groups }: { readonly hosts: readonly string[]; readonly groups: readonly { id: number; name: string }[] },
): void {
  if (company === undefined || company.hostGroups.length === 0) return;
  const { name, hostGroups } = company;
  const [host] = hosts;
  if (host !== undefined) throw limit(`Users of ${name} have hosts by its groups only, and not ${host} by name`);
  const other = groups.find(({ id }) => !hostGroups.includes(id));
  if (other !== undefined) throw limit(`The group ${other.name} is not one of ${name}`);
}

/** Throws as the others do if a user, with these changes, does not lie within the company. */
export async function requireWithin(
  tx: Transaction,
  company: Company,
  { user, now }: { readonly user: UserRow; readonly now: Date },
): Promise<void> {
  requireNetworksWithin(company, user.sourceNetworks);
  const latest = latestEndOf(company, now);
  if (latest !== undefined && user.expireAt > latest) {
    const ends = `the access of ${user.username} lasts until ${formatTimestamp(user.expireAt)}`;
    throw limit(`${company.name} allows no end after ${formatTimestamp(latest)}, and ${ends}`);
  }
  requireHostsWithin(company, await hostsOf(tx, user.id));
}

/**
 * Throws `conflict` if a user whose access is about to begin again has networks or hosts that the company does not allow: a company that
 * became narrower left them none that it allows, so they were disabled with what they had.
 */
export async function requireStillWithin(
  db: Database | Transaction,
  company: Company | undefined,
  user: Pick<UserRow, "id" | "username" | "sourceNetworks">,
): Promise<void> {
  if (company === undefined) return;
  try {
    requireNetworksWithin(company, user.sourceNetworks);
    requireHostsWithin(company, await hostsOf(db, user.id));
  } catch (error) {
    if (!(error instanceof UamError)) throw error;
    throw new UamError("conflict", `${error.message}; change those of ${user.username} first`, {
      ...{ cause: error, reason: "company.limit" },
    });
  }
}

async function hostsOf(db: Database | Transaction, userId: number) {
  const rows = await db.execute<{ host: string | null; id: string | null; name: string | null }>(sql`
    select h.name as host, r.id, r.name from grants g left join hosts h on h.id = g.host_id
      left join host_groups r on r.id = g.group_id where g.user_id = ${userId} order by h.id, r.id`);
  return {
    hosts: rows.flatMap(({ host }) => (host === null ? [] : [host])),
    groups: rows.flatMap(({ id, name }) => (id === null || name === null ? [] : [{ id: Number(id), name }])),
  };
}

function limit(sentence: string): UamError {
  return new UamError("invalid", sentence, { reason: "company.limit" });
}
