/** What processes have used of the processors, which other work on the machine hardly changes. */

import { readdirSync, readFileSync } from "node:fs";

/** Microseconds of one process so far, with its children that have ended where asked: of those the kernel counts in hundredths of a second. */
export function processorTime(pid: number, withEnded = false): number {
  const stat = read(pid);
  if (stat === undefined) return Number.NaN;
  const own = exactly(pid, stat.own);
  return withEnded ? own + stat.ended : own;
}

/** The same of a process and of all that it has started, ended or not. */
export function treeTime(root: number): number {
  const children = new Map<number, number[]>();
  const stats = new Map<number, { readonly own: number; readonly ended: number }>();
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    const stat = Number.isNaN(pid) ? undefined : read(pid);
    if (stat === undefined) continue;
    stats.set(pid, stat);
    children.set(stat.parent, [...(children.get(stat.parent) ?? []), pid]);
  }
  const sum = (pid: number): number => {
    const { own = 0, ended = 0 } = stats.get(pid) ?? {};
    return exactly(pid, own) + ended + (children.get(pid) ?? []).reduce((total, child) => total + sum(child), 0);
  };
  return sum(root);
}

/** From /proc/PID/stat, see proc(5); undefined for a process that is gone. */
function read(pid: number) {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return undefined;
  }
  const fields = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
  const [parent = 0, user = 0, system = 0, endedUser = 0, endedSystem = 0] = [1, 11, 12, 13, 14].map((n) => fields[n]);
  return { parent, own: (user + system) * 10_000, ended: (endedUser + endedSystem) * 10_000 };
}

/**
 * What a process itself has used, in microseconds: to the nanosecond, as the scheduler counts its threads. What threads have used that ended, or
 * those of a process that is gone, is in the hundredths of a second alone.
 */
function exactly(pid: number, hundredths: number): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const nanoseconds = threads.map((thread) =>
      Number.parseInt(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8"), 10),
    );
    return Math.max(hundredths, nanoseconds.reduce((sum, each) => sum + each, 0) / 1000);
  } catch {
    return hundredths;
  }
}
