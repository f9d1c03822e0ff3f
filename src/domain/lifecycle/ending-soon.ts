/** Who is logged in is told ten minutes before their hours end, or what was allowed on request. */

import { and, gt, lte, sql } from "drizzle-orm";
import type { EndingAccess } from "../../protocol/host.ts";
import { ENDING_NOTICE, endingText } from "../../shared/hours/ending-text.ts";
import { shift } from "../../shared/time/clock.ts";
import { users } from "../../store/schema.ts";
import { accessAt, atOwnHost, openUntil, zoneOf } from "../accounts/access-state.ts";
import { refOf } from "../accounts/account.ts";
import { selectUsersWhere, type User } from "../accounts/find-user.ts";
import type { Services } from "../operation/context.ts";

/** Has the service's own host tell the terminals of those whose sessions end within ten minutes. */
export async function tellEndingSoon({ db, host, clock }: Services): Promise<void> {
  const now = clock.now();
  const isSoon = sql`${and(gt(users.hoursDueAt, now), lte(users.hoursDueAt, shift(now, ENDING_NOTICE)))}`;
  const found = await selectUsersWhere(db, isSoon);
  await host.tellEnding(found.flatMap((user) => endingOf(user, now) ?? []));
}

function endingOf(stored: User, now: Date): EndingAccess | undefined {
  const user = atOwnHost(stored);
  const access = accessAt(user, now);
  // Where only logins end with the hours, sessions stay; access on request always ends with all that runs.
  if (access.access !== "open" || (user.hoursEnd === "logins" && user.requestRule === null)) return undefined;
  const at = openUntil(user, access);
  return { ...refOf(user), at, text: endingText(at, zoneOf(user)) };
}
