/** /audit: the audit log, as pages and as a file. /access: the access that it proves. /me/audit: a user's own. */

import * as v from "valibot";
import { AUDIT_ACTIONS, RESOURCE_TYPES } from "../shared/product/audit-actions.ts";
import { MEDIA_TYPES } from "../shared/product/export-formats.ts";
import { MAX_SEARCH, MOST_SEARCHED } from "../shared/product/limits.ts";
import { ACTOR_TYPES, RESULTS } from "../shared/product/statuses.ts";
import {
  count,
  described,
  expiry,
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
import { EXPORT_REFUSALS, EXPORTED, externalUsers, FILE_SENT, operators, owners, type Routes } from "./route.ts";

/** A point in time within a query. */
function boundary(description: string) {
  return v.optional(described("2026-11-20T08:00:00Z", `${description}, inclusive; RFC 3339`, { format: "date-time" }));
}

const auditFilters = {
  q: v.optional(
    text("lindqvist", "A part of actor, resource id, client address or a value of the detail, in any case", {
      maxLength: MAX_SEARCH,
    }),
  ),
  actor: v.optional(text("root-admin", "Exactly this actor")),
  action: v.optional(v.picklist(AUDIT_ACTIONS)),
  resource_type: v.optional(v.picklist(RESOURCE_TYPES)),
  resource_id: v.optional(text("7")),
  result: v.optional(v.picklist(RESULTS)),
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

export const AccessQuery = v.pipe(
  v.object({
    ...pageFields,
    at: v.optional(
      described("2026-11-20T08:00:00Z", "The moment, not in the future; RFC 3339. By default, now", {
        format: "date-time",
      }),
    ),
    host: v.optional(text("web1", "Only this host, by the name that it had then")),
    company: v.optional(text("Lindqvist AB", "Only users of this company, by the name that it had then")),
  }),
  v.transform(pageIn),
);

export const AccessList = v.pipe(
  v.object({
    at: timestamp,
    total: count(1),
    items: v.array(
      v.object({
        user_id: id,
        username: described("alice"),
        deleted: v.pipe(v.boolean(), v.description("Whether the user has been deleted since"), v.examples([false])),
        host: described("web1", "The host's name at that moment"),
        until: expiry,
        fingerprints: v.pipe(
          v.array(described("SHA256:5vEqGQX4lyMmCHq8fJ0RyGPzMXeRMVzXnJWgQvIvMk8")),
          v.description("Of the keys that counted, oldest first"),
        ),
        decided_by: described("root-admin", "Who created, enabled or extended the user last"),
        profile: described(
          "drop-box: may copy files to and from /data/acme, nothing else",
          "What they could do there, by their profile and those of the groups by which they came there; the narrowest counted. Empty: not restricted",
        ),
      }),
    ),
    complete_from: v.pipe(
      v.nullable(timestamp),
      v.description(
        "For this moment and later ones the answer is complete; null if users were created before the oldest record and still exist",
      ),
    ),
    unknown: v.pipe(
      v.number(),
      v.integer(),
      v.description("How many users the answer may lack, because they were created before the oldest record"),
      v.examples([0]),
    ),
  }),
  v.title("AccessList"),
);

const FoundRecords = v.object({
  ...pageOf(AuditRecord).entries,
  searched: v.optional(
    v.pipe(
      v.object({
        records: v.pipe(
          count(MOST_SEARCHED),
          v.description(
            "How many of the records that match the other filters; with `result=failed`, of those that failed",
          ),
        ),
        since: v.pipe(v.nullable(timestamp), v.description("When the oldest of them was written; null for none")),
        complete: v.pipe(v.boolean(), v.description("Whether these are all"), v.examples([false])),
      }),
      v.title("Searched"),
      v.description("How far `q` and `result` were looked for; only with one of them"),
    ),
  ),
});

/** Of routes that show what the log says of others. */
const READ_RECORDED =
  "That somebody has read the log is on record before they get the answer, once for each session or token and hour.";

export const audit = {
  "GET /access": {
    operationId: "listAccess",
    summary: "Find out who could log in at a moment of the past",
    description: `By username and host: every account that could be logged in to at that moment, told from the audit log alone. Users without a key that counted are not in it, nor who had not started, was outside of hours, or was on request and allowed nothing; \`until\` is the end of the account, or of what was allowed. What a host with an agent had not heard of yet counts as done. With \`Accept: text/csv\` it is a file, without pages. ${READ_RECORDED}`,
    who: operators,
    query: AccessQuery,
    answer: AccessList,
    alsoAs: [MEDIA_TYPES.csv],
    refusals: { 429: "It reads all of the log, and two such questions or exports are already running" },
    reasons: ["service.busy", "audit.unrecorded"],
  },
  "GET /audit": {
    operationId: "listAudit",
    summary: "Read the audit log",
    description: `Newest first. All given filters must match. \`q\`, literally, and \`result\` are looked for among at most ${MOST_SEARCHED} records, the newest that match the other filters or, with \`result=failed\`, the newest that failed; \`total\` counts what is found there. Send \`until\` with \`searched.since\` to look further. The export looks through all records. ${READ_RECORDED}`,
    who: owners,
    query: AuditQuery,
    answer: FoundRecords,
    reasons: ["audit.unrecorded"],
  },
  "GET /audit/export": {
    operationId: "exportAudit",
    summary: "Export the audit log as CSV or JSON lines",
    description: `Oldest first. All given filters must match. ${EXPORTED}`,
    who: owners,
    query: AuditExportQuery,
    success: FILE_SENT,
    refusals: EXPORT_REFUSALS,
    reasons: ["service.busy", "audit.unrecorded"],
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
