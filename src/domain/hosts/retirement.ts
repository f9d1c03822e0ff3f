/** Retiring a host: its accounts are shut and removed there, and once its agent has confirmed that, the host is forgotten. */

import { and, desc, eq } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { counted } from "../../shared/text/counted.ts";
import { LOCAL_NAME } from "../../shared/text/host-name.ts";
import { MINUTE } from "../../shared/time/clock.ts";
import { isForever } from "../../shared/time/lease.ts";
import { formatOptionalTimestamp, formatTimestamp } from "../../shared/time/timestamp.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { audit, isAbout } from "../../store/schema-audit.ts";
import { type HostRow, hostProblems, hosts } from "../../store/schema-fleet.ts";
import { audited } from "../operation/audited.ts";
import { type Context, type Operation, type Services, systemContext } from "../operation/context.ts";
import { lockFleet, type Ref, requireHost } from "./find-host.ts";
import { requireRemote } from "./hosts.ts";
import { leasesOf } from "./leases.ts";
import { countAccounts, forgetRemovals, namedAccounts } from "./placements.ts";
import { type FleetPreview, NO_ACCOUNTS } from "./previews.ts";

/** An agent asks at least once a minute; a host that has been silent for this long will not confirm anything soon. */
const IN_REACH = 3 * MINUTE;

/** How far the retirement of a host is. */
export interface Retirement {
  readonly name: string;
  readonly status: "retiring" | "forgotten";
  /** How many accounts it had by the service's knowledge. */
  readonly accounts: number;
  /** The latest time until which anybody can log in there; null if the host has no lease, and so no such time. */
  readonly effectiveBy: Date | null;
}

/** How to retire a host. */
export interface RetireOptions {
  /** Forget it at once, without waiting for its agent. */
  readonly force: boolean;
}

/**
 * Begins to retire a host, or with `force` forgets it at once: then only the end of its lease shuts it, and its accounts stay there.
 * One that is being retired already goes on. Throws `not_found`, and `conflict` for the service's own host and, without
 * `force`, for one that has not been heard of lately.
 */
export async function retireHost(context: Context, ref: Ref, { force }: RetireOptions): Promise<Retirement> {
  const entry = {
    action: force ? "host.forget" : "host.retire",
    resourceId: typeof ref === "number" ? String(ref) : "",
  } as const;
  return await audited(context, entry, async (op) => {
    await lockFleet(op.tx);
    const { id } = await requireHost(op.tx, ref);
    const host = await lockRow(op.tx, id);
    op.record({ resourceId: String(id) });
    op.about({ detail: { host: host.name, ...(force ? { force } : {}) } });
    const retirement = await planRetirement(op.tx, context, host, { force });
    if (force) {
      const left = await namedAccounts(op.tx, id);
      await forget(op, host);
      const until = formatOptionalTimestamp(retirement.effectiveBy);
      op.record({ detail: { accounts: retirement.accounts, effective_by: until, ...(left === "" ? {} : { left }) } });
      return retirement;
    }
    if (host.status === "retiring") op.record({ unneeded: true });
    else await op.tx.update(hosts).set({ status: "retiring" }).where(eq(hosts.id, id));
    op.record({ detail: { accounts: retirement.accounts, old_status: host.status } });
    return retirement;
  });
}

/** Previews `retireHost`. */
export async function previewRetirement(context: Context, ref: Ref, options: RetireOptions): Promise<FleetPreview> {
  const { db } = context;
  const host = await requireHost(db, ref);
  const { accounts, effectiveBy } = await planRetirement(db, context, host, options);
  if (!options.force) {
    const removed = `${counted(accounts, "account")} on ${host.name} ${accounts === 1 ? "is" : "are"} shut and removed, with everything in the home directories.`;
    const forgotten = `${host.name} is forgotten once its agent has confirmed that.`;
    return { effects: [removed, forgotten], host: [], accounts: { ...NO_ACCOUNTS, removed: accounts } };
  }
  const names = await namedAccounts(db, host.id);
  const which = names === "" ? "" : ` (${names})`;
  const left = `${counted(accounts, "account")} ${accounts === 1 ? "stays" : "stay"} there${which}, with everything in the home directories; uam agent leave on ${host.name} removes them.`;
  const shut =
    effectiveBy === null
      ? `${host.name} has no lease: it stays open until somebody shuts it there.`
      : `Unless its agent is told otherwise, ${host.name} may stay open until ${formatTimestamp(effectiveBy)}.`;
  return { effects: [`${host.name} is forgotten at once.`, shut, left], host: [], accounts: NO_ACCOUNTS };
}

