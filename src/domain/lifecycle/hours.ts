/** Opens and shuts accounts at the second at which their users' access begins or ends by start or hours. */

import { and, asc, gt, lte, sql } from "drizzle-orm";
import { lockedAccounts, readLocks } from "../../shared/system/lock-journal.ts";
import { hostAccountOf } from "../../shared/text/account-name.ts";
import { SECOND } from "../../shared/time/clock.ts";
import { severalAtOnce } from "../../shared/work/several.ts";
import { listen } from "../../store/notify.ts";
import { users } from "../../store/schema.ts";
import { hasEndedBefore, recordEnded, windowEntry } from "../accounts/ended-sessions.ts";
import { lockUserIfStored, selectUsersWhere, type User } from "../accounts/find-user.ts";
import { followDue, HOURS_CHANNEL, hasToShut } from "../accounts/hours.ts";
import { audited } from "../operation/audited.ts";
import { type Services, systemContext } from "../operation/context.ts";

/** A whole company may begin at the same second: as many at once share the waits, and the API keeps the other connections. */
const AT_ONCE = 4;
/** How often a run looks for what has become due since it began: it may take longer than until the next window ends. */
const LOOK_AGAIN = SECOND;

/** The first moment after the given one at which access begins or ends for somebody; undefined if nothing is stored. */
export async function nextHoursChange({ db }: Pick<Services, "db">, after: Date): Promise<Date | undefined> {
  const [row] = await db
    .select({ at: users.hoursDueAt })
    .from(users)
    .where(gt(users.hoursDueAt, after))
    .orderBy(asc(users.hoursDueAt))
    .limit(1);
  return row?.at ?? undefined;
}

/**
 * Calls `heard` after each commit of a change of somebody's hours, and now. On a connection of its own, which is opened again when it is lost.
 * Returns the function that ends it.
 */
export function watchHours({ db, log }: Pick<Services, "db" | "log">, heard: () => void): () => Promise<void> {
  const listening = listen(db, HOURS_CHANNEL, heard).catch((error: unknown) => {
    log.warn("the database sends no notifications about hours; they are read each minute instead", { error });
    return async () => {};
  });
  return async () => await (await listening)();
}

/**
 * Does what is due for everybody, also what becomes due meanwhile: first where access ends, because somebody may still be logged in, and of
 * both what is latest first. Accounts that `uam lock` shut without the database, in the journal in `dataDir`, stay shut until that is recorded.
 * A failure is logged, stays due and does not stop the others. Ends early when `signal` says so, with what was begun.
 */
export async function followDueHours(services: Services, dataDir: string, signal?: AbortSignal): Promise<void> {
  const { log } = services;
  const context = systemContext(services);
  const queue = createQueue(services);
  const isLocked = ({ username }: User) => lockedAccounts(readLocks(dataDir, log)).has(hostAccountOf(username));
  await severalAtOnce(Array(AT_ONCE).keys(), { atOnce: AT_ONCE, signal }, async () => {
    for (let user = await queue.next(); user !== undefined && signal?.aborted !== true; user = await queue.next()) {
      if (isLocked(user)) continue;
      const userId = user.id;
      await followDue(context, userId).catch((error: unknown) =>
        log.error("a user's hours could not be followed and will be tried again", { userId, error }),
      );
    }
  });
}

/**
 * Records the sessions that ended with windows of former days, each after that day's record. In the order of the users, several at once; a
 * failure is logged and does not stop the others. Ends early when `signal` says so, with what was begun.
 */
export async function recordEndedSessions(services: Services, signal?: AbortSignal): Promise<void> {
  const { db, clock, log } = services;
  const context = systemContext(services);
  const found = await db.select({ id: users.id }).from(users).where(hasEndedBefore(clock.now())).orderBy(asc(users.id));
  await severalAtOnce(found, { atOnce: AT_ONCE, signal }, async ({ id: userId }) => {
    await audited(context, windowEntry(userId), async (op) => {
      const user = await lockUserIfStored(op.tx, userId);
      if (user === undefined) return op.record({ unneeded: true });
      op.about({ detail: { username: user.username } });
      await recordEnded(op, user, 0);
    }).catch((error: unknown) =>
      log.error("sessions that ended with hours could not be recorded and will be tried again", { userId, error }),
    );
  });
}

function byMoment({ hoursDueAt: one }: User, { hoursDueAt: other }: User): number {
  return Number(one) - Number(other);
}

/** The users for whom something is due, each once for each time that it becomes due. */
function createQueue({ db, clock }: Services) {
  const ending: User[] = [];
  const beginning: User[] = [];
  let seen = new Date(0);
  let looking: Promise<void> | undefined;

  async function look(): Promise<void> {
    const now = clock.now();
    const isDue = sql`${and(gt(users.hoursDueAt, seen), lte(users.hoursDueAt, now))}`;
    const due = [...(await selectUsersWhere(db, isDue))].sort(byMoment);
    seen = now;
    for (const user of due) (hasToShut(user, now) ? ending : beginning).push(user);
  }

  return {
    /** Undefined once nothing is due any more. */
    async next(): Promise<User | undefined> {
      const isEmpty = ending.length + beginning.length === 0;
      if (isEmpty || clock.now().getTime() - seen.getTime() >= LOOK_AGAIN) {
        looking ??= look().finally(() => {
          looking = undefined;
        });
        await looking;
      }
      return ending.shift() ?? beginning.shift();
    },
  };
}
