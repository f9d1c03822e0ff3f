/** Pages of a real browser; and what no page may do: fail, break its policy, or ask elsewhere. */

import { describe, expect } from "bun:test";
import process from "node:process";
import type { Browser, BrowserContextOptions, Page, Request } from "playwright-core";
import { HANG, SHORT_HANG } from "../../support/hang.ts";
import { slowPage } from "./slow.ts";

/** Tests with a browser run when asked for with UAM_TEST_BROWSER=1, as CI does; then a missing browser is a failure. */
export const describeInBrowser = process.env.UAM_TEST_BROWSER === "1" ? describe : describe.skip;

/** A page, and what went wrong on it. */
export interface WatchedPage {
  readonly page: Page;
  /** Errors on the console, uncaught errors, reports of the policy, and requests to other places; a test expects none. */
  readonly faults: string[];
  close(): Promise<void>;
}

/** What each page has asked for and not got yet. */
const outstanding = new WeakMap<Page, Set<Request>>();

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
  await slowPage(page);
  const faults: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" && !isRefusal(message.text())) faults.push(message.text());
  });
  page.on("pageerror", (error) => void faults.push(String(error)));
  const open = new Set<Request>();
  outstanding.set(page, open);
  page.on("requestfinished", (request) => void open.delete(request));
  page.on("requestfailed", (request) => void open.delete(request));
  page.on("request", (request) => {
    // Of what the document before asked for, not every end is told.
    if (request.isNavigationRequest()) open.clear();
    open.add(request);
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

/** The parts of a page that say of themselves that they are not there yet, and a button that waits for what it will do to be shown. */
const BUSY = ".loading, [aria-busy=true], [aria-disabled=true]";

/**
 * Returns once all is there that the page opened here asks for: no part of it is busy, no request is outstanding, and what the last
 * answer made it ask for is neither. A quiet network alone says nothing: it is quiet between two questions, too.
 */
export async function atRest(page: Page): Promise<void> {
  const open = outstanding.get(page);
  if (open === undefined) throw new Error("atRest() knows the pages of openPage()");
  for (;;) {
    await page.waitForFunction((busy) => document.querySelector(busy) === null, BUSY);
    const isQuiet = open.size === 0;
    // An answer is shown, and what it shows asks, within the next frame.
    const isBusy = await page.evaluate(async (busy) => {
      for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
      return document.querySelector(busy) !== null;
    }, BUSY);
    if (isQuiet && open.size === 0 && !isBusy) return;
  }
}

/**
 * Returns once what is expected of a page holds, and fails as it did last when it does not for half a minute: what a click changes is
 * shown part by part, so that a word that one part says is no sign that another one is there.
 */
export async function soon(expectation: () => Promise<void>): Promise<void> {
  for (const end = performance.now() + SHORT_HANG; ; await Bun.sleep(20)) {
    try {
      return await expectation();
    } catch (error) {
      if (performance.now() > end) throw error;
    }
  }
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
