/** Pages of a real browser; and what no page may do: fail, break its policy, or ask elsewhere. */

import { describe, expect } from "bun:test";
import process from "node:process";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { HANG } from "../../support/hang.ts";

/** Tests with a browser run when asked for with UAM_TEST_BROWSER=1, as CI does; then a missing browser is a failure. */
export const describeInBrowser = process.env.UAM_TEST_BROWSER === "1" ? describe : describe.skip;

/** A page, and what went wrong on it. */
export interface WatchedPage {
  readonly page: Page;
  /** Errors on the console, uncaught errors, reports of the policy, and requests to other places; a test expects none. */
  readonly faults: string[];
  close(): Promise<void>;
}

/** Opens a page of its own session on the origin; nothing else can be reached from it. */
export async function openPage(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({
    baseURL: origin,
    viewport: { width: 1280, height: 900 },
    locale: "en-GB",
    timezoneId: "Europe/Berlin",
    reducedMotion: "reduce",
    ...options,
  });
  context.setDefaultTimeout(HANG);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" && !isRefusal(message.text())) faults.push(message.text());
  });
  page.on("pageerror", (error) => void faults.push(String(error)));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith("data:")) faults.push(`request to ${url}`);
  });
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) =>
      console.error(`policy: ${(event as SecurityPolicyViolationEvent).violatedDirective}`),
    );
  });
  return { page, faults, close: () => context.close() };
}

/** Browsers log each refused request; the tests that provoke one look at what the page says of it. */
function isRefusal(text: string): boolean {
  return /the server responded with a status of (?:4\d\d|5\d\d)|net::ERR_(?:FAILED|ABORTED|CONNECTION)/.test(text);
}

/** The name of the element that has the focus, as a screen reader says it; "" for none. */
export function focusedName(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = document.activeElement;
    if (element === null || element === document.body) return "";
    const label = element.getAttribute("aria-label") ?? (element as HTMLInputElement).labels?.[0]?.textContent;
    return (label ?? element.textContent ?? "").trim().slice(0, 80);
  });
}

/** Logs in as a page would, with a body that is right. A cookie named __Host-… cannot be given to a browser from outside. */
export async function logIn({ page }: WatchedPage, path: string, body: object): Promise<void> {
  await page.goto("/");
  const status = await page.evaluate(
    async ([path, body]) => {
      const headers = { "content-type": "application/json" };
      const { status } = await fetch(`/api/v1${path}`, { method: "POST", headers, body: JSON.stringify(body) });
      localStorage.setItem("session", "open");
      return status;
    },
    [path, body] as const,
  );
  expect(status).toBe(200);
}

/** Expects that nothing went wrong on the page. */
export function expectNoFaults({ faults }: WatchedPage): void {
  expect(faults).toEqual([]);
}
