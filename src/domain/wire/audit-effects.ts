/** Which audit records change what a host should be, and whose. */

import type { AuditRow } from "../../store/schema-audit.ts";

/** What a record means for hosts. */
export type Touch =
  /** Something about a user's access: it concerns the hosts of the user. `regrants`: perhaps hosts that the user no longer has, too. */
  | { readonly kind: "user"; readonly user: number; readonly regrants: boolean }
  /** Something about a host itself, which is told everything anew. */
  | { readonly kind: "host"; readonly host: number }
  /** Which hosts are in a group, or what holds for them. */
  | { readonly kind: "group"; readonly group: number }
  /** Every host is told everything anew. */
  | { readonly kind: "all" };

/** Records about a user that change nothing on any host; one of an action that is not known here is taken for one that does. */
const HARMLESS = /^(?:auth\.|approval\.|extension\.|session\.|key\.rename$|host\.|fleet\.|token\.|admin\.|service\.)/;
/** After which a host may have to remove an account. */
const REGRANTS: ReadonlySet<string> = new Set(["user.delete", "lifecycle.recycle", "user.grant"]);
const ABOUT_HOST: ReadonlySet<string> = new Set(["host.lock", "host.unlock", "host.update", "host.retire"]);

/**
 * What the record means; undefined if nothing. Failed ones count as well: a closing that could not finish is recorded as failed, and has
 * changed what is stored.
 */
export function touchOf({
  action,
  subjectId,
  resourceId,
}: Pick<AuditRow, "action" | "subjectId" | "resourceId">): Touch | undefined {
  if (action === "fleet.accept") return { kind: "all" };
  const number = Number(resourceId);
  if (ABOUT_HOST.has(action)) return { kind: "host", host: number };
  if (action.startsWith("host_group.")) return { kind: "group", group: number };
  if (subjectId === null || HARMLESS.test(action)) return undefined;
  return { kind: "user", user: subjectId, regrants: REGRANTS.has(action) };
}

/** Whether hosts may have to remove accounts after it. */
export function mayRemove(touch: Touch): boolean {
  return touch.kind === "group" || (touch.kind === "user" && touch.regrants);
}
