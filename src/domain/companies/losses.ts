/** What users of a company would lose for lying within its limits. */

import { and, asc, eq, type SQL, sql } from "drizzle-orm";
import { allowedBy, commonNetworks, isWithin } from "../../shared/net/networks.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { type UserRow, users } from "../../store/schema.ts";
import type { CompanyRow } from "../../store/schema-companies.ts";
import { isExpired } from "../accounts/find-user.ts";

/** Qualified, for a query within the query. */
const USER = sql.raw("users.id");

/** Limits that users are brought within. */
export interface Limits {
  readonly company: Pick<CompanyRow, "id" | "sourceNetworks" | "hostGroups">;
  /** The last end that they keep; null where their ends stay. */
  readonly lastEnd: Date | null;
  readonly now: Date;
}

/** What one user loses. */
export interface Loss {
  readonly id: number;
  readonly username: string;
  /** They are disabled: what they may have is no network, or no host. */
  readonly disabledFor: "networks" | "hosts" | undefined;
  /** The networks that are left, if some are taken. */
  readonly networks: readonly string[] | undefined;
  /** Whether they lose hosts, and keep others. */
  readonly hosts: boolean;
  /** The earlier end. */
  readonly end: Date | undefined;
}

/** What each user of the company loses, in the order in which they were created; who loses nothing is left out. */
export async function findLosses(db: Database | Transaction, limits: Limits): Promise<readonly Loss[]> {
  return await select(db, limits, undefined);
}

/** The same of one user; undefined if they lose nothing, or are not of the company. */
export async function findLoss(tx: Transaction, limits: Limits, userId: number): Promise<Loss | undefined> {
  return (await select(tx, limits, eq(users.id, userId)))[0];
}

async function select(db: Database | Transaction, limits: Limits, which: SQL | undefined): Promise<readonly Loss[]> {
  const { id, hostGroups, sourceNetworks } = limits.company;
  if (hostGroups.length + sourceNetworks.length === 0 && limits.lastEnd === null) return [];
  const groups = sql`${`{${hostGroups.join(",")}}`}::bigint[]`;
  const rows = await db
    .select({
      ...{ id: users.id, username: users.username, status: users.status, disabledAt: users.disabledAt },
      ...{ expireAt: users.expireAt, sourceNetworks: users.sourceNetworks },
      kept: sql<number>`(select count(*)::int from grants g where g.user_id = ${USER} and g.group_id = any(${groups}))`,
      others: sql<number>`(select count(*)::int from grants g where g.user_id = ${USER}
        and (g.group_id is null or g.group_id <> all(${groups})))`,
    })
    .from(users)
    .where(and(eq(users.companyId, id), which))
    .orderBy(asc(users.id));
  return rows.flatMap((row) => lossOf(row, limits) ?? []);
}

type Stored = Pick<UserRow, "id" | "username" | "status" | "disabledAt" | "expireAt" | "sourceNetworks"> & {
  /** Grants that the company allows, and others. */
  readonly kept: number;
  readonly others: number;
};

function lossOf(user: Stored, { company, lastEnd, now }: Limits): Loss | undefined {
  const { id, username, expireAt, kept, others } = user;
  const [has, may] = [allowedBy(user.sourceNetworks), allowedBy(company.sourceNetworks)];
  const left = isWithin(has, may) ? undefined : commonNetworks(has, may);
  const losesHosts = company.hostGroups.length > 0 && others > 0;
  const hasEnded = isExpired({ status: user.status, expireAt }, now);
  const isActive = user.disabledAt === null && !hasEnded;
  const noHost = losesHosts && kept === 0 ? "hosts" : undefined;
  const nothingOf = left?.length === 0 ? "networks" : noHost;
  const loss: Loss = {
    ...{ id, username, disabledFor: isActive ? nothingOf : undefined },
    networks: left === undefined || left.length === 0 ? undefined : left,
    hosts: losesHosts && kept > 0,
    end: lastEnd !== null && !hasEnded && expireAt > lastEnd ? lastEnd : undefined,
  };
  const isNone = loss.disabledFor === undefined && loss.networks === undefined && !loss.hosts && loss.end === undefined;
  return isNone ? undefined : loss;
}
