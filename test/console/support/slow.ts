/** With UAM_TEST_SLOW=1 browser and service are as slow as on a bad day: a test that wins a race by luck loses it there. */

import process from "node:process";
import type { Page } from "playwright-core";

const IS_SLOW = process.env.UAM_TEST_SLOW === "1";
/** By which the page's own processor is slower. */
const RATE = 3;
/** The most that a request waits on its way, and its answer again, in milliseconds. */
const WAIT = 900;

/** Slows the page's scripts down. */
export async function slowPage(page: Page): Promise<void> {
  if (!IS_SLOW) return;
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: RATE });
}

/** The service's answer; of the API it comes late, and in another order than it was asked for. */
export async function answerSlowly(
  request: Request,
  answer: (request: Request) => Promise<Response>,
): Promise<Response> {
  const isLate = IS_SLOW && new URL(request.url).pathname.startsWith("/api/");
  if (isLate) await Bun.sleep(Math.random() * WAIT);
  const response = await answer(request);
  if (isLate) await Bun.sleep(Math.random() * WAIT);
  return response;
}
