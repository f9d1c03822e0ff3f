/** The mail that tells a user of the account, where it was not sent when the user was created. */

import { and, asc, eq, gt, isNotNull } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { users } from "../../store/schema.ts";
import { lockUser, statusAt, type User } from "../accounts/find-user.ts";
import { accountCreated } from "../mail/messages.ts";
import { queueMail } from "../mail/outbox.ts";
import { siteWithKeys } from "../mail/site.ts";
import { audited } from "../operation/audited.ts";
import type { Context } from "../operation/context.ts";

/**
 * Sends the user the welcome that waits, once however often it is asked for. Throws `conflict` if none waits, and for a user who could not
 * log in.
 */
export async function welcomeUser(context: Context, userId: number): Promise<User> {
  const entry = { action: "user.welcome", resourceId: String(userId), subjectId: userId } as const;
  return await audited(context, entry, async (op) => {
    const user = await lockUser(op.tx, userId);
    const { username, email } = user;
    op.about({ detail: { username } });
    if (user.welcomePendingSince === null) {
      throw new UamError("conflict", `${username} has been welcomed already`, { reason: "user.welcomed" });
    }
    const now = context.clock.now();
    const status = statusAt(user, now);
    if (status !== "active") {
      const sentence = `${username} is ${status}: the mail would tell them of access that they do not have`;
      throw new UamError("conflict", sentence, { reason: "user.not_active" });
    }
    // The mail says until when the account lasts: no reminder says the same within a day.
    const welcomed = { welcomePendingSince: null, expiryMailedAt: now, updatedAt: now };
    await op.tx.update(users).set(welcomed).where(eq(users.id, userId));
    await queueMail(op, { recipient: email, message: accountCreated(await siteWithKeys(context), user) });
    op.record({ detail: { email } });
    return { ...user, ...welcomed };
  });
}

/** The active users whose welcome waits, in the order in which they were created. */
export async function listUnwelcomed({ db, clock }: Context): Promise<readonly { readonly id: number }[]> {
  return await db
    .select({ id: users.id })
    .from(users)
    .where(and(isNotNull(users.welcomePendingSince), eq(users.status, "active"), gt(users.expireAt, clock.now())))
    .orderBy(asc(users.id));
}
