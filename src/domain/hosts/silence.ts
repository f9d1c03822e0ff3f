/** Tells administrators of hosts that fall silent, that shut because of it, and that are back. */

import { and, asc, eq, inArray } from "drizzle-orm";
import { DEFAULT_LEASE, isForever } from "../../shared/time/lease.ts";
import { type HostRow, hosts } from "../../store/schema-fleet.ts";
import { tellAdministrators } from "../mail/administrators.ts";
import { hostsBack, hostsShut, hostsSilent, type MailedHost } from "../mail/fleet-messages.ts";
import type { Services } from "../operation/context.ts";
import { leasesOf } from "./leases.ts";
import { hasEnded, isSilent } from "./problems.ts";

type Event = "silent" | "shut" | "back";

/**
 * Queues the mails that are due, at most one of each kind however many hosts it is about: when a quarter of the lease has passed
 * without a sign, when the lease has ended, and when a host is back that was written about. After a start of the service nobody
 * counts as silent before a quarter of the lease has passed since then.
 */
export async function tellOfSilence(services: Services, startedAt: Date): Promise<void> {
  const { db, clock, policy } = services;
  const now = clock.now();
  await db.transaction(async (tx) => {
    // Requests of agents are never waited for, and never wait for this: a host with a request under way is looked at next time.
    const rows = await tx
      .select()
      .from(hosts)
      .where(eq(hosts.kind, "remote"))
      .orderBy(asc(hosts.id))
      .for("no key update", { skipLocked: true });
    const leases = await leasesOf(tx, rows);
    const leaseOf = ({ id }: HostRow) => leases.get(id) ?? DEFAULT_LEASE;
    const events = Map.groupBy(rows, (host) => eventOf(host, leaseOf(host), { now, startedAt }));
    const letters = { silent: hostsSilent, shut: hostsShut, back: hostsBack };
    for (const event of ["silent", "shut", "back"] as const) {
      const found = events.get(event) ?? [];
      if (found.length === 0) continue;
      const ids = found.map(({ id }) => id);
      const silenceMailedAt = event === "back" ? null : now;
      await tx
        .update(hosts)
        .set({ silenceMailedAt })
        .where(and(inArray(hosts.id, ids)));
      const message = letters[event](
        policy.site,
        found.map((host) => mailed(host, leaseOf(host))),
      );
      const occasion = `hosts-${event}:${now.getTime()}:${ids[0]}`;
      await tellAdministrators({ tx, context: services }, message, { about: "hosts", occasion });
    }
  });
}

/** The news about a host since the last mail; undefined if there is none. */
function eventOf(
  host: HostRow,
  lease: number,
  sight: { readonly now: Date; readonly startedAt: Date },
): Event | undefined {
  const { lastSeenAt, leaseUntil, silenceMailedAt: told } = host;
  if (told !== null && lastSeenAt !== null && lastSeenAt > told) return "back";
  const ended = hasEnded(host, lease, sight.now);
  if (told === null) {
    if (!isSilent(host, lease, sight)) return undefined;
    return ended ? "shut" : "silent";
  }
  return ended && leaseUntil !== null && told < leaseUntil ? "shut" : undefined;
}

function mailed({ name, lastSeenAt, leaseUntil }: HostRow, lease: number): MailedHost {
  const isOpen = lease === 0 || (leaseUntil !== null && isForever(leaseUntil));
  return { name, lastSeenAt, shutsAt: isOpen ? null : leaseUntil };
}
