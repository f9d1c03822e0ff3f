/** Mails the administrators the head of the audit log, out of reach of an attacker who could rewrite the log. */

import { min } from "drizzle-orm";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import { audit } from "../../store/schema-audit.ts";
import { auditHead, describeHead } from "../audit/head.ts";
import { tellAdministrators } from "../mail/administrators.ts";
import { auditHead as letterOf } from "../mail/messages.ts";
import type { Services } from "../operation/context.ts";

/**
 * Mails the head to each administrator, once a day however often it is called. Making the first administrator is a record, so the log is
 * not empty where there is anybody to tell.
 */
export async function mailAuditHead(services: Services): Promise<void> {
  const { db, clock, policy } = services;
  const head = await auditHead({ db });
  const [oldest] = await db.select({ id: min(audit.id) }).from(audit);
  const at = clock.now();
  const message = letterOf(policy.site, { at, count: head.id - (oldest?.id ?? head.id) + 1, head: describeHead(head) });
  const day = formatTimestamp(at).slice(0, 10);
  await db.transaction((tx) =>
    tellAdministrators({ tx, context: services }, message, { about: "audit", occasion: `audit-head:${day}` }),
  );
}
