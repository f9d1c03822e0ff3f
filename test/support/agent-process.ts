/** A further host's agent as a process of its own (agent-driver.ts), which a test starts, stops and kills. */

import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import type { DriverSettings } from "./agent-driver.ts";
import { killWithCommands } from "./kill-with-commands.ts";

export interface AgentProcess {
  /** Starts another, or goes on with one that was stopped. */
  start(): void;
  /** Sends the signal, if there is one. */
  signal(signal: NodeJS.Signals): void;
  /** Kills it, also where it is stopped. */
  kill(): void;
  /** Has it end by itself. */
  terminate(): void;
  /** Returns once all that were killed are gone, with the commands that they had begun. */
  gone(): Promise<void>;
}

/** How soon it asks, compares and tries again, in milliseconds, where a test says nothing else. */
const TIMING = { wait: 1000, patience: 3000, reconcile: 2000, retry: 200, longest: 500 };

/** Nothing is started yet; `settings` are asked for at each start. Its messages go where the test's do, or, with `isSilent`, nowhere. */
export function agentProcess(
  settings: () => Omit<DriverSettings, "timing"> & Partial<Pick<DriverSettings, "timing">>,
  { isSilent = false } = {},
): AgentProcess {
  const stdio: StdioOptions = ["ignore", "ignore", isSilent ? "ignore" : "inherit"];
  const going: (() => Promise<void>)[] = [];
  let agent: ChildProcess | undefined;

  function end(signal: NodeJS.Signals): void {
    agent?.kill("SIGCONT");
    agent?.kill(signal);
    agent = undefined;
  }

  return {
    start() {
      if (agent?.kill("SIGCONT") === true) return;
      const all: DriverSettings = { timing: TIMING, ...settings() };
      agent = spawn(process.execPath, [join(import.meta.dir, "agent-driver.ts"), JSON.stringify(all)], { stdio });
    },
    signal: (signal) => void agent?.kill(signal),
    kill() {
      if (agent !== undefined) going.push(killWithCommands(agent));
      end("SIGKILL");
    },
    terminate: () => end("SIGTERM"),
    async gone() {
      for (const each of going.splice(0)) await each();
    },
  };
}
