/** After a restore: access that was allowed on request when the backup was made may have been ended since. */

import { isNotNull } from "drizzle-orm";
import type { Transaction } from "../../store/client.ts";
import { users } from "../../store/schema.ts";

/** Ends what is allowed on request, for everybody: the accounts are due to be shut, and their users can ask again. Returns for how many. */
export async function endAllowances(tx: Transaction, now: Date): Promise<number> {
  const ended = await tx
    .update(users)
    .set({ allowedFrom: null, allowedUntil: null, hoursDueAt: now })
    .where(isNotNull(users.allowedUntil))
    .returning({ id: users.id });
  return ended.length;
}