/**
 * Forgets retiring hosts once their agents have confirmed that nothing is left there; returns their names. Each is an
 * operation of its own; the next call retries one that failed.
 */
export async function forgetRetired(services: Services): Promise<readonly string[]> {
  const rows = await services.db.select({ id: hosts.id }).from(hosts).where(eq(hosts.status, "retiring"));
  const gone: string[] = [];
  for (const { id } of rows) {
    if (!(await hasConfirmed(services.db, id))) continue;
    const name = await forgetConfirmed(systemContext(services), id);
    if (name !== undefined) gone.push(name);
  }
  return gone;
}

async function forgetConfirmed(context: Context, id: number): Promise<string | undefined> {
  return await audited(context, { action: "host.forget", resourceId: String(id) }, async (op) => {
    await lockFleet(op.tx);
    const [host] = await op.tx.select().from(hosts).where(eq(hosts.id, id)).for("update");
    if (host?.status !== "retiring" || !(await hasConfirmed(op.tx, id))) {
      op.record({ unneeded: true });
      return undefined;
    }
    op.record({ detail: { host: host.name } });
    await forget(op, host);
    return host.name;
  });
}

/** Whether the agent has applied the record of the retirement, and has no failed step left. */
async function hasConfirmed(db: Database | Transaction, id: number): Promise<boolean> {
  const [begun] = await db
    .select({ id: audit.id })
    .from(audit)
    .where(and(isAbout([String(id)], "host.retire"), eq(audit.result, "success")))
    .orderBy(desc(audit.id))
    .limit(1);
  const [host] = await db.select().from(hosts).where(eq(hosts.id, id));
  if (begun === undefined || host === undefined || host.appliedId < begun.id) return false;
  const [refused] = await db
    .select({ id: hostProblems.id })
    .from(hostProblems)
    .where(and(eq(hostProblems.hostId, id), eq(hostProblems.kind, "refused")))
    .limit(1);
  return refused === undefined;
}

async function planRetirement(
  db: Database | Transaction,
  { clock }: Pick<Context, "clock">,
  host: HostRow,
  { force }: RetireOptions,
): Promise<Retirement> {
  requireRemote(host, `${LOCAL_NAME} is where the service runs: it cannot be retired`);
  const now = clock.now();
  const isInReach = host.lastSeenAt !== null && now.getTime() - host.lastSeenAt.getTime() < IN_REACH;
  const lease = (await leasesOf(db, [host])).get(host.id);
  if (!force && !isInReach) {
    const heard =
      host.lastSeenAt === null ? "has never been heard of" : `was last heard of at ${formatTimestamp(host.lastSeenAt)}`;
    const sentence = `${host.name} ${heard}, so that nothing can be removed there; start its agent, or force it: then it is forgotten, and ${stays(host, lease)}`;
    throw new UamError("conflict", sentence, { reason: "host.unreachable" });
  }
  const accounts = (await countAccounts(db, [host.id], now)).get(host.id)?.total ?? 0;
  const effectiveBy = lease === 0 ? null : lastOpen(host, now);
  return { name: host.name, status: force ? "forgotten" : "retiring", accounts, effectiveBy };
}

function stays({ leaseUntil }: HostRow, lease: number | undefined): string {
  if (lease === 0) return "stays open indefinitely, because it has no lease";
  if (leaseUntil !== null && isForever(leaseUntil)) return "stays open indefinitely, because it once had no lease";
  return leaseUntil === null ? "was never open" : `may stay open until ${formatTimestamp(leaseUntil)}`;
}

/** Null if the agent may still hold an earlier lease without end. */
function lastOpen({ leaseUntil }: HostRow, now: Date): Date | null {
  if (leaseUntil === null) return now;
  if (isForever(leaseUntil)) return null;
  return leaseUntil > now ? leaseUntil : now;
}

/** Membership, grants and problems go with the row. */
async function forget({ tx }: Operation, { id }: HostRow): Promise<void> {
  await forgetRemovals(tx, id);
  await tx.delete(hosts).where(eq(hosts.id, id));
}

async function lockRow(tx: Transaction, id: number): Promise<HostRow> {
  const [host] = await tx.select().from(hosts).where(eq(hosts.id, id)).for("update");
  if (host === undefined) throw new Error("a host's row is gone");
  return host;
}
