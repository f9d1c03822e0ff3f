/** Waiting for what comes to be. */

/**
 * Returns once the condition holds, which is asked again and again; throws if it does not within so many milliseconds. By the
 * clock: sleeps have been seen to end early on a busy machine. What held once may have passed when this returns.
 */
export async function until(condition: () => boolean | Promise<boolean>, milliseconds = 15_000): Promise<void> {
  const end = performance.now() + milliseconds;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`It did not come to be within ${milliseconds} ms: ${condition}`);
    await Bun.sleep(20);
  }
}
