/** Getting rid of what is of no more use: old audit records, and what logging in and mail leave behind. */

import { shift } from "../../shared/clock.ts";
import { formatTimestamp } from "../../shared/timestamp.ts";
import { purgeAudit } from "../audit/retention.ts";
import { purgeResetTokens } from "../auth/admin-reset.ts";
import { purgeAttempts } from "../auth/attempts.ts";
import { purgeCaptchas } from "../auth/challenges.ts";
import { purgeCodes } from "../auth/otp.ts";
import { purgeSessions } from "../auth/sessions.ts";
import { purgeOutbox } from "../mail/outbox.ts";
import type { Services } from "../operation/context.ts";
import { readSetting } from "../settings/settings.ts";
import type { Heartbeat } from "./heartbeat.ts";

/**
 * Removes the audit records that are older than the retention as it is set now, oldest first, and returns how many. Does
 * nothing while deleting has to wait; see `beat`.
 */
export async function purgeDue(services: Services, time: Heartbeat): Promise<number> {
  if (time.holdUntil !== undefined) return 0;
  const before = shift(time.now, -(await readSetting(services, services.db, "policy.audit_retention")));
  const removed = await purgeAudit(services, before);
  if (removed > 0)
    services.log.info("audit records past their retention were removed", { removed, before: formatTimestamp(before) });
  return removed;
}

/** Removes sessions, codes, reset tokens, used captchas, locks and finished mail that nobody can use or ask about any more. */
export async function cleanUp(services: Services): Promise<void> {
  await purgeSessions(services);
  await purgeCodes(services);
  await purgeResetTokens(services);
  await purgeCaptchas(services);
  await purgeAttempts(services);
  await purgeOutbox(services);
}
