/** /audit: the audit log, as pages and as a file. /me/audit: a user's own. */

import * as v from "valibot";
import { AUDIT_ACTIONS, RESOURCE_TYPES } from "../shared/product/audit-actions.ts";
import { ACTOR_TYPES, RESULTS } from "../shared/product/statuses.ts";
import {
  described,
  exportFormat,
  id,
  idNumber,
  PageQuery,
  pageFields,
  pageIn,
  pageOf,
  text,
  timestamp,
} from "./fields.ts";
import { EXPORT_REFUSALS, EXPORTED, externalUsers, FILE_SENT, owners, type Routes } from "./route.ts";

/** A point in time within a query. */
function boundary(description: string) {
  return v.optional(described("2026-11-20T08:00:00Z", `${description}, inclusive; RFC 3339`, { format: "date-time" }));
}

const auditFilters = {
  actor: v.optional(text("root-admin", "Exactly this actor")),
  action: v.optional(v.picklist(AUDIT_ACTIONS)),
  resource_type: v.optional(v.picklist(RESOURCE_TYPES)),
  resource_id: v.optional(text("7")),
  user_id: v.optional(idNumber("Everything that concerns this user, deleted or not")),
  since: boundary("Not before"),
  until: boundary("Not after"),
};

export const AuditQuery = v.pipe(v.object({ ...pageFields, ...auditFilters }), v.transform(pageIn));

export const AuditExportQuery = v.object({ ...auditFilters, format: exportFormat });

/** Which records a list or an export has. */
export type AuditFilters = v.InferOutput<typeof AuditExportQuery>;

export const AuditRecord = v.pipe(
  v.object({
    id,
    created_at: timestamp,
    actor_type: v.picklist(ACTOR_TYPES),
    actor: described("root-admin"),
    action: v.pipe(v.picklist(AUDIT_ACTIONS), v.examples(["user.create"])),
    resource_type: v.picklist([...RESOURCE_TYPES, ""]),
    resource_id: described("7", "Empty where there is none"),
    detail: described('{"username":"alice"}', "A JSON object as text"),
    result: v.picklist(RESULTS),
    ip: described("192.0.2.1", "Empty if no client was involved"),
  }),
  v.title("AuditRecord"),
);

export const audit = {
  "GET /audit": {
    operationId: "listAudit",
    summary: "Read the audit log",
    description: "Newest first. All given filters must match.",
    who: owners,
    query: AuditQuery,
    answer: pageOf(AuditRecord),
  },
  "GET /audit/export": {
    operationId: "exportAudit",
    summary: "Export the audit log as CSV or JSON lines",
    description: `Oldest first. All given filters must match. ${EXPORTED}`,
    who: owners,
    query: AuditExportQuery,
    success: FILE_SENT,
    refusals: EXPORT_REFUSALS,
    reasons: ["service.busy"],
  },
  "GET /me/audit": {
    operationId: "listOwnAudit",
    summary: "Read your own audit trail",
    description: "Newest first: what the caller did, and what was done to the caller or the caller's keys.",
    who: externalUsers,
    query: PageQuery,
    answer: pageOf(AuditRecord),
  },
} as const satisfies Routes;
