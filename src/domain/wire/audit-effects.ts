/** Which audit records change the wanted state of hosts, and of which hosts. */

import { AUDIT_ACTIONS, hostEffectOf, isAuditAction, resourceTypeOf } from "../../shared/product/audit-actions.ts";
import type { AuditRow } from "../../store/schema-audit.ts";

/** The effect of a record on hosts. */
export type Touch =
  /** Something about a user's access: it concerns the hosts of the user. `regrants`: perhaps hosts that the user no longer has, too. */
  | { readonly kind: "user"; readonly user: number; readonly regrants: boolean }
  /** Something about a host itself, which is told everything anew. */
  | { readonly kind: "host"; readonly host: number }
  /** Group members or group settings changed. */
  | { readonly kind: "group"; readonly group: number }
  /** What the accounts that have it may do. */
  | { readonly kind: "profile"; readonly profile: number }
  /** Every host is told everything anew. */
  | { readonly kind: "all" };

/**
 * The effect of the record; undefined if there is none. Failed records count as well: a closing that could not finish is recorded as
 * failed, and has changed the stored state.
 */
export function touchOf({
  action,
  subjectId,
  resourceId,
}: Pick<AuditRow, "action" | "subjectId" | "resourceId">): Touch | undefined {
  const effect = hostEffectOf(action);
  if (effect === "none") return undefined;
  if (effect === "all") return { kind: "all" };
  if (effect === "host") return { kind: "host", host: Number(resourceId) };
  if (effect === "group") return { kind: "group", group: Number(resourceId) };
  if (effect === "profile") return { kind: "profile", profile: Number(resourceId) };
  return subjectId === null ? undefined : { kind: "user", user: subjectId, regrants: effect === "removal" };
}

/** Actions whose records concern hosts without a subject. */
export const WITHOUT_SUBJECT = AUDIT_ACTIONS.filter((action) =>
  ["host", "group", "profile", "all"].includes(hostEffectOf(action)),
);

/** Whether the subject may have other hosts, or the first ones, after it. */
export function maySetHosts(action: string): boolean {
  return ["new user", "removal"].includes(hostEffectOf(action));
}

/** Whether there may be other hosts, or groups, after it. */
export function mayChangeHosts(action: string): boolean {
  return !isAuditAction(action) || ["host", "host_group"].includes(resourceTypeOf(action));
}

/** Whether hosts may have to remove accounts after it. */
export function mayRemove(touch: Touch): boolean {
  return touch.kind === "group" || (touch.kind === "user" && touch.regrants);
}
