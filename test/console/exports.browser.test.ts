/** Searches of the audit log, spans of time at a press, and lists as files. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { MOST_SEARCHED } from "../../src/shared/product/limits.ts";
import { PAGES } from "../../src/shared/product/pages.ts";
import { HANG } from "../support/hang.ts";
import { describeInBrowser, expectNoFaults, type WatchedPage } from "./support/browser.ts";
import { openBrowser } from "./support/chromium.ts";
import { type ConsoleApp, openConsoleApp, openSignedIn } from "./support/console-app.ts";
import { signIn } from "./support/data.ts";

describeInBrowser("exports and searches", () => {
  let browser: Browser;
  let system: ConsoleApp;
  let watched: WatchedPage;
  beforeAll(async () => {
    [browser, system] = await Promise.all([openBrowser(), openConsoleApp()]);
    await signIn(system);
    for (const name of ["findable", "other"]) await system.user(name);
    watched = await openSignedIn(browser, system, "admin");
  }, HANG);
  afterAll(async () => {
    await browser?.close();
    await system?.close();
  });

  const exported = async (page: Page, button: string) => {
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: button }).click(),
    ]);
    await page.getByText(/is complete/).waitFor();
    return { name: download.suggestedFilename(), text: await Bun.file(await download.path()).text() };
  };

  test(
    "a search and a span of time are in the address, and in the file",
    async () => {
      const { page } = watched;
      await page.goto(PAGES.audit);
      await page.getByText("Filter", { exact: true }).click();
      await page.getByLabel("Search", { exact: true }).fill("FINDABLE");
      await page.getByRole("button", { name: "Show records" }).click();
      await page.waitForURL(/\?q=FINDABLE/);
      await page.getByRole("navigation", { name: "Time" }).getByRole("link", { name: "30 days" }).click();
      await page.waitForURL(/q=FINDABLE&since=/);
      await page.locator('[aria-current="true"]', { hasText: "30 days" }).waitFor();
      await page.getByRole("link", { name: "All", exact: true }).click();
      await page.waitForURL((url) => url.search === "?q=FINDABLE");
      const { name, text } = await exported(page, "Export as JSON lines");
      expect(name).toEndWith(".jsonl");
      const details = text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).detail);
      expect(details.length).toBeGreaterThan(0);
      for (const detail of details) expect(detail).toContain("findable");
      expectNoFaults(watched);
    },
    HANG,
  );

  test(
    "a search that did not come to the end says so, and looks further",
    async () => {
      const { page } = watched;
      const searched = { records: MOST_SEARCHED, since: "2026-10-01T08:00:00.000Z", complete: false };
      await page.route(/\/api\/v1\/audit\?/, async (route) => {
        const response = await route.fetch();
        const { data } = await response.json();
        await route.fulfill({ response, json: { data: { ...data, searched } } });
      });
      await page.goto(`${PAGES.audit}?q=findable`);
      await page.getByText(/The newest 20,000 records that match the other filters were looked through/).waitFor();
      await page.unroute(/\/api\/v1\/audit\?/);
      await page.getByRole("link", { name: "Look further back" }).click();
      await page.waitForURL(/until=2026-10-01T08%3A00%3A00.000Z/);
      expectNoFaults(watched);
    },
    HANG,
  );

  test(
    "the list of users is exported as it is filtered, on record",
    async () => {
      const { page } = watched;
      await page.goto(`${PAGES.users}?q=findable&sort=username&page=1`);
      await page.getByText("What the filters above match").waitFor();
      const { name, text } = await exported(page, "Export as CSV");
      expect(name).toMatch(/^users-.*\.csv$/);
      expect(text.trimEnd().split("\r\n")).toHaveLength(2);
      expect(text).toContain("findable@");
      const [record] = (await system.auditRows()).filter(({ action }) => action === "user.export");
      expect(JSON.parse(record?.detail ?? "{}")).toEqual({ format: "csv", q: "findable", sort: "username" });
      expectNoFaults(watched);
    },
    HANG,
  );
});
