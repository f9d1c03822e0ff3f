/** The end of a process that runs commands of the host. */

import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { readProcess, readProcesses } from "../../src/host/processes/processes.ts";
import { HANG } from "./hang.ts";
import { until } from "./until.ts";

/**
 * Kills it. What is returned waits until it is gone, with the commands that it had begun: they go on by themselves, and a useradd of
 * before would make its account in the middle of the next test.
 */
export function killWithCommands(child: ChildProcess): () => Promise<void> {
  const { pid } = child;
  if (pid === undefined || hasEnded(child)) return async () => {};
  // Stopped, it begins no other while they are looked for.
  child.kill("SIGSTOP");
  for (const end = performance.now() + HANG; !/^[TZX]?$/.test(stateOf(pid)); Bun.sleepSync(1)) {
    if (performance.now() > end) throw new Error(`the process ${pid} does not stop`);
  }
  const commands = readProcesses()
    .filter(({ parent }) => parent === pid)
    .flatMap((command) => readProcess(command.pid) ?? []);
  child.kill("SIGKILL");
  return async () => {
    await until(() => hasEnded(child));
    await until(() => commands.every((command) => readProcess(command.pid)?.started !== command.started));
  };
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** "" where there is none. */
function stateOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.[0] ?? "";
  } catch {
    return "";
  }
}
