/** Hosts with agents as rows: what the service knows of them, without any agent. */

import { randomBytes } from "node:crypto";
import { eq, sql } from "drizzle-orm";
import { HOUR, shift } from "../../src/shared/time/clock.ts";
import { audit } from "../../src/store/schema-audit.ts";
import { grants, type HostRow, hostGroupMembers, hostGroups, hosts } from "../../src/store/schema-fleet.ts";
import type { TestApp } from "./app.ts";

/** A host that was just heard of and has applied everything; `wanted` says what is different, and its groups by name. */
export async function insertHost(
  { db, clock }: Pick<TestApp, "db" | "clock">,
  name: string,
  { groups = [], ...wanted }: Partial<HostRow> & { readonly groups?: readonly string[] } = {},
): Promise<HostRow> {
  const now = clock.now();
  const [row] = await db
    .insert(hosts)
    .values({
      ...{ name, publicKey: randomBytes(32), enrolledAt: shift(now, -HOUR), lastSeenAt: now, mode: "direct" },
      ...{ leaseUntil: shift(now, 4 * HOUR), version: "0.3.0", sshHost: `${name}.example.org`, appliedId: 1e12 },
      ...wanted,
    })
    .returning();
  if (row === undefined) throw new Error("insert returned no row");
  for (const group of groups) {
    const [found] = await db.select().from(hostGroups).where(eq(hostGroups.name, group));
    if (found === undefined) throw new Error(`there is no group ${group}`);
    await db.insert(hostGroupMembers).values({ groupId: found.id, hostId: row.id });
  }
  return row;
}

/** Gives users the default group, where creating them has not. */
export async function grantDefault({ db, clock }: Pick<TestApp, "db" | "clock">, ...userIds: readonly number[]) {
  const [group] = await db.select().from(hostGroups).where(eq(hostGroups.name, "default"));
  for (const userId of userIds) {
    const row = { userId, groupId: group?.id ?? 0, createdAt: clock.now() };
    await db.insert(grants).values(row).onConflictDoNothing();
  }
}

/** The number of the newest audit record. */
export async function headOf({ db }: Pick<TestApp, "db">): Promise<number> {
  const [row] = await db.select({ id: sql<string>`max(${audit.id})` }).from(audit);
  return Number(row?.id ?? 0);
}
