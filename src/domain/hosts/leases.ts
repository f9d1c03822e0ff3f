/** Which lease is in force for a host. */

import { eq, inArray, isNotNull, sql } from "drizzle-orm";
import { leaseInForce } from "../../shared/time/lease.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { type HostRow, hostGroupMembers, hostGroups } from "../../store/schema-fleet.ts";

/** The leases of the host's groups; null for a group that has none of its own. */
export async function groupLeasesOf(db: Database | Transaction, hostId: number): Promise<readonly (number | null)[]> {
  const rows = await db
    .select({ leaseMs: hostGroups.leaseMs })
    .from(hostGroupMembers)
    .innerJoin(hostGroups, eq(hostGroups.id, hostGroupMembers.groupId))
    .where(eq(hostGroupMembers.hostId, hostId));
  return rows.map(({ leaseMs }) => leaseMs);
}

/** The lease in force for each of the hosts, in milliseconds, 0 for none at all, by the host's id. */
export async function leasesOf(
  db: Database | Transaction,
  rows: readonly Pick<HostRow, "id" | "leaseMs">[],
): Promise<ReadonlyMap<number, number>> {
  if (rows.length === 0) return new Map();
  const ids = rows.map(({ id }) => id);
  const found = await db
    .select({ hostId: hostGroupMembers.hostId, leaseMs: hostGroups.leaseMs })
    .from(hostGroupMembers)
    .innerJoin(hostGroups, eq(hostGroups.id, hostGroupMembers.groupId))
    .where(inArray(hostGroupMembers.hostId, ids));
  const byHost = Map.groupBy(found, ({ hostId }) => hostId);
  return new Map(
    rows.map(({ id, leaseMs }) => [
      id,
      leaseInForce(
        leaseMs,
        (byHost.get(id) ?? []).map((group) => group.leaseMs),
      ),
    ]),
  );
}

/** The leases of all groups that have one of their own, by the id of each of their hosts. */
export async function allGroupLeases(db: Database): Promise<ReadonlyMap<number, readonly number[]>> {
  const groups = await db
    .select({
      leaseMs: hostGroups.leaseMs,
      hosts: sql<string>`string_agg(${hostGroupMembers.hostId}::text, ',')`,
    })
    .from(hostGroups)
    .innerJoin(hostGroupMembers, eq(hostGroupMembers.groupId, hostGroups.id))
    .where(isNotNull(hostGroups.leaseMs))
    .groupBy(hostGroups.id);
  const leases = new Map<number, number[]>();
  for (const { leaseMs, hosts } of groups) {
    for (const id of hosts.split(",").map(Number)) leases.set(id, [...(leases.get(id) ?? []), leaseMs ?? 0]);
  }
  return leases;
}
