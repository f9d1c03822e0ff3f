/** Looks at the hosts all the time: what was closed, and was seen closed there, must never be seen open again. */

import type { Agent, Seen } from "./agents.ts";
import type { Told } from "./changes.ts";

export interface Watch {
  readonly faults: readonly string[];
  /** Accounts and fingerprints. */
  readonly closed: ReadonlySet<string>;
  looks(): number;
  stop(): void;
}

const OFTEN = 40;

export function startWatch(agents: readonly Agent[], told: () => readonly Told[], say: (line: string) => void): Watch {
  const faults: string[] = [];
  const hosts = agents.map((agent) => ({ agent, open: new Set<string>(), shut: new Set<string>() }));
  /** Also what a restore lost since: the hosts have closed it. */
  const closed = new Set<string>();
  let looks = 0;
  const timer = setInterval(look, OFTEN);
  function look(): void {
    // Before the hosts: what is closed after this may be open there.
    for (const each of told().flatMap(closes)) closed.add(each);
    for (const { agent, open, shut } of hosts) {
      const accounts = agent.accounts();
      looks++;
      const now = new Set(Object.entries(accounts).flatMap(([name, seen]) => opens(name, seen)));
      for (const each of now) {
        open.add(each);
        if (!closed.has(each) || !shut.has(each)) continue;
        const fault = `${agent.name}: ${each} was closed, and is open again`;
        if (!faults.includes(fault)) say(`FAULT ${faults.push(fault)}: ${fault}`);
      }
      for (const each of closed) if (open.has(each) && !now.has(each)) shut.add(each);
    }
  }
  return { faults, closed, looks: () => looks, stop: () => clearInterval(timer) };
}

function closes({ did, what }: Told): readonly string[] {
  if (did === "user.disable" || did === "user.delete") return [`ext_${what}`];
  return did === "key.revoke" ? [what] : [];
}

/** What lets somebody in. */
function opens(name: string, { open, file }: Seen): readonly string[] {
  return open ? [name, ...file] : [];
}
