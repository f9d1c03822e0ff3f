/** How soon a page shows something to somebody who opens it for the first time. */

import type { Browser, Page } from "playwright-core";
import { percentile } from "./bench.ts";

const VISITS = 9;

export interface Paint {
  readonly page: string;
  readonly network: "loopback" | "1.6 Mbit/s, 150 ms, CPU / 4";
  /** Milliseconds until the first text is on the screen, and until the page's own heading is; medians. */
  readonly painted: number;
  readonly usable: number;
}

/** First visits, nothing cached, of the pages that need no session. */
export async function firstPaints(browser: Browser, origin: string): Promise<readonly Paint[]> {
  const paints: Paint[] = [];
  for (const network of ["loopback", "1.6 Mbit/s, 150 ms, CPU / 4"] as const) {
    for (const page of ["/", "/apply", "/login"]) {
      const visits: (readonly [number, number])[] = [];
      for (let visit = 0; visit <= VISITS; visit++) {
        const times = await visitOnce(browser, `${origin}${page}`, network !== "loopback");
        // The first one starts the browser's own parts.
        if (visit > 0) visits.push(times);
      }
      const median = (index: 0 | 1) =>
        percentile(
          visits.map((times) => times[index]),
          0.5,
        );
      paints.push({ page, network, painted: median(0), usable: median(1) });
    }
  }
  return paints;
}

async function visitOnce(browser: Browser, url: string, isSlow: boolean): Promise<readonly [number, number]> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  try {
    const page = await context.newPage();
    if (isSlow) await slowDown(page);
    // The document has a heading of its own until the script runs; the one that can take the focus is the script's.
    await page.addInitScript(`new MutationObserver((_, observer) => {
      if (document.querySelector("h1[tabindex]") === null) return;
      observer.disconnect();
      requestAnimationFrame(() => { globalThis.usable = performance.now(); });
    }).observe(document, { childList: true, subtree: true })`);
    await page.goto(url);
    // Not by waitForFunction: the page's policy allows no text to become code there.
    let times: unknown;
    while (times === undefined) {
      times = await page.evaluate(
        "globalThis.usable > 0 && performance.getEntriesByName('first-contentful-paint').length > 0 ? [performance.getEntriesByName('first-contentful-paint')[0].startTime, globalThis.usable] : undefined",
      );
    }
    return times as [number, number];
  } finally {
    await context.close();
  }
}

/** A slow mobile network and a processor a quarter as fast, by the browser's own emulation. */
async function slowDown(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const throughput = { downloadThroughput: 1.6e6 / 8, uploadThroughput: 0.75e6 / 8 };
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", { offline: false, latency: 150, ...throughput });
  await session.send("Emulation.setCPUThrottlingRate", { rate: 4 });
}
