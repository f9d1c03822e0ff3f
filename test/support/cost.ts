/** What something costs this process. */

import { readFileSync, writeFileSync } from "node:fs";

export interface Cost {
  /** Of a processor, all threads together. */
  readonly milliseconds: number;
  /** By which the memory in use rose at most meanwhile. */
  readonly mebibytes: number;
}

/** Runs the work and says what it took. The clock on the wall has no part in it. */
export async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  // The kernel forgets the highest use so far; see proc_pid_clear_refs(5).
  writeFileSync("/proc/self/clear_refs", "5");
  const resident = statusOf("VmRSS");
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { milliseconds: (user + system) / 1000, mebibytes: (statusOf("VmHWM") - resident) / 1024 };
}

function statusOf(field: "VmRSS" | "VmHWM"): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(readFileSync("/proc/self/status", "utf8"))?.[1]);
}
