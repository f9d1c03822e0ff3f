/** The first process of a new namespace, as it is seen from here. */

import { readFileSync } from "node:fs";
import { run } from "./shell.ts";

/**
 * The descendant of a program that makes namespaces, by the names of those on the way to it, once it is the first process of
 * one. Undefined if the program ended, or has none within `seconds`.
 */
export async function findLeader(
  program: Bun.Subprocess,
  names: readonly string[],
  seconds: number,
): Promise<number | undefined> {
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end && program.exitCode === null && program.signalCode === null) {
    let pid = program.pid;
    for (const name of names) {
      const child = pid > 0 ? await run(["pgrep", "--parent", String(pid), "--exact", name], 5) : undefined;
      pid = Number(child?.stdout.trim());
    }
    if (pid > 0 && isFirst(pid)) return pid;
    await Bun.sleep(50);
  }
  return undefined;
}

function isFirst(pid: number): boolean {
  try {
    return /^NSpid:.*\s1$/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    // It ended meanwhile.
    return false;
  }
}
