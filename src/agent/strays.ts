/** Processes that have the uid of an account that the agent was told of, and that is gone or not to be open. */

import type { Drift, Host } from "../protocol/host.ts";
import { type AgentState, accountOf, givenTo, type Present } from "./records.ts";

/** Ends them, unless `checkOnly`, and says what there was. One look at all processes where there are none. */
export async function endStrays(
  host: Host,
  state: AgentState,
  { checkOnly, ...about }: Present & { readonly checkOnly: boolean },
): Promise<readonly Drift[]> {
  const orphans = new Set(await host.orphanUids());
  if (orphans.size === 0) return [];
  const open = new Set(state.records.filter((record) => accountOf(record, about).open).map(({ uid }) => uid));
  const uids = givenTo(state).filter((uid) => orphans.has(uid) && !open.has(uid));
  const strays = await host.endStrays(uids, checkOnly);
  return strays.map(({ problem, ended }) => ({ account: "", kind: "stray", problem, repaired: ended }));
}
