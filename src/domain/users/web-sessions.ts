/** A user's sessions with the service: an administrator ends them. Ending logins by SSH is in ssh-sessions.ts. */

import { lockUser, type User } from "../accounts/find-user.ts";
import { voidCodes } from "../auth/codes/otp.ts";
import { endSessionsOf } from "../auth/sessions/sessions.ts";
import { audited } from "../operation/audited.ts";
import type { Context, Operation } from "../operation/context.ts";

/**
 * Ends every session of the user with the service, and returns how many; a code that was sent is void. They can log in again where their
 * status lets them. Throws `not_found`.
 */
export function endWebSessions(context: Context, userId: number): Promise<number> {
  const entry = { action: "user.end_sessions", resourceId: String(userId), subjectId: userId } as const;
  return audited(context, entry, async (op) => {
    const user = await lockUser(op.tx, userId);
    op.about({ detail: { username: user.username } });
    const sessions = await endLoginsOf(op, user);
    op.record({ detail: { sessions } });
    return sessions;
  });
}

/**
 * The same as a part of a change of the user, under the row lock. Voids the code first, because its row waits for a login with it that is
 * under way.
 */
export async function endLoginsOf({ tx }: Operation, { id, username }: User): Promise<number> {
  await voidCodes(tx, [username]);
  return await endSessionsOf(tx, "user", id);
}
