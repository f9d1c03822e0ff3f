/** Hosts: their details, and the changes that owners make. */

import { and, asc, count, desc, eq, exists, type SQL, sql } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { offsetOf, type Page, type Paged } from "../../shared/product/page.ts";
import { LOCAL_NAME, parseHostName } from "../../shared/text/host-name.ts";
import { formatLease, parseLease } from "../../shared/time/lease.ts";
import { type Database, isDuplicate, type Transaction } from "../../store/client.ts";
import { type HostRow, hostGroupMembers, hostGroups, hosts } from "../../store/schema-fleet.ts";
import { audited } from "../operation/audited.ts";
import type { Context } from "../operation/context.ts";
import { lockFleet, type Ref, requireHost } from "./find-host.ts";
import { leasesOf } from "./leases.ts";
import { countAccounts } from "./placements.ts";
import { countProblems, type HostProblem, problemsOf } from "./problems.ts";

/** A host as lists show it. */
export interface HostEntry {
  readonly row: HostRow;
  /** Names of its groups. */
  readonly groups: readonly string[];
  /** The lease in force, in milliseconds; 0 for none at all. */
  readonly lease: number;
  readonly problems: number;
}

/** One host in full. */
export interface HostDetail extends Omit<HostEntry, "problems"> {
  readonly problems: readonly HostProblem[];
  readonly accounts: { readonly total: number; readonly open: number };
}

export interface HostFilter {
  /** A part of the name, in any case. */
  readonly search?: string | undefined;
  /** The name of a group that it is in. */
  readonly group?: string | undefined;
  readonly status?: HostRow["status"] | undefined;
}

/** The changes to a host; absent fields stay. */
export interface HostChanges {
  readonly name?: string | undefined;
  /** As a text; null for as its groups say. */
  readonly lease?: string | null | undefined;
  /** The access that ends with the lease: logins alone, or open sessions too. */
  readonly leaseEnds?: HostRow["leaseEnds"] | undefined;
}

/** One page of hosts, the service's own first, then by name. `startedAt`: see `Sight`. */
export async function pageHosts(
  { db, clock }: Pick<Context, "db" | "clock">,
  filter: HostFilter,
  page: Page & { readonly startedAt?: Date | undefined },
): Promise<Paged<HostEntry>> {
  const where = conditionOf(filter);
  return await db.transaction(
    async (tx) => {
      const [row] = await tx.select({ total: count() }).from(hosts).where(where);
      const total = row?.total ?? 0;
      const offset = offsetOf(page);
      // A page far beyond the end has an offset that no database takes.
      if (offset >= total) return { total, items: [] };
      const isLocal = desc(eq(hosts.kind, "local"));
      const rows = await tx
        .select()
        .from(hosts)
        .where(where)
        .orderBy(isLocal, asc(hosts.name))
        .limit(page.pageSize)
        .offset(offset);
      const [groups, leases] = [await groupsOf(tx, rows), await leasesOf(tx, rows)];
      const problems = await countProblems(tx, rows, { now: clock.now(), startedAt: page.startedAt });
      const items = rows.map((host) => ({
        row: host,
        groups: groups.get(host.id) ?? [],
        lease: leases.get(host.id) ?? 0,
        problems: problems.get(host.id) ?? 0,
      }));
      return { total, items };
    },
    { isolationLevel: "repeatable read", accessMode: "read only" },
  );
}

/** The host in full; throws `not_found`. */
export async function getHost(
  { db, clock }: Pick<Context, "db" | "clock">,
  ref: Ref,
  startedAt?: Date,
): Promise<HostDetail> {
  return await db.transaction(
    async (tx) => await describe(tx, await requireHost(tx, ref), { now: clock.now(), startedAt }),
    { isolationLevel: "repeatable read", accessMode: "read only" },
  );
}

/** Changes a host's name or lease. Throws `not_found`, `invalid`, and `conflict` for a name that is taken and the service's own host. */
export async function updateHost(context: Context, ref: Ref, changes: HostChanges): Promise<HostDetail> {
  return await changeHost(context, "host.update", ref, async (tx, host) => {
    if (Object.values(changes).every((change) => change === undefined)) {
      throw new UamError("invalid", "Nothing to change: send name, lease or lease_ends");
    }
    requireRemote(host, `${LOCAL_NAME} is where the service runs: it keeps its name, and needs no lease`);
    const name = changes.name === undefined ? host.name : parseHostName("host", changes.name);
    const leaseMs = changes.lease === undefined ? host.leaseMs : parseLease(changes.lease);
    const { leaseEnds = host.leaseEnds } = changes;
    await refuseTaken(name, tx.update(hosts).set({ name, leaseMs, leaseEnds }).where(eq(hosts.id, host.id)));
    return {
      ...(name === host.name ? {} : { new_name: name }),
      ...(leaseMs === host.leaseMs ? {} : { lease: formatLease(leaseMs), old_lease: formatLease(host.leaseMs) }),
      ...(leaseEnds === host.leaseEnds ? {} : { lease_ends: leaseEnds, old_lease_ends: host.leaseEnds }),
    };
  });
}

/**
 * Shuts the host as a whole: its agent lets nobody in once it learns of it, at the latest when its lease ends. Throws `not_found`, and
 * `conflict` for the service's own host and one that is being retired. A locked host stays locked.
 */
