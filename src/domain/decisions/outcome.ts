/** What an answer that takes access away brings about on hosts. */

import { awaitHosts } from "../hosts/confirmation.ts";
import type { Context } from "../operation/context.ts";
import type { Outcome } from "./kind.ts";

/** From when on it is true for all of these users; of one, also what their hosts have confirmed. */
export async function hostsOutcome(
  context: Context,
  userIds: readonly number[],
): Promise<Pick<Outcome, "hosts" | "effectiveBy">> {
  const known = await Promise.all(userIds.map((id) => awaitHosts(context, id)));
  const times = known.map((one) => (one === undefined ? context.clock.now() : one.effectiveBy));
  const effectiveBy = times.some((time) => time === null)
    ? null
    : new Date(Math.max(...times.map((time) => time?.getTime() ?? 0)));
  return { effectiveBy, ...(known.length === 1 ? { hosts: known[0] } : {}) };
}
