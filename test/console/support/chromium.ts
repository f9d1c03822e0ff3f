/** A real browser, Debian's Chromium, driven by playwright-core. */

import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

export const CHROMIUM = "/usr/bin/chromium";

/** What the machine has no network for, and what would only cost time. */
const ARGUMENTS = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
  ...["--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-dev-shm-usage"],
];

/** Starts the browser. */
export function openBrowser(): Promise<Browser> {
  if (!existsSync(CHROMIUM)) throw new Error(`${CHROMIUM} is missing: install the package chromium`);
  return chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS });
}
