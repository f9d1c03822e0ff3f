/** Whether there is an administrator yet, for anybody who asks. */

import { MINUTE, SECOND } from "../../../shared/time/clock.ts";
import type { Services } from "../../operation/context.ts";
import { hasAdmins } from "../find-administrator.ts";

/**
 * A check whether there is an administrator, cheap to call often: at most one query a second until there is one, and one a minute
 * from then on. If the query fails, the answer is yes, because nothing can be set up then, and the next query follows a second
 * later.
 */
export function createAdminProbe({
  autocommit,
  clock,
}: Pick<Services, "autocommit" | "clock">): () => Promise<boolean> {
  let last: { readonly asked: number; fresh: number; readonly answer: Promise<boolean> } | undefined;
  return () => {
    const now = clock.now().getTime();
    // A clock that was set back does not keep an answer for longer.
    if (last === undefined || now < last.asked || now >= last.asked + last.fresh) {
      const found = hasAdmins(autocommit);
      const asked = { asked: now, fresh: SECOND, answer: found.catch(() => true) };
      last = asked;
      found.then(
        (isThere) => {
          if (isThere) asked.fresh = MINUTE;
        },
        () => {},
      );
    }
    return last.answer;
  };
}
