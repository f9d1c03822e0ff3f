/**
 * A database that was set back: agents know records that it does not have. They follow its closings, but reopen nothing, until an
 * administrator has looked and accepts it.
 */

import { and, count, eq, isNotNull, isNull, max } from "drizzle-orm";
import { audit } from "../../store/schema-audit.ts";
import { hosts } from "../../store/schema-fleet.ts";
import { lockFleet } from "../hosts/find-host.ts";
import type { AdmittedHost } from "../hosts/host-row.ts";
import { tellAdministrators } from "../mail/administrators.ts";
import { historyDiverged } from "../mail/agent-messages.ts";
import { audited } from "../operation/audited.ts";
import { type Context, type Services, systemContext } from "../operation/context.ts";
import { acceptUnknown, type UnknownAccount } from "./unknown-accounts.ts";

/** Notes that the host knows another history. Only the first host is recorded and mailed: the others find the same. */
export async function noteDivergence(services: Services, { id, name, diverged }: AdmittedHost): Promise<void> {
  if (diverged) return;
  const at = services.clock.now();
  const entry = { action: "fleet.diverged", resourceId: String(id), detail: { host: name } } as const;
  await audited(systemContext(services), entry, async (op) => {
    // After a restore many say so at the same instant: with a record each, all but the last would count as not heard.
    await lockFleet(op.tx);
    const [others] = await op.tx.select({ n: count() }).from(hosts).where(isNotNull(hosts.divergedAt));
    const [noted] = await op.tx
      .update(hosts)
      .set({ divergedAt: at })
      .where(and(eq(hosts.id, id), isNull(hosts.divergedAt)))
      .returning({ id: hosts.id });
    services.log.error("a host knows records that the audit log does not have: the database was set back", {
      host: name,
    });
    if (noted === undefined || (others?.n ?? 0) > 0) return op.record({ unneeded: true });
    await tellAdministrators(op, historyDiverged(services.policy.site, { name }), {
      about: "users",
      occasion: `diverged:${id}:${at.getTime()}`,
    });
  });
}

/** The result of accepting. */
export interface Acceptance {
  /** Hosts that waited for it. */
  readonly hosts: number;
  /** Accounts that the database does not know, and that are now removed from the hosts that have them. */
  readonly removed: readonly UnknownAccount[];
  /** Names of waiting hosts that have not yet reported which unknown accounts they have. */
  readonly unheard: readonly string[];
}

/**
 * Accepts the current stored state for every host: hosts may open accounts again, and remove unknown accounts that they reported,
 * with their homes.
 */
export async function acceptHistory(context: Context): Promise<Acceptance> {
  return await audited(context, { action: "fleet.accept" }, async (op) => {
    await lockFleet(op.tx);
    // A host says so with the first report after it was told that the history is another one.
    const [found] = await op.tx
      .select({ id: max(audit.id) })
      .from(audit)
      .where(and(eq(audit.action, "fleet.diverged"), eq(audit.result, "success")));
    const accepted = await op.tx
      .update(hosts)
      .set({ divergedAt: null })
      .where(isNotNull(hosts.divergedAt))
      .returning({ name: hosts.name, appliedId: hosts.appliedId });
    const unheard = accepted.filter(({ appliedId }) => appliedId < (found?.id ?? 0)).map(({ name }) => name);
    const removed = await acceptUnknown(op);
    const names = removed.slice(0, MAX_NAMES).map(({ name }) => name);
    op.record({
      detail: {
        hosts: accepted.length,
        ...(removed.length === 0 ? {} : { accounts: removed.length, removed: names.join(", ") }),
      },
    });
    return { hosts: accepted.length, removed, unheard: unheard.sort() };
  });
}

/** More names help nobody; the figure says how many there are. */
const MAX_NAMES = 100;
