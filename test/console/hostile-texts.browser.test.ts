/** Every screen and every dialog, when whatever others can write is hostile: nothing runs, nothing is markup, nothing leaves its place. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { atRest, describeInBrowser, expectNoFaults, type WatchedPage } from "./support/browser.ts";
import { openBrowser } from "./support/chromium.ts";
import { type ConsoleApp, openConsoleApp, openFor } from "./support/console-app.ts";
import { type Filled, fill } from "./support/data.ts";
import { HOSTILE_TEXTS, poison } from "./support/hostile-answers.ts";
import { SCREENS, type Screen } from "./support/screens.ts";

const WIDTHS = [1280, 390];
/** Found by names that the service has to know, or that are no longer the first thing in what a button says. */
const BY_NAME = ["user: hosts", "user: profile", "tokens: revoke", "hostGroup: take out", "sponsors: move"];

describeInBrowser("hostile texts", () => {
  let system: ConsoleApp;
  let browser: Browser;
  let data: Filled;
  const open = new Map<Screen["who"], WatchedPage>();
  beforeAll(async () => {
    [system, browser] = await Promise.all([openConsoleApp(), openBrowser()]);
    data = await fill(system);
  });
  afterAll(async () => {
    await browser?.close();
    await system?.close();
  });

  async function pageFor(who: Screen["who"]): Promise<WatchedPage> {
    const known = open.get(who);
    if (known !== undefined) return known;
    const opened = await openFor(browser, system, who);
    open.set(who, opened);
    return opened;
  }

  describe.each(SCREENS.map((screen) => [screen.name, screen] as const))("%s", (_, screen) => {
    test.each(Object.entries(HOSTILE_TEXTS))("stays whole with text %s", async (_, text) => {
      const watched = await pageFor(screen.who);
      const { page } = watched;
      await page.unrouteAll({ behavior: "wait" });
      await poison(page, [text]);
      await show(page, screen.path(data));
      expect(await faultsOf(page)).toEqual([]);
      expectNoFaults(watched);
    });

    const dialogs = Object.entries(screen.dialogs).filter(([name]) => !BY_NAME.includes(`${screen.name}: ${name}`));
    test.if(dialogs.length > 0).each(dialogs)("%s stays whole with either", async (_, reach) => {
      const watched = await pageFor(screen.who);
      const { page } = watched;
      await page.unrouteAll({ behavior: "wait" });
      await page.setViewportSize({ width: 1280, height: 900 });
      await poison(page, Object.values(HOSTILE_TEXTS));
      await show(page, screen.path(data));
      await reach(page);
      expect(await faultsOf(page)).toEqual([]);
      expectNoFaults(watched);
    });
  });
});

async function show(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await atRest(page);
}

/** What the texts did to the page, a sentence each. */
async function faultsOf(page: Page): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    faults.push(...(await page.evaluate(lookAround)).map((fault) => `${width} px: ${fault}`));
  }
  return faults;
}

/** Runs in the page. */
function lookAround(): readonly string[] {
  const faults: string[] = [];
  const excerpt = (element: Element | null) => (element?.outerHTML ?? "").replace(/(?:Wg){9,}/g, "WgWg…").slice(0, 200);
  if ("fired" in globalThis) faults.push("a script ran");
  for (const element of document.querySelectorAll("[data-hostile]")) faults.push(`markup: ${excerpt(element)}`);
  for (const link of document.querySelectorAll<HTMLAnchorElement>("a[href]")) {
    if (link.protocol !== "mailto:" && link.origin !== location.origin) faults.push(`a link: ${excerpt(link)}`);
  }
  for (const box of [document.documentElement, ...document.querySelectorAll("dialog[open]")]) {
    const wider = box.scrollWidth - box.clientWidth;
    if (wider <= 0) continue;
    const reach = box.getBoundingClientRect().left + box.clientWidth;
    const wide = [...box.querySelectorAll("*")].filter((each) => each.getBoundingClientRect().right > reach + 1);
    const last = wide.findLast((each) => each.children.length === 0) ?? wide.at(-1) ?? null;
    faults.push(
      `${box.localName} is ${wider} px too wide: ${excerpt(last)} in ${excerpt(last?.parentElement ?? null)}`,
    );
  }
  // Of what reorders text (UAX #9) only the pair that isolates a name in a sentence may be there, with nothing of its kind in it.
  const isolates = /\u2068[^\u202A-\u202E\u2066-\u2069]*\u2069/g;
  const rest = (document.body.textContent ?? "").replace(isolates, "");
  const reordered = /.{0,60}[\u202A-\u202E\u2066-\u2069].{0,60}/su.exec(rest);
  if (reordered !== null) faults.push(`reordered: ${JSON.stringify(reordered[0])}`);
  // Letters that are written from the right have to be in an element of their own that isolates them.
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    const text = (node.nodeValue ?? "").replace(isolates, "");
    if (!/\p{Script=Arabic}/u.test(text)) continue;
    let scope = node.parentElement;
    const isOpen = (element: Element) => {
      const { display, unicodeBidi } = getComputedStyle(element);
      return display === "inline" && !/isolate|plaintext/.test(unicodeBidi);
    };
    while (scope !== null && isOpen(scope)) scope = scope.parentElement;
    const beside = (scope?.textContent ?? "").replace(node.nodeValue ?? "", "").trim();
    if (beside !== "") faults.push(`reordered with ${JSON.stringify(beside.slice(0, 60))}: ${excerpt(scope)}`);
  }
  return faults;
}
