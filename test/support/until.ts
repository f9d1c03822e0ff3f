/** Waiting for what comes to be. */

import { HANG } from "./hang.ts";

/**
 * Returns once the condition holds, which is asked again and again; throws if it does not within so many milliseconds. By the
 * clock: sleeps have been seen to end early on a busy machine. What held once may have passed when this returns.
 */
export async function until(condition: () => boolean | Promise<boolean>, milliseconds = HANG): Promise<void> {
  const end = performance.now() + milliseconds;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`It did not come to be within ${milliseconds} ms: ${condition}`);
    await Bun.sleep(20);
  }
}
