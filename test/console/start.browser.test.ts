import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { describeInBrowser, expectNoFaults, openPage } from "./support/browser.ts";
import { openBrowser } from "./support/chromium.ts";
import { type ConsoleApp, openConsoleApp } from "./support/console-app.ts";

describeInBrowser("the first page", () => {
  let system: ConsoleApp;
  let browser: Browser;
  beforeAll(async () => {
    [system, browser] = await Promise.all([openConsoleApp(), openBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await system?.close();
  });

  test("says what this is and where to go", async () => {
    const watched = await openPage(browser, system.origin);
    await watched.page.goto("/");
    await watched.page.getByRole("heading", { level: 1 }).waitFor();
    expect(
      await watched.page
        .getByRole("main")
        .getByRole("link", { name: /log in/i })
        .count(),
    ).toBe(1);
    expectNoFaults(watched);
    await watched.close();
  });
});
