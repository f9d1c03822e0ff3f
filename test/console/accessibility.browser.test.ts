import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { PROJECT } from "../../src/build/packages.ts";
import { axeFinds, OF_COLOURS, type Rules } from "./support/axe.ts";
import { atRest, describeInBrowser, expectNoFaults, type WatchedPage } from "./support/browser.ts";
import { openBrowser } from "./support/chromium.ts";
import { type ConsoleApp, openConsoleApp, openFor } from "./support/console-app.ts";
import { type Filled, fill, signIn } from "./support/data.ts";
import { SCREENS, type Screen } from "./support/screens.ts";

/** WCAG 2.2, levels A and AA, and what axe itself recommends. */
const RULES: Rules = {
  type: "tag",
  values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
};
/** Both schemes, and what is looked at in each: in the second only what they differ in, as the first test shows. */
const SCHEMES = [
  ["light", RULES],
  ["dark", OF_COLOURS],
] as const;
const WIDTHS = [1280, 320];
/** Milliseconds for one screen, which takes one or two seconds. */
const ANSWER = 45_000;

/** How a screen gets into a state, before it is opened. */
type State = "full" | "empty" | "loading" | "error";

test("the schemes differ in colours alone: light-dark(), which takes nothing else, is the only thing that tells them apart", () => {
  const files = [...new Bun.Glob("src/console/**/*.{css,ts,tsx}").scanSync(PROJECT)];
  expect(files.filter((file) => /\.css$/.test(file)).length).toBeGreaterThan(2);
  const asking = files.filter((file) => readFileSync(join(PROJECT, file), "utf8").includes("prefers-color-scheme"));
  expect(asking).toEqual([]);
});

describeInBrowser("axe finds nothing on any screen", () => {
  const systems: Partial<Record<"full" | "empty", { readonly system: ConsoleApp; readonly data: Filled }>> = {};
  const pages = new Map<string, WatchedPage>();
  let browser: Browser;
  beforeAll(async () => {
    const [full, empty, started] = await Promise.all([openConsoleApp(), openConsoleApp(), openBrowser()]);
    browser = started;
    systems.full = { system: full, data: await fill(full) };
    systems.empty = { system: empty, data: await signIn(empty) };
  });
  afterAll(async () => {
    await browser?.close();
    await Promise.all(Object.values(systems).map(({ system }) => system.close()));
  });

  for (const screen of SCREENS) {
    const states: readonly State[] = screen.isFed ? ["full", "empty", "loading", "error"] : ["full"];
    describe(screen.name, () => {
      for (const state of states) test(state, () => lookAgain(screen, state, undefined));
      for (const [name, open] of Object.entries(screen.dialogs)) test(name, () => lookAgain(screen, "full", open));
    });
  }

  /** Looks; and once more in a new browser, when this one has stopped answering: axe waits for it without an end. */
  async function lookAgain(...looked: Parameters<typeof look>): Promise<void> {
    const isOver = look(...looked).then(() => true);
    if (await Promise.race([isOver, Bun.sleep(ANSWER).then(() => false)])) return;
    console.warn(`The browser did not answer for ${ANSWER / 1000} s and is started again`);
    pages.clear();
    // Closing waits for an answer, too.
    void browser.close().catch(() => undefined);
    browser = await openBrowser();
    await look(...looked);
  }

  async function look(screen: Screen, state: State, open: ((page: Page) => Promise<void>) | undefined): Promise<void> {
    const where = systems[state === "empty" ? "empty" : "full"];
    if (where === undefined) throw new Error("The service was not opened");
    const watched = await pageFor(where.system, screen.who);
    const { page } = watched;
    await page.setViewportSize({ width: 1280, height: 800 });
    await disturb(page, state);
    await page.goto(screen.path(where.data));
    await settled(page, state);
    await open?.(page);
    for (const [colorScheme, rules] of SCHEMES) {
      for (const width of WIDTHS) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        await page.setViewportSize({ width, height: 800 });
        const found = await axeFinds(page, rules);
        expect({ colorScheme, width, found, overflow: await overflow(page) }).toEqual({
          ...{ colorScheme, width },
          ...{ found: [], overflow: 0 },
        });
      }
    }
    await page.unrouteAll({ behavior: "ignoreErrors" });
    expectNoFaults(watched);
  }

  /** One session for each; logging in for each screen would take the most time. */
  async function pageFor(system: ConsoleApp, who: Screen["who"]): Promise<WatchedPage> {
    const name = `${system.origin} ${who}`;
    const known = pages.get(name);
    if (known !== undefined) return known;
    const opened = await openFor(browser, system, who);
    pages.set(name, opened);
    return opened;
  }
});

/** Holds or refuses what the service answers, but for the session. */
async function disturb(page: Page, state: State): Promise<void> {
  if (state !== "loading" && state !== "error") return;
  await page.route(/\/api\/v1\/(?!auth\/me)/, async (route) => {
    if (state === "error") await route.fulfill({ status: 500, json: { error: "An internal error occurred." } });
    // A request that is held ends with the page.
  });
}

async function settled(page: Page, state: State): Promise<void> {
  await page.getByRole("heading", { level: 1 }).waitFor();
  if (state === "loading") await page.getByText("Loading …").first().waitFor();
  else if (state === "error") await page.getByRole("alert").first().waitFor();
  else await atRest(page);
}

/** Pixels by which the page is wider than the window, or a table than its box, which cuts it off. */
function overflow(page: Page): Promise<number> {
  return page.evaluate(() => {
    const boxes = [document.documentElement, ...document.querySelectorAll(".table")];
    return Math.max(...boxes.map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth));
  });
}
