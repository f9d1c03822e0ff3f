/** What the service uses of the machine, from /proc. */

import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export interface Reading {
  readonly at: number;
  /** Resident, in MiB: of the service itself. */
  readonly memory: number;
  readonly descriptors: number;
}

export function read(pid: number): Reading {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const kilobytes = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  return { at: Date.now(), memory: kilobytes / 1024, descriptors: readdirSync(`/proc/${pid}/fd`).length };
}

/** What is open, and how often, without the numbers that are never the same. */
export function openThings(pid: number): ReadonlyMap<string, number> {
  const things = new Map<string, number>();
  for (const fd of readdirSync(`/proc/${pid}/fd`)) {
    let target = "";
    try {
      target = readlinkSync(`/proc/${pid}/fd/${fd}`).replace(/\d{3,}/g, "N");
    } catch {
      continue;
    }
    things.set(target, (things.get(target) ?? 0) + 1);
  }
  return things;
}

/** The commands of the process and of all below it. */
export function processesBelow(pid: number): readonly string[] {
  const parents = new Map<number, { readonly parent: number; readonly command: string }>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      const parent = Number(stat.slice(stat.lastIndexOf(")") + 4).split(" ")[0]);
      const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      parents.set(Number(name), { parent, command });
    } catch {
      // It has just ended.
    }
  }
  const isBelow = (each: number): boolean => each === pid || (each > 1 && isBelow(parents.get(each)?.parent ?? 0));
  return [...parents].filter(([each]) => each !== pid && isBelow(each)).map(([, { command }]) => command);
}

/** The straight line that fits best: the value at the first point, and what is added in an hour. */
export function regression(points: readonly { readonly at: number; readonly value: number }[]) {
  const [first] = points;
  const hours = points.map(({ at }) => (at - (first?.at ?? 0)) / 3_600_000);
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanHour, meanValue] = [mean(hours), mean(points.map(({ value }) => value))];
  let [above, below] = [0, 0];
  for (const [index, { value }] of points.entries()) {
    const hour = (hours[index] ?? 0) - meanHour;
    above += hour * (value - meanValue);
    below += hour * hour;
  }
  const slope = below === 0 ? 0 : above / below;
  return { start: meanValue - slope * meanHour, slope };
}

/** The value below which that part of the numbers is. */
export function quantile(numbers: readonly number[], part: number): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
