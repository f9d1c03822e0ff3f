/** Removes data that is no longer needed: old audit records, and the leftovers of logins and mail. */

import { and, desc, eq } from "drizzle-orm";
import { DAY, shift } from "../../shared/time/clock.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import { audit, isAbout } from "../../store/schema-audit.ts";
import { purgeBatch, purgeLimit } from "../audit/retention.ts";
import { purgeResetTokens } from "../auth/administrators/admin-reset.ts";
import { purgeAttempts } from "../auth/codes/attempts.ts";
import { purgeCaptchas } from "../auth/codes/captchas.ts";
import { purgeCodes } from "../auth/codes/otp.ts";
import { purgeTickets } from "../auth/codes/tickets.ts";
import { purgeSessions } from "../auth/sessions/sessions.ts";
import { purgeLogins } from "../auth/sso/login-requests.ts";
import { purgeLogouts } from "../auth/sso/logout.ts";
import { purgeTokens } from "../auth/tokens/tokens.ts";
import { purgeDeliveries } from "../events/deliveries.ts";
import { tellAdministrators } from "../mail/administrators.ts";
import { auditPurged } from "../mail/audit-messages.ts";
import { purgeOutbox } from "../mail/outbox.ts";
import { audited } from "../operation/audited.ts";
import type { Context, Services } from "../operation/context.ts";
import { readSetting } from "../settings/settings.ts";
import { purgeQuestions } from "../sponsors/questions.ts";
import type { Heartbeat } from "./heartbeat.ts";

/** The record of a shortened retention is kept for this long, even if the retention is shorter then. */
const CHANGE_KEPT = 30 * DAY;

/**
 * Removes the audit records that are older than the retention as it is set now, oldest first, and returns how many; on
 * record, with a mail to the administrators. Does nothing while deletion is on hold; see `beat`. If it is interrupted, it
 * has removed a part, on record too, and the next call removes the rest.
 */
export async function purgeDue(context: Context, time: Heartbeat): Promise<number> {
  if (time.holdUntil !== undefined) return 0;
  const retention = await readSetting(context, context.db, "policy.audit_retention");
  const [limit, change] = [await purgeLimit(context, retention, time.now), await lastChange(context)];
  const before = change !== undefined && change < limit ? change : limit;
  let removed = 0;
  for (;;) {
    const batch = await purge(context, before);
    if (batch === 0) break;
    removed += batch;
  }
  if (removed === 0) return 0;
  context.log.info("audit records past their retention were removed", { removed, before: formatTimestamp(before) });
  const message = auditPurged(context.policy.site, { removed, before, retention });
  const occasion = `audit-purge:${formatTimestamp(time.now).slice(0, 10)}`;
  await context.db.transaction((tx) => tellAdministrators({ tx, context }, message, { about: "audit", occasion }));
  return removed;
}

/** One batch, and its record. */
function purge(context: Context, before: Date): Promise<number> {
  return audited(context, { action: "audit.purge" }, async (op) => {
    const purged = await purgeBatch(op.tx, context, before);
    if (purged === undefined) op.record({ unneeded: true });
    else op.record({ detail: { removed: purged.removed, before: formatTimestamp(before), up_to: purged.last } });
    return purged?.removed ?? 0;
  });
}

/** The time of the last change of the retention, while its record has to outlive the records it removes. */
async function lastChange({ db, clock }: Context): Promise<Date | undefined> {
  const [change] = await db
    .select({ at: audit.createdAt })
    .from(audit)
    .where(and(isAbout(["policy.audit_retention"], "settings.update"), eq(audit.result, "success")))
    .orderBy(desc(audit.id))
    .limit(1);
  return change !== undefined && change.at > shift(clock.now(), -CHANGE_KEPT) ? change.at : undefined;
}

/**
 * Removes sessions, codes, reset tokens, used captchas and tickets, locks, tokens, logins and logouts by single sign-on and finished mail once nobody can use
 * or ask about them.
 */
export async function cleanUp(services: Services): Promise<void> {
  await purgeSessions(services);
  await purgeCodes(services);
  await purgeResetTokens(services);
  await purgeCaptchas(services);
  await purgeTickets(services);
  await purgeAttempts(services);
  await purgeTokens(services);
  await purgeLogins(services);
  await purgeLogouts(services);
  await purgeDeliveries(services);
  await purgeOutbox(services);
  await purgeQuestions(services);
}
