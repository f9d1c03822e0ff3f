/** What goes wrong while the traffic runs: the database's connections, and the commands of the host. */

import type { Random } from "../closings/random.ts";
import { COMMANDS } from "../closings/shims.ts";
import type { Ground } from "./ground.ts";

export interface Fault {
  readonly name: string;
  readonly from: number;
  to: number;
}

export interface Faults {
  readonly injected: readonly Fault[];
  stop(): Promise<void>;
}

/** What gives and takes access in direct mode; one that only looks is not enough to fail a request. */
const FAILING = COMMANDS.filter((path) => /\/(useradd|usermod|userdel|pkill|chage)$/.test(path));
/** How long a command fails for, in milliseconds. */
const WINDOW = 400;

/** One fault after another, every `every` milliseconds on average, until it is stopped. */
export function startFaults(ground: Ground, random: Random, every: number): Faults {
  const injected: Fault[] = [];
  let isStopping = false;
  async function inject(): Promise<void> {
    const fault = { name: "", from: Date.now(), to: 0 };
    injected.push(fault);
    const kind = random.below(3);
    if (kind === 0) {
      fault.name = "all connections cut";
      await cut(ground, "true");
    } else if (kind === 1) {
      fault.name = "one connection cut";
      await cut(ground, `pid = (select pid from pg_stat_activity where usename = 'uam' order by random() limit 1)`);
    } else {
      const command = random.pick(FAILING);
      const trouble = random.pick(["fail", "late", "kill"] as const);
      fault.name = `${command.split("/").at(-1)} ${trouble}`;
      ground.shims.trouble(command, trouble);
      await Bun.sleep(WINDOW);
      ground.shims.clear();
    }
    fault.to = Date.now();
  }
  const working = (async () => {
    while (!isStopping) {
      const wait = random.below(2 * every);
      for (let waited = 0; waited < wait && !isStopping; waited += 100) await Bun.sleep(100);
      if (!isStopping) await inject();
    }
  })();
  return {
    injected,
    stop: async () => {
      isStopping = true;
      await working;
    },
  };
}

async function cut(ground: Ground, which: string): Promise<void> {
  await ground
    .sql(`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'uam' and ${which}`)
    .catch(() => undefined);
}
