/** An account that differed on a remote host: recorded, and mailed if it should have been shut. */

import type { HostProblem } from "../../protocol/fleet.ts";
import { withoutPrefix } from "../../shared/text/account-name.ts";
import { accountOf } from "../accounts/account.ts";
import { findUserByName } from "../accounts/find-user.ts";
import type { AdmittedHost } from "../hosts/host-row.ts";
import { tellAdministrators } from "../mail/administrators.ts";
import { closedAccountDiffered } from "../mail/agent-messages.ts";
import { audited } from "../operation/audited.ts";
import { type Services, systemContext } from "../operation/context.ts";

/** Records what the agent found. */
export async function recordDrift(
  services: Services,
  host: Pick<AdmittedHost, "id" | "name">,
  { account, text }: Pick<HostProblem, "account" | "text">,
): Promise<void> {
  const username = withoutPrefix(account);
  const detail = { host: host.name, ...(account === "" ? {} : { username }), found: text };
  await audited(systemContext(services), { action: "host.drift", resourceId: String(host.id), detail }, async (op) => {
    if (account === "") return;
    const now = services.clock.now();
    const user = await findUserByName(op.tx, username);
    if (user !== undefined && (await accountOf(op.tx, user, now)).open) return;
    await tellAdministrators(
      op,
      closedAccountDiffered(services.policy.site, { host: host.name, account, found: text }),
      {
        about: "users",
        // The host's owner may cause it as often as they like; once an hour is enough to know.
        occasion: `drift:${host.id}:${account}:${Math.floor(now.getTime() / 3_600_000)}`,
      },
    );
  });
}
