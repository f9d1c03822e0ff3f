/** Opens and shuts accounts at the second at which their users' access begins or ends by start or hours. */

import { asc, lte } from "drizzle-orm";
import { severalAtOnce } from "../../shared/work/several.ts";
import { users } from "../../store/schema.ts";
import { followHours } from "../accounts/hours.ts";
import { type Services, systemContext } from "../operation/context.ts";

/** A whole company may begin at the same second: as many at once share the waits, and the API keeps the other connections. */
const AT_ONCE = 4;

/**
 * Does what is due for everybody, what is latest first; a failure is logged, stays due and does not stop the others. Ends early when `signal`
 * says so, with what was begun.
 */
export async function followDueHours(services: Services, signal?: AbortSignal): Promise<void> {
  const { db, clock, log } = services;
  const context = systemContext(services);
  const due = await db
    .select({ id: users.id })
    .from(users)
    .where(lte(users.hoursDueAt, clock.now()))
    .orderBy(asc(users.hoursDueAt), asc(users.id));
  await severalAtOnce(due, { atOnce: AT_ONCE, signal }, ({ id }) =>
    followHours(context, id).catch((error: unknown) =>
      log.error("a user's hours could not be followed and will be tried again", { userId: id, error }),
    ),
  );
}
