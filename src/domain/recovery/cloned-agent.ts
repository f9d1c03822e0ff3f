/** A key that is in two places: the host is locked until an administrator has looked. */

import { eq } from "drizzle-orm";
import { hosts } from "../../store/schema-fleet.ts";
import { tellAdministrators } from "../mail/administrators.ts";
import { hostKeyCopied } from "../mail/agent-messages.ts";
import { audited } from "../operation/audited.ts";
import { type Services, systemContext } from "../operation/context.ts";

/** Locks the host and mails the administrators; does nothing if the host is locked or gone. */
export async function lockCopied(services: Services, hostId: number): Promise<void> {
  const entry = { action: "host.lock", resourceId: String(hostId) } as const;
  await audited(systemContext(services), entry, async (op) => {
    const [host] = await op.tx.select().from(hosts).where(eq(hosts.id, hostId)).for("update");
    if (host === undefined || host.status === "locked") return op.record({ unneeded: true });
    await op.tx.update(hosts).set({ status: "locked" }).where(eq(hosts.id, hostId));
    const reason = "the agent's key is in use in two places, or its machine was set back";
    op.record({ detail: { host: host.name, reason, old_status: host.status } });
    services.log.error("a host is locked: the key of its agent is in use in two places", { host: host.name });
    await tellAdministrators(op, hostKeyCopied(services.policy.site, host), {
      about: "users",
      occasion: `host-copied:${hostId}:${services.clock.now().getTime()}`,
    });
  });
}
