/**
 * Brings forward the end of a user's access. That only goes forward, as any closing does: it is noted first, and steps that fail on the
 * host are owed.
 */

import { formatTimestamp } from "../../shared/time/timestamp.ts";
import { faultPoint } from "../../shared/work/fault-point.ts";
import { tellShortened } from "../mail/notices.ts";
import type { ClosingOperation } from "../operation/context.ts";
import { storeUser } from "./access.ts";
import { accountOf } from "./account.ts";
import { type Closing, type ClosingReason, noteClosing, oweClosing, settleClosing } from "./closings.ts";
import { isExpired, type User } from "./find-user.ts";
import { takePartOnHost } from "./part-on-host.ts";
import { noteFleetChange } from "./remote-changes.ts";

/** How bringing forward an end went. */
export interface Shortened {
  readonly user: User;
  /** Remaining work, which is retried; empty if all is done. */
  readonly owed: readonly string[];
}

/**
 * Stores the earlier end even if the host fails, and has sshd refuse the keys from then on. `by` is why, to be recorded if the
 * process dies before that, or the note of an earlier attempt.
 */
async function shortenAccess(
  op: ClosingOperation,
  user: User,
  { expireAt, by }: { readonly expireAt: Date; readonly by: ClosingReason | Closing },
): Promise<Shortened> {
  const about = { userId: user.id, kind: "shorten", keyId: 0, networks: [], expireAt } as const;
  // Read the account before reporting that the closing began: from there on, the host part finishes even if the
  // database fails.
  const account = await accountOf(op.tx, user, op.context.clock.now(), [about]);
  const note = "id" in by ? by.id : await noteClosing(op.context, { ...about, ...by, action: "user.shorten" });
  op.begun(unfinished(user, []));
  const owed = await takePartOnHost(op, user, account, {
    take: (host, shortened) => host.shortenAccount(shortened),
    failure: "the end of access could not be brought forward on the host; this will be retried",
  });
  op.begun(unfinished(user, owed));
  faultPoint("closing: host done, not stored");
  const shortened = await storeUser(op, user, { expireAt });
  await noteFleetChange(op, user);
  const isTold = "id" in by && by.action === "";
  if (!isTold && !isExpired(shortened, op.context.clock.now())) await tellShortened(op, shortened, user.expireAt);
  if (owed.length === 0) await settleClosing(op.tx, note);
  else await oweClosing(op, note, { user, owed, recorded: true });
  return { user: shortened, owed };
}

/** Continues what was interrupted or is still owed; returns the remaining work. */
export async function finishShortening(op: ClosingOperation, user: User, noted: Closing): Promise<readonly string[]> {
  const { expireAt } = noted;
  if (expireAt === null) throw new Error("an end that is brought forward is not noted");
  const { owed } = await shortenAccess(op, user, { expireAt, by: noted });
  if (noted.action === "") {
    op.record({ detail: { found: noted.problem, done: "what was left of bringing forward the end of access" } });
    if (owed.length > 0) op.record({ unneeded: true });
    return owed;
  }
  recordShortening(op, { before: user, expireAt, owed });
  return [];
}

/** Brings the end forward as `shortenAccess` does; the closing is refused with a sentence if something is left to do. */
export async function shortenOnRecord(
  op: ClosingOperation,
  user: User,
  { expireAt, ...by }: { readonly expireAt: Date } & ClosingReason,
): Promise<User> {
  const shortened = await shortenAccess(op, user, { expireAt, by });
  recordShortening(op, { before: user, expireAt, owed: shortened.owed });
  return shortened.user;
}

function recordShortening(
  op: ClosingOperation,
  { before, expireAt, owed }: { readonly before: User; readonly expireAt: Date; readonly owed: readonly string[] },
): void {
  op.record({ detail: { old_expire_at: formatTimestamp(before.expireAt), expire_at: formatTimestamp(expireAt) } });
  if (owed.length > 0) op.refuse(shorteningOwed(before, owed));
}

/** The message for the caller when the end is stored, but the host could not do all of it. */
function shorteningOwed({ username }: User, owed: readonly string[]): string {
  return `The new end of ${username} is stored, but the host alone may still let them in after it until this is done. Left to do, and tried again until it is done: ${owed.join(". ")}`;
}

/** The message to the caller if the database fails meanwhile. */
function unfinished({ username }: User, owed: readonly string[]): string {
  const now = owed.length > 0 ? " The host alone may still let them in after it until this is done." : "";
  return `The end of ${username} is being brought forward, but the database failed before this could be recorded.${now} It will not be put back: the change is finished and recorded once the database is available.`;
}
