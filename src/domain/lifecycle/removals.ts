/** Finishing what was begun: a user whose deletion a crash cut short, when the account may be gone already. */

import { HOUR, MINUTE, shift } from "../../shared/clock.ts";
import { forgetRemoval, listRemovals, noteRemoval, type Removal } from "../accounts/removals.ts";
import { audited } from "../operation/audited.ts";
import type { Services } from "../operation/context.ts";
import { lockUserIfStored } from "../users/find.ts";
import { removeUser } from "../users/users.ts";

/** One that began less long ago may have just failed, and be about to be forgotten. */
const QUIET = 2 * MINUTE;

/**
 * Finishes the deletions that were cut short, on record as the doing of who asked for them. One that is under way is waited
 * for, and then needs nothing; one that fails is tried again after an hour.
 */
export async function finishRemovals(services: Services): Promise<void> {
  const { db, side, clock, log } = services;
  const before = shift(clock.now(), -QUIET);
  for (const removal of (await listRemovals(db)).filter(({ begunAt }) => begunAt <= before)) {
    const { userId } = removal;
    try {
      if (await finishRemoval(services, removal))
        log.warn("a deletion that was cut short was finished", { userId, actor: removal.actor.name });
      else await forgetRemoval(side, userId);
    } catch (error) {
      log.error("a deletion that was cut short cannot be finished; it is tried again in an hour", { userId, error });
      const later = { now: () => shift(clock.now(), HOUR) };
      await noteRemoval({ ...services, clock: later, actor: removal.actor }, userId);
    }
  }
}

/** False if the user is gone. */
function finishRemoval(services: Services, { userId, actor }: Removal): Promise<boolean> {
  const about = { resourceId: String(userId), subjectId: userId } as const;
  return audited({ ...services, actor, requestId: "" }, { action: "user.delete", ...about }, async (op) => {
    const user = await lockUserIfStored(op.tx, userId);
    const isNoted = (await listRemovals(op.tx)).some((noted) => noted.userId === userId);
    if (user === undefined || !isNoted) {
      op.learn({ unneeded: true });
      return false;
    }
    await forgetRemoval(op.tx, userId);
    await removeUser(op, user);
    return true;
  });
}
