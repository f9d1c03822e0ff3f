/** Comparing accounts with the host, which repairs what differs. */

import type { HostProblem } from "../protocol/fleet.ts";
import type { AccountRef, Drift, Host } from "../protocol/host.ts";
import type { Log } from "../shared/log.ts";
import { problemOf } from "./problems.ts";
import {
  type AccountRecord,
  type AgentState,
  accountOf,
  cleared,
  isClosing,
  isPending,
  type Present,
} from "./records.ts";
import type { Turn } from "./turn.ts";

interface Parts {
  readonly openHost: (endSessions: AgentState["end_sessions"]) => Promise<Host>;
  readonly log: Log;
  readonly turn: Turn;
}

interface About {
  /** Those that are compared, as far as nothing is left to do for them. */
  readonly known: readonly AccountRecord[];
  /** Whether what is stored may open anything. */
  readonly isBelieved: boolean;
  /** Read anew. */
  readonly present: (status: AgentState["status"]) => Present;
}

/** The state without the problems that are gone, and the differences. */
export async function compareAccounts(
  { openHost, log, turn }: Parts,
  state: AgentState,
  { known, isBelieved, present }: About,
): Promise<{ readonly state: AgentState; readonly problems: readonly HostProblem[] }> {
  const host = await openHost(state.end_sessions);
  const uids = new Set(known.map(({ uid }) => uid));
  // As they are by now, in their turn. One that is to stay shut for as long as it is locked is compared, too.
  const made = state.records.filter((record) => uids.has(record.uid) && record.made && !isClosing(record.todo));
  let current: readonly AccountRecord[] = [];
  const drifts = await turn(async () => {
    const about = present(state.status);
    const isOpen = (record: AccountRecord) => accountOf(record, about).open;
    current = made.filter((record) => (isBelieved && !isPending(record)) || !isOpen(record));
    return await host.reconcile(
      current.map((record) => accountOf(record, about)),
      false,
    );
  });
  const problems = toldOf(log, drifts);
  const absent = new Set(
    drifts.filter(({ kind }) => kind === "missing" || kind === "foreign").map(({ account }) => account),
  );
  const compared = new Set(current);
  const isAbsent = (record: AccountRecord) => !compared.has(record) || absent.has(record.name);
  const records = state.records.map((record) => (isAbsent(record) ? record : cleared(record)));
  return { state: { ...state, records }, problems };
}

/** The problems of differences, which are logged. */
export function toldOf(log: Log, drifts: readonly Drift[]): readonly HostProblem[] {
  for (const drift of drifts) log.warn("the host differed from what is stored", { ...drift });
  return drifts.map(problemOf);
}

/** Of these names, the accounts that are ours by uid and group, too; the others are nobody's to shut. */
export async function foundOn(host: Host, names: readonly string[]): Promise<readonly AccountRef[]> {
  const found: AccountRef[] = [];
  for (const name of names) {
    const account = await host.findAccount(name).catch(() => undefined);
    if (account !== undefined) found.push(account);
  }
  return found;
}