export async function lockHost(context: Context, ref: Ref): Promise<HostDetail> {
  return await changeHost(context, "host.lock", ref, async (tx, host) => {
    requireRemote(host, `${LOCAL_NAME} is where the service runs, and cannot be locked as a whole; disable its users`);
    requireNotRetiring(host);
    if (host.status === "locked") return undefined;
    await tx.update(hosts).set({ status: "locked" }).where(eq(hosts.id, host.id));
    return { old_status: host.status };
  });
}

/**
 * Opens a locked host again, with the current stored state. Forgets the counter of its agent, so that a host with a disk that was set
 * back can go on; nonces from before are refused from now on, so that no earlier request can be sent again. A copy of the agent's key
 * is found again at its first use. Throws as `lockHost` does.
 */
export async function unlockHost(context: Context, ref: Ref): Promise<HostDetail> {
  return await changeHost(context, "host.unlock", ref, async (tx, host) => {
    requireRemote(host, `${LOCAL_NAME} is where the service runs, and is never locked as a whole`);
    requireNotRetiring(host);
    if (host.status === "active") return undefined;
    const nonceAt = Math.max(host.nonceAt, context.clock.now().getTime());
    await tx.update(hosts).set({ status: "active", counter: 0, nonceAt }).where(eq(hosts.id, host.id));
    return { old_status: host.status };
  });
}

/** Throws `conflict` for the service's own host. */
export function requireRemote({ kind }: Pick<HostRow, "kind">, sentence: string): void {
  if (kind === "local") throw new UamError("conflict", sentence, { reason: "host.local" });
}

type Change = (
  tx: Transaction,
  host: HostRow,
) => Promise<Readonly<Record<string, string | number | boolean | null>> | undefined>;

/**
 * An operation on one host under its row lock. The change returns the detail to record; undefined means that there was nothing to do.
 */
async function changeHost(
  context: Context,
  action: "host.update" | "host.lock" | "host.unlock",
  ref: Ref,
  change: Change,
): Promise<HostDetail> {
  const entry = { action, resourceId: typeof ref === "number" ? String(ref) : "" } as const;
  return await audited(context, entry, async (op) => {
    await lockFleet(op.tx);
    const { id } = await requireHost(op.tx, ref);
    const [host] = await op.tx.select().from(hosts).where(eq(hosts.id, id)).for("update");
    if (host === undefined) throw new Error("a host's row is gone");
    op.record({ resourceId: String(id) });
    op.about({ detail: { host: host.name } });
    const detail = await change(op.tx, host);
    if (detail === undefined) op.record({ unneeded: true });
    else op.record({ detail });
    return await describe(op.tx, await requireHost(op.tx, id), { now: context.clock.now() });
  });
}

async function describe(
  tx: Database | Transaction,
  row: HostRow,
  sight: { readonly now: Date; readonly startedAt?: Date | undefined },
): Promise<HostDetail> {
  const groups = await groupsOf(tx, [row]);
  const leases = await leasesOf(tx, [row]);
  const problems = await problemsOf(tx, [row], sight);
  const accounts = await countAccounts(tx, [row.id], sight.now);
  return {
    row,
    groups: groups.get(row.id) ?? [],
    lease: leases.get(row.id) ?? 0,
    problems,
    accounts: accounts.get(row.id) ?? { total: 0, open: 0 },
  };
}

function conditionOf({ search = "", group, status }: HostFilter): SQL | undefined {
  const sought = search.trim().toLowerCase();
  const isMember = (name: string) =>
    exists(sql`(select 1 from ${hostGroupMembers} m join ${hostGroups} g on g.id = m.group_id
      where m.host_id = ${hosts.id} and g.name = ${name})`);
  return and(
    sought === "" ? undefined : sql`strpos(${hosts.name}, ${sought}::text) > 0`,
    group === undefined ? undefined : isMember(group),
    status === undefined ? undefined : eq(hosts.status, status),
  );
}

async function groupsOf(
  db: Database | Transaction,
  rows: readonly HostRow[],
): Promise<ReadonlyMap<number, readonly string[]>> {
  if (rows.length === 0) return new Map();
  const found = await db
    .select({ hostId: hostGroupMembers.hostId, name: hostGroups.name })
    .from(hostGroupMembers)
    .innerJoin(hostGroups, eq(hostGroups.id, hostGroupMembers.groupId))
    .where(sql`${hostGroupMembers.hostId} in ${rows.map(({ id }) => id)}`)
    .orderBy(asc(hostGroups.id));
  const byHost = Map.groupBy(found, ({ hostId }) => hostId);
  return new Map([...byHost].map(([id, groups]) => [id, groups.map(({ name }) => name)]));
}

async function refuseTaken(name: string, statement: PromiseLike<unknown>): Promise<void> {
  try {
    await statement;
  } catch (error) {
    if (!isDuplicate(error, "hosts_name_unique")) throw error;
    throw new UamError("conflict", `There is a host named ${name}`, { reason: "host.taken" });
  }
}

function requireNotRetiring({ name, status }: HostRow): void {
  if (status !== "retiring") return;
  throw new UamError("conflict", `${name} is being retired`, { reason: "host.retiring" });
}
