/** Bounds for a machine on which others work too: what they take away must not fail a test. */

import process from "node:process";

/** What only a hang reaches, in milliseconds: no test's limit on the clock is below it, or it counts what the clock does not. */
export const HANG = 60_000;

/** The same beside what ends by itself after 45 or 50 seconds: a lease on a file that the kernel breaks, a request that is held. */
export const SHORT_HANG = 30_000;

/** The milliseconds of processor time that this process spends on the work, in all of its threads; that of others does not count. */
export async function processorTime(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
