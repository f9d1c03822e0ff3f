/** Looks at the hosts all the time: what was closed, and was seen closed there, must never be seen open again, and nobody outside their window. */

import type { Agent, Seen } from "./agents.ts";
import type { Changes } from "./changes.ts";
import { createJudge, type Delays } from "./windows.ts";

export interface Watch {
  readonly faults: readonly string[];
  /** Accounts and fingerprints. */
  readonly closed: ReadonlySet<string>;
  looks(): number;
  /** What windows had to wait for, in milliseconds. */
  readonly delays: Delays;
  stop(): void;
}

const OFTEN = 40;

export function startWatch(
  agents: readonly Agent[],
  changes: Pick<Changes, "told" | "windows">,
  say: (line: string) => void,
): Watch {
  const faults: string[] = [];
  const delays: Delays = { opened: [], shut: [] };
  const hosts = agents.map((agent) => ({
    ...{ agent, open: new Set<string>(), shut: new Set<string>() },
    judge: createJudge(delays),
  }));
  /** Also what a restore lost since: the hosts have closed it. */
  const closed = new Set<string>();
  let looks = 0;
  const timer = setInterval(look, OFTEN);
  function look(): void {
    // Before the hosts: what is closed after this may be open there.
    for (const each of changes.told.flatMap(closes)) closed.add(each);
    for (const { agent, open, shut, judge } of hosts) {
      const before = Date.now();
      const accounts = agent.accounts();
      const after = Date.now();
      looks++;
      for (const [name, window] of changes.windows) {
        const fault = judge({ name, window, account: accounts[name], before, after });
        if (fault !== undefined) found(`${agent.name}: ${fault}`);
      }
      const now = new Set(Object.entries(accounts).flatMap(([name, seen]) => opens(name, seen)));
      for (const each of now) {
        open.add(each);
        if (!closed.has(each) || !shut.has(each)) continue;
        found(`${agent.name}: ${each} was closed, and is open again`);
      }
      for (const each of closed) if (open.has(each) && !now.has(each)) shut.add(each);
    }
  }
  function found(fault: string): void {
    if (!faults.includes(fault)) say(`FAULT ${faults.push(fault)}: ${fault}`);
  }
  return { faults, closed, delays, looks: () => looks, stop: () => clearInterval(timer) };
}

function closes({ did, what }: Changes["told"][number]): readonly string[] {
  if (did === "user.disable" || did === "user.delete") return [`ext_${what}`];
  return did === "key.revoke" ? [what] : [];
}

/** What lets somebody in. */
function opens(name: string, { open, file }: Seen): readonly string[] {
  return open ? [name, ...file] : [];
}
