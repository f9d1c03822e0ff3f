/** /audit: the audit log, as pages and as a file. /access: the access that it proves. /me/audit: a user's own. */

import type { AuditFilters, audit } from "../../../contract/audit.ts";
import { accessCsv } from "../../../domain/access/access-csv.ts";
import { pastAccessAt } from "../../../domain/access/past-access.ts";
import { listOwnAudit } from "../../../domain/audit/audit.ts";
import { recordRead } from "../../../domain/audit/reads.ts";
import { searchAudit } from "../../../domain/audit/search.ts";
import { exportAudit } from "../../../domain/exports/audit.ts";
import { UamError } from "../../../shared/errors.ts";
import { offsetOf } from "../../../shared/product/page.ts";
import {
  clampTimestamp,
  formatOptionalTimestamp,
  formatTimestamp,
  parseRangeStart,
  parseTimestamp,
} from "../../../shared/time/timestamp.ts";
import { accessRecord, auditRecord, searchedRecord } from "../../audit-records.ts";
import type { Handlers } from "../http/call.ts";
import { answerFile, csvFile, wantsCsv } from "./answer-file.ts";

export const auditHandlers: Handlers<typeof audit> = {
  "GET /access": async (call) => {
    const { web, context, session, query, request } = call;
    const at = query.at === undefined ? context.clock.now() : clampTimestamp(parseTimestamp(query.at, "at"));
    const { items, completeFrom, unknown } = await pastAccessAt(
      context,
      { at, host: query.host, company: query.company },
      web.exportPlaces,
    );
    await recordRead(context, session.token, web.auditReads);
    if (wantsCsv(request))
      return csvFile(request, `access-${formatTimestamp(at).replaceAll(":", "")}`, accessCsv(items));
    const offset = offsetOf(query.page);
    return {
      at: formatTimestamp(at),
      total: items.length,
      items: items.slice(offset, offset + query.page.pageSize).map(accessRecord),
      complete_from: formatOptionalTimestamp(completeFrom),
      unknown,
    };
  },

  "GET /audit": async ({ web, context, session, query }) => {
    const { total, items, searched } = await searchAudit(context, filterOf(query), query.page);
    await recordRead(context, session.token, web.auditReads);
    const found = { total, items: items.map(auditRecord) };
    return searched === undefined ? found : { ...found, searched: searchedRecord(searched) };
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

function filterOf({ q, user_id, resource_type, resource_id, since, until, ...same }: AuditFilters) {
  const { actor, action, result } = same;
  return {
    ...{ search: q, userId: user_id, actor, action, resourceType: resource_type, resourceId: resource_id, result },
    since: since === undefined ? undefined : clampTimestamp(parseRangeStart(since, "since")),
    until: until === undefined ? undefined : clampTimestamp(parseTimestamp(until, "until")),
  };
}

function deleted(): UamError {
  return new UamError("unauthorized", "The user of this session was deleted");
}
