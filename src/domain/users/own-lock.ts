/** "This was not me": users shut their own account, and only an administrator opens it again. */

import { UamError } from "../../shared/errors.ts";
import { type Closed, disableAccess, owedSentence, shutOnHost, unfinished } from "../accounts/access.ts";
import { closingsOf, noteClosing } from "../accounts/closings.ts";
import { lockUser, type User } from "../accounts/find-user.ts";
import { voidCodes } from "../auth/codes/otp.ts";
import { endSessionsOf } from "../auth/sessions/sessions.ts";
import { tellAdministrators } from "../mail/administrators.ts";
import { queueMail } from "../mail/outbox.ts";
import { lockedByOwner, lockedByYou } from "../mail/request-messages.ts";
import { auditedClosing } from "../operation/audited.ts";
import type { ClosingOperation, Context } from "../operation/context.ts";

/**
 * Takes the user's own access away as disabling does, and ends every session of theirs with the service, even if the host or
 * the database fails afterwards. Mails the administrators and the user. Goes on if the account is missing on the host or is not
 * ours there. Throws `conflict` for a user who is already disabled or is being deleted. Throws `internal`, saying what holds,
 * if a step failed on the host; that is owed.
 */
export function lockOwnAccount(context: Context, userId: number): Promise<User> {
  const entry = { action: "user.lock", resourceId: String(userId), subjectId: userId } as const;
  return auditedClosing(context, entry, async (op) => {
    const user = await lockUser(op.tx, userId);
    const { username } = user;
    op.about({ detail: { username } });
    // An expired user is disabled too: otherwise an extension would open the account again.
    if (user.disabledAt !== null)
      throw new UamError("conflict", `${username} is disabled already`, { reason: "user.not_active" });
    if ((await closingsOf(op.tx, userId)).some(({ kind }) => kind === "remove")) {
      throw new UamError("conflict", `${username} is being deleted`, { reason: "user.deleting" });
    }
    const note = await noteClosing(context, { userId, kind: "shut", action: "user.lock" });
    const closed = await lockAccess(op, user, { note, at: context.clock.now() });
    if (closed.owed.length > 0) op.refuse(owedSentence(`${username} is ${closed.user.status}`, closed));
    return closed.user;
  });
}

/** Does the noted lock, or continues it after a crash: the record and the mails follow in the name of the user. */
export async function lockAccess(
  op: ClosingOperation,
  user: User,
  { note, at }: { readonly note: number; readonly at: Date },
): Promise<Closed> {
  const { actor, policy } = op.context;
  op.begun(unfinished(user));
  const [shut, ended] = await Promise.allSettled([shutOnHost(op, user), endLogins(op.context, user)]);
  if (ended.status === "rejected") throw ended.reason;
  if (shut.status === "rejected") throw shut.reason;
  const closed = await disableAccess(op, user, { note, at, mailed: true, shut: shut.value });
  const facts = { at, from: actor.ip, owed: closed.owed };
  await tellAdministrators(op, lockedByOwner(policy.site, user, facts), {
    about: "users",
    occasion: `locked:${user.id}:${at.getTime()}`,
  });
  await queueMail(op, { recipient: user.email, message: lockedByYou(policy.site, user, facts) });
  op.record({ detail: { status: closed.user.status } });
  return closed;
}

/**
 * Committed at once. After the note nobody can log in as the user, and locking the code's row waits for logins under way:
 * no session comes after these are ended.
 */
async function endLogins({ autocommit }: Context, user: User): Promise<void> {
  await voidCodes(autocommit, [user.username]);
  await endSessionsOf(autocommit, "user", user.id);
}
