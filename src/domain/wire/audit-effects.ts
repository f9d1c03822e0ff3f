/** Which audit records change the wanted state of hosts, and of which hosts. */

import type { AuditRow } from "../../store/schema-audit.ts";

/** The effect of a record on hosts. */
export type Touch =
  /** Something about a user's access: it concerns the hosts of the user. `regrants`: perhaps hosts that the user no longer has, too. */
  | { readonly kind: "user"; readonly user: number; readonly regrants: boolean }
  /** Something about a host itself, which is told everything anew. */
  | { readonly kind: "host"; readonly host: number }
  /** Group members or group settings changed. */
  | { readonly kind: "group"; readonly group: number }
  /** Every host is told everything anew. */
  | { readonly kind: "all" };

/** Records about a user that change nothing on any host. A record with an unknown action counts as one that does. */
const HARMLESS = /^(?:auth\.|approval\.|extension\.|session\.|key\.rename$|host\.|fleet\.|token\.|admin\.|service\.)/;
/** Actions after which a host may have to remove an account. */
const REGRANTS: ReadonlySet<string> = new Set(["user.delete", "lifecycle.recycle", "user.grant"]);
const ABOUT_HOST: ReadonlySet<string> = new Set(["host.lock", "host.unlock", "host.update", "host.retire"]);

/**
 * The effect of the record; undefined if there is none. Failed records count as well: a closing that could not finish is recorded as
 * failed, and has changed the stored state.
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
