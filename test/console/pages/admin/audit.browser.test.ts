/** The audit log as a list: how much room a record takes. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { PAGES } from "../../../../src/shared/product/pages.ts";
import { describeInBrowser, expectNoFaults } from "../../support/browser.ts";
import { openBrowser } from "../../support/chromium.ts";
import { type ConsoleApp, openConsoleApp, openSignedIn } from "../../support/console-app.ts";

/** The most that a record may take, by the width of the window, in pixels. */
const MOST = { 1280: 46, 320: 125 } as const;

describeInBrowser("the audit log", () => {
  let browser: Browser;
  let system: ConsoleApp;
  beforeAll(async () => {
    [system, browser] = await Promise.all([openConsoleApp(), openBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await system?.close();
  });

  test("has records that take little room", async () => {
    const admin = await system.admin();
    for (let index = 10; index < 15; index++) {
      const username = `contractor-${index}`;
      const { body } = await admin.call("POST", "/users", { username, email: `${username}@example.org` });
      await admin.call("POST", `/users/${body.data.id}/disable`);
    }
    const watched = await openSignedIn(browser, system, "admin");
    const { page } = watched;
    for (const [width, most] of Object.entries(MOST)) {
      await page.setViewportSize({ width: Number(width), height: 800 });
      await page.goto(PAGES.audit);
      await page.getByText("created the user contractor-10").first().waitFor();
      const heights = await page.locator("tbody tr").evaluateAll((rows) => rows.map((row) => row.clientHeight));
      expect(heights.length).toBeGreaterThan(10);
      expect([width, Math.max(...heights) <= most, heights]).toEqual([width, true, heights]);
    }
    expectNoFaults(watched);
    await watched.close();
  });
});
