/**
 * A database that was set back: agents know records that it does not have. They shut what it shuts, and open nothing that was shut, until
 * an administrator has looked and accepts it.
 */

import { and, count, eq, isNotNull, isNull } from "drizzle-orm";
import { hosts } from "../../store/schema-fleet.ts";
import { tellAdministrators } from "../mail/administrators.ts";
import { historyDiverged } from "../mail/agent-messages.ts";
import { audited } from "../operation/audited.ts";
import { type Context, type Services, systemContext } from "../operation/context.ts";
import type { AdmittedHost } from "./host-row.ts";

/** Notes that the host knows another history. The first host of all is recorded and mailed: the others find the same. */
export async function noteDivergence(services: Services, { id, name, diverged }: AdmittedHost): Promise<void> {
  if (diverged) return;
  const at = services.clock.now();
  const entry = { action: "fleet.diverged", resourceId: String(id), detail: { host: name } } as const;
  await audited(systemContext(services), entry, async (op) => {
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

/** Accepts what is stored now for every host: what it opens may be opened again. Returns how many hosts waited for that. */
export async function acceptHistory(context: Context): Promise<number> {
  return await audited(context, { action: "fleet.accept" }, async (op) => {
    const accepted = await op.tx
      .update(hosts)
      .set({ divergedAt: null })
      .where(isNotNull(hosts.divergedAt))
      .returning({ name: hosts.name });
    op.record({ detail: { hosts: accepted.length } });
    return accepted.length;
  });
}
