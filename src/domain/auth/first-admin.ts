/** Whether there is an administrator yet, for anybody who asks. */

import { MINUTE, SECOND } from "../../shared/clock.ts";
import type { Database } from "../../store/client.ts";
import { hasAdmins } from "./admin.ts";

/**
 * A check whether there is an administrator, however often it is called: at most one query a second until there is one, and one a
 * minute from then on. If the database does not answer it says that there is, because nothing can be set up then.
 */
export function createAdminProbe(db: Database): () => Promise<boolean> {
  let last: { readonly until: number; readonly answer: Promise<boolean> } | undefined;
  return () => {
    const now = performance.now();
    if (last === undefined || now >= last.until) {
      const answer = hasAdmins(db).catch(() => true);
      const asked = { until: now + SECOND, answer };
      last = asked;
      void answer.then((found) => {
        if (found && last === asked) last = { until: now + MINUTE, answer };
      });
    }
    return last.answer;
  };
}
