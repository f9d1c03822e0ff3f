/** The audit log, in requests and answers. */

import * as v from "valibot";
import { AUDIT_ACTIONS, RESOURCE_TYPES } from "../shared/audit-actions.ts";
import { ACTOR_TYPES, RESULTS } from "../shared/statuses.ts";
import { described, id, idNumber, pageFields, text, timestamp } from "./fields.ts";

const rangeFields = { since: boundary("Not before"), until: boundary("Not after") };

/** A point in time within a query. */
function boundary(description: string) {
  return v.optional(described("2026-11-20T08:00:00Z", `${description}, inclusive; RFC 3339`, { format: "date-time" }));
}

export const AuditQuery = v.object({
  ...pageFields,
  actor: v.optional(text("root-admin", "Exactly this actor")),
  action: v.optional(v.picklist(AUDIT_ACTIONS)),
  resource_type: v.optional(v.picklist(RESOURCE_TYPES)),
  resource_id: v.optional(text("7")),
  user_id: v.optional(idNumber("Everything that concerns this user, deleted or not")),
  ...rangeFields,
});

export const ExportQuery = v.object(rangeFields);

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
