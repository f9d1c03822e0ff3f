/** /audit: the audit log, as pages and as a CSV file. /me/audit: a user's own. */

import type { audit } from "../../../contract/audit.ts";
import { listAudit, listOwnAudit } from "../../../domain/audit/audit.ts";
import { exportAudit } from "../../../domain/exports/audit.ts";
import { UamError } from "../../../shared/errors.ts";
import { clampTimestamp, parseRangeStart, parseTimestamp } from "../../../shared/time/timestamp.ts";
import { auditRecord } from "../../records.ts";
import type { Handlers } from "../http/call.ts";
import { answerFile } from "./answer-file.ts";

export const auditHandlers: Handlers<typeof audit> = {
  "GET /audit": async ({ context, query }) => {
    const filter = {
      userId: query.user_id,
      actor: query.actor,
      action: query.action,
      resourceType: query.resource_type,
      resourceId: query.resource_id,
      ...rangeOf(query),
    };
    const { total, items } = await listAudit(context, filter, query.page);
    return { total, items: items.map(auditRecord) };
  },

  "GET /audit/export": async ({ web, context, query, request }) => {
    const range = rangeOf(query);
    return await answerFile({ request, context, query: { format: "csv" } }, "audit", () =>
      exportAudit(context, range, web.exportPlaces),
    );
  },

  "GET /me/audit": async ({ context, session, query }) => {
    if (session.principal.email === undefined) throw deleted();
    const { total, items } = await listOwnAudit(context, session.principal.id, query.page);
    return { total, items: items.map(auditRecord) };
  },
};

function rangeOf({ since, until }: { readonly since?: string | undefined; readonly until?: string | undefined }) {
  return {
    since: since === undefined ? undefined : clampTimestamp(parseRangeStart(since, "since")),
    until: until === undefined ? undefined : clampTimestamp(parseTimestamp(until, "until")),
  };
}

function deleted(): UamError {
  return new UamError("unauthorized", "The user of this session was deleted");
}
