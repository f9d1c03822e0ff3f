/** Leases that root prolonged on a host, without the service. */

import { and, eq, gt, inArray, like, sql } from "drizzle-orm";
import type { HostHold } from "../../protocol/fleet.ts";
import { blankControlCharacters } from "../../shared/text/text.ts";
import { HOUR, shift } from "../../shared/time/clock.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import { hosts, importedLocks } from "../../store/schema-fleet.ts";
import type { AdmittedHost } from "../hosts/host-row.ts";
import { audited } from "../operation/audited.ts";
import type { Context, Services } from "../operation/context.ts";

/** Of one host; each is a record. */
const MAX_AN_HOUR = 20;

/** Records each once, in the name of the operator there, and counts the lease as long as it was made. */
export async function recordHolds(services: Services, host: AdmittedHost, holds: readonly HostHold[]): Promise<void> {
  if (holds.length === 0) return;
  const marks = holds.map(({ id }) => markOf(host.id, id));
  const done = await services.db.select().from(importedLocks).where(inArray(importedLocks.id, marks));
  const known = new Set(done.map(({ id }) => id));
  const since = shift(services.clock.now(), -HOUR);
  const lately = and(like(importedLocks.id, `${host.id}/hold/%`), gt(importedLocks.at, since));
  if ((await services.db.$count(importedLocks, lately)) >= MAX_AN_HOUR) {
    services.log.warn("a host reports more extended leases than anybody would make", { host: host.name });
    return;
  }
  for (const hold of holds) if (!known.has(markOf(host.id, hold.id))) await recordHold(services, host, hold);
}

function markOf(host: number, id: string): string {
  return `${host}/hold/${id}`;
}

async function recordHold(services: Services, host: AdmittedHost, hold: HostHold): Promise<void> {
  const name = blankControlCharacters(hold.operator.toWellFormed());
  const context: Context = { ...services, actor: { type: "cli", name, ip: "" }, requestId: "" };
  const until = new Date(hold.until);
  const detail = {
    host: host.name,
    until: formatTimestamp(until),
    held_at: formatTimestamp(new Date(hold.at)),
    reason: blankControlCharacters(hold.reason.toWellFormed()),
  };
  await audited(context, { action: "host.hold", resourceId: String(host.id), detail }, async (op) => {
    const mark = { id: markOf(host.id, hold.id), at: services.clock.now() };
    const [marked] = await op.tx
      .insert(importedLocks)
      .values(mark)
      .onConflictDoNothing()
      .returning({ id: importedLocks.id });
    if (marked === undefined) return op.record({ unneeded: true });
    await op.tx
      .update(hosts)
      .set({ leaseUntil: sql`greatest(${hosts.leaseUntil}, ${until.toISOString()}::timestamptz)` })
      .where(eq(hosts.id, host.id));
  });
}
