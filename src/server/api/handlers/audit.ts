/** /audit: the audit log, as pages and as a file. /me/audit: a user's own. */

import type { AuditFilters, audit } from "../../../contract/audit.ts";
import { listAudit, listOwnAudit } from "../../../domain/audit/audit.ts";
import { exportAudit } from "../../../domain/exports/audit.ts";
import { UamError } from "../../../shared/errors.ts";
import { clampTimestamp, parseRangeStart, parseTimestamp } from "../../../shared/time/timestamp.ts";
import { auditRecord } from "../../records.ts";
import type { Handlers } from "../http/call.ts";
import { answerFile } from "./answer-file.ts";

export const auditHandlers: Handlers<typeof audit> = {
  "GET /audit": async ({ context, query }) => {
    const { total, items } = await listAudit(context, filterOf(query), query.page);
    return { total, items: items.map(auditRecord) };
  },

  "GET /audit/export": async (call) => {
    const { web, context, query } = call;
    const filter = filterOf(query);
    return await answerFile(call, "audit", (format) =>
      exportAudit(context, filter, { format, places: web.exportPlaces }),
    );
  },

  "GET /me/audit": async ({ context, session, query }) => {
    if (session.principal.email === undefined) throw deleted();
    const { total, items } = await listOwnAudit(context, session.principal.id, query.page);
    return { total, items: items.map(auditRecord) };
  },
};

function filterOf({ user_id, actor, action, resource_type, resource_id, since, until }: AuditFilters) {
  return {
    ...{ userId: user_id, actor, action, resourceType: resource_type, resourceId: resource_id },
    since: since === undefined ? undefined : clampTimestamp(parseRangeStart(since, "since")),
    until: until === undefined ? undefined : clampTimestamp(parseTimestamp(until, "until")),
  };
}

function deleted(): UamError {
  return new UamError("unauthorized", "The user of this session was deleted");
}
