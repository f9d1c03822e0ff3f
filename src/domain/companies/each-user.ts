/** Work on many users of a company: several at once, and whatever fails is logged and left to the minute's job. */

import { severalAtOnce } from "../../shared/work/several.ts";
import type { Context } from "../operation/context.ts";

/** The reason in the records of the users. */
export const REASON = "company";

/** Users share the waits for the disk and the host, as where many expire at once. */
const AT_ONCE = 4;

/** What is done for users, and how the log says that it failed for one. */
interface Work<U> {
  readonly companyId: number;
  readonly users: readonly U[];
  readonly each: (user: U) => Promise<void>;
  readonly failure: string;
  readonly signal?: AbortSignal | undefined;
}

/** Works on each of the users, four at a time; one that fails keeps none of the others from their turn. Never throws. */
export async function forEachUser<U extends { readonly id: number }>(
  { log, requestId }: Context,
  { companyId, users, each, failure, signal }: Work<U>,
): Promise<void> {
  await severalAtOnce(users, { atOnce: AT_ONCE, signal }, async (user) => {
    try {
      await each(user);
    } catch (error) {
      log.error(failure, { error, userId: user.id, companyId, requestId });
    }
  });
}
