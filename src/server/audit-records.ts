/** What the audit log has and proves, as the records that the API and the command line show. */

import type { KnownAccess } from "../domain/access/past-access.ts";
import type { ShownRecord } from "../domain/audit/audit.ts";
import type { Searched } from "../domain/audit/search.ts";
import type { AuditAction, ResourceType } from "../shared/product/audit-actions.ts";
import { formatOptionalTimestamp, formatTimestamp } from "../shared/time/timestamp.ts";

export function auditRecord(row: ShownRecord) {
  return {
    id: row.id,
    created_at: formatTimestamp(row.createdAt),
    actor_type: row.actorType,
    actor: row.actor,
    action: row.action as AuditAction,
    resource_type: row.resourceType as ResourceType | "",
    resource_id: row.resourceId,
    detail: row.detail,
    result: row.result,
    ip: row.ip,
  };
}

/** How far a search of the log has looked. */
export function searchedRecord({ records, since, isComplete }: Searched) {
  return { records, since: formatOptionalTimestamp(since), complete: isComplete };
}

/** An account that could be logged in to, as the API gives it. */
export function accessRecord({ userId, username, isDeleted, host, until, ...rest }: KnownAccess) {
  const { fingerprints, decidedBy, profile } = rest;
  const who = { user_id: userId, username, deleted: isDeleted };
  const whence = { decided_by: decidedBy, profile };
  return { ...who, host, until: formatTimestamp(until), fingerprints: [...fingerprints], ...whence };
}
