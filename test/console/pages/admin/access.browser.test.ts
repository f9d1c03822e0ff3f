/** Who had access at a moment of the past, asked in the console. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { PAGES, userPage } from "../../../../src/shared/product/pages.ts";
import { HOUR } from "../../../../src/shared/time/clock.ts";
import { admins } from "../../../../src/store/schema-auth.ts";
import { CODE_COOLDOWN } from "../../../support/app.ts";
import { freshKey } from "../../../support/keys.ts";
import { describeInBrowser, expectNoFaults, soon } from "../../support/browser.ts";
import { openBrowser } from "../../support/chromium.ts";
import { type ConsoleApp, openConsoleApp, openSignedIn } from "../../support/console-app.ts";
import { arrive, says } from "../../support/journeys.ts";

describeInBrowser("past access", () => {
  let browser: Browser;
  let system: ConsoleApp;
  const ids: Record<string, number> = {};
  let both = "";
  beforeAll(async () => {
    [system, browser] = await Promise.all([openConsoleApp(), openBrowser()]);
    for (const name of ["alice", "gone"]) {
      system.clock.advance(CODE_COOLDOWN);
      const { id, client } = await system.user(name);
      await client.call("POST", "/me/keys", { name: "laptop", public_key: freshKey() });
      ids[name] = id;
    }
    both = system.clock.now().toISOString();
    system.clock.advance(HOUR);
    await (await system.admin()).call("DELETE", `/users/${ids.gone}`);
  });
  afterAll(async () => {
    await browser?.close();
    await system?.close();
  });

  test("is asked for a moment, which is in the address, and is the same in the file", async () => {
    const watched = await openSignedIn(browser, system, "admin");
    const { page } = watched;
    await page.goto(PAGES.audit);
    await page.getByRole("link", { name: "Who had access at a moment?" }).click();
    await arrive(page, "Past access");
    const menu = page.getByRole("navigation", { name: "Pages" });
    await menu.locator('[aria-current="page"]', { hasText: "Audit log" }).waitFor();
    await says(page, /^1 account at /);
    const link = (name: string) => page.getByRole("row").getByRole("link", { name, exact: true });
    await soon(async () => expect(await link("alice").getAttribute("href")).toBe(userPage(ids.alice ?? 0)));

    await page.goto(`${PAGES.access}?at=${both}`);
    await says(page, /^2 accounts at /);
    await page.getByRole("row", { name: /gone/ }).getByText("deleted", { exact: true }).waitFor();
    const button = page.getByRole("button", { name: "Export as CSV" });
    const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
    expect(download.suggestedFilename()).toMatch(/^access-.*\.csv$/);
    const lines = (await Bun.file(await download.path()).text()).trimEnd().split("\r\n");
    expect(lines.map((line) => line.split(",")[0]?.replaceAll(/["\uFEFF]/g, ""))).toEqual([
      "username",
      "alice",
      "gone",
    ]);

    await page.getByLabel(/^Host/).fill("nowhere");
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await says(page, /^Nobody could log in at /);
    expect(new URL(page.url()).searchParams.get("host")).toBe("nowhere");
    await page.reload();
    await says(page, /^Nobody could log in at /);
    await page.goBack();
    await says(page, /^2 accounts at /);
    await page.getByLabel(/^At/).fill("2099-01-01T00:00");
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await says(page, "That lies in the future.");
    for (const width of [320, 768]) {
      await page.setViewportSize({ width, height: 800 });
      await page.goto(`${PAGES.access}?at=${both}`);
      await says(page, /^2 accounts at /);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    }
    expectNoFaults(watched);
    await watched.close();
  });

  test("is for operators, who read no log: a deleted user is a name; and not for reviewers", async () => {
    const watched = await openSignedIn(browser, system, "admin");
    const { page } = watched;
    await system.db.update(admins).set({ role: "operator" });
    await page.goto(PAGES.users);
    const inMenu = page.getByRole("navigation").getByRole("link", { name: "Past access" });
    await inMenu.click();
    await arrive(page, "Past access");
    await page.goto(`${PAGES.access}?at=${both}`);
    await says(page, /^2 accounts at /);
    await soon(async () => expect(await page.getByRole("row").getByRole("link").allInnerTexts()).toEqual(["alice"]));
    await system.db.update(admins).set({ role: "reviewer" });
    await page.goto(PAGES.access);
    await arrive(page, "Your role does not include this page");
    await soon(async () => expect(await inMenu.count()).toBe(0));
    expectNoFaults(watched);
    await watched.close();
  });
});
