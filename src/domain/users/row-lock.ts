/** The user whom a change is about, under their lock, as every change to a user begins. */

import { lockUser } from "../accounts/find-user.ts";
import type { Operation } from "../operation/context.ts";
import { parseReason, reasonDetail, requireUnchanged } from "./changeable.ts";

/** The options of a change to a user. */
export interface ChangeOptions {
  /** Why, for the audit record. */
  readonly reason?: string | undefined;
  /** The user's `updatedAt`, if they must not have been changed since: then it is refused with `conflict`. */
  readonly unchangedSince?: Date | undefined;
}

/** The user under its row lock, and the parsed reason; the record has both even if the operation fails. */
export async function lockUserFor(
  op: Pick<Operation, "tx" | "about">,
  userId: number,
  { reason: why = "", unchangedSince }: ChangeOptions,
) {
  const user = await lockUser(op.tx, userId);
  op.about({ detail: { username: user.username } });
  const reason = parseReason(why);
  op.about({ detail: reasonDetail(reason) });
  requireUnchanged(user, unchangedSince);
  return { user, reason };
}

type UserAction = "user.disable" | "user.enable" | "user.extend" | "user.shorten" | "user.delete";

/** The entry of a record about a user. */
export function userEntry<A extends UserAction>(action: A, userId: number) {
  return { action, resourceId: String(userId), subjectId: userId } as const;
}
