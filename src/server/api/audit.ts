/** /audit: the audit log for administrators, as pages and as a CSV file. */

import { Elysia } from "elysia";
import { AuditQuery, AuditRecord, ExportQuery } from "../../contract/audit.ts";
import { listAudit } from "../../domain/audit/audit.ts";
import { exportAudit } from "../../domain/audit/csv.ts";
import { clampTimestamp, parseRangeStart, parseTimestamp } from "../../shared/timestamp.ts";
import { auditRecord } from "../records.ts";
import { requireSession } from "./elysia.ts";
import { infoOf } from "./request.ts";
import { paged, responses } from "./schemas.ts";
import type { Web } from "./web.ts";

export function auditRoutes(web: Web) {
  return new Elysia({ prefix: "/audit" })
    .use(requireSession(web, "admin", "owner"))
    .get(
      "/",
      async ({ context, query }) => {
        const filter = {
          userId: query.user_id,
          actor: query.actor,
          action: query.action,
          resourceType: query.resource_type,
          resourceId: query.resource_id,
          ...rangeOf(query),
        };
        const { total, items } = await listAudit(context, filter, { page: query.page, pageSize: query.page_size });
        return { data: { total, items: items.map(auditRecord) } };
      },
      {
        query: AuditQuery,
        response: responses(paged(AuditRecord), 400, 401, 403),
        detail: {
          operationId: "listAudit",
          summary: "Read the audit log",
          description: "Newest first. All given filters must match.",
        },
      },
    )
    .get(
      "/export",
      async ({ context, query, request }) => {
        const range = rangeOf(query);
        const headers = {
          "content-type": "text/csv; charset=utf-8",
          "content-disposition": `attachment; filename="audit-${context.clock.now().toISOString().slice(0, 10)}.csv"`,
        };
        if (request.method === "HEAD") return new Response(null, { headers });
        const file = await exportAudit(context, range, web.exportPlaces);
        // It waits for the database and for its reader while it is written.
        infoOf(request).hold(0);
        return new Response(file, { headers });
      },
      {
        query: ExportQuery,
        detail: {
          operationId: "exportAudit",
          summary: "Export the audit log as CSV",
          description:
            "Oldest first, UTF-8 with a byte order mark. Text that a spreadsheet would take for a formula begins with an apostrophe.",
          responses: {
            200: csvFile,
            429: { description: "Two exports are already running; Retry-After says when to try again" },
            500: { description: "The query failed before the file began. A failure after that ends the file early" },
          },
        },
      },
    );
}

/** For the document: what a successful export is. */
const csvFile = {
  description: "The file; its first line names the columns, which are those of an audit record",
  headers: { "Content-Disposition": { schema: { type: "string" as const } } },
  content: { "text/csv": { schema: { type: "string" as const } } },
};

function rangeOf({ since, until }: { readonly since?: string | undefined; readonly until?: string | undefined }) {
  return {
    since: since === undefined ? undefined : clampTimestamp(parseRangeStart(since, "since")),
    until: until === undefined ? undefined : clampTimestamp(parseTimestamp(until, "until")),
  };
}
