/** Steps that say on the terminal what was seen to work, and how long it took. */

/** Does the work and reports it; a failure names the step. */
export async function step<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
  const begin = performance.now();
  const seconds = () => `${((performance.now() - begin) / 1000).toFixed(1)} s`;
  try {
    const result = await work();
    console.log(`ok    ${what} (${seconds()})`);
    return result;
  } catch (error) {
    console.error(`FAIL  ${what} (${seconds()})`);
    throw error;
  }
}

/** Throws, showing both, unless they are equal. */
export function same(seen: string, expected: string, what: string): void {
  if (seen !== expected) throw new Error(`${what}: expected\n${expected}\nbut it is\n${seen}`);
}
