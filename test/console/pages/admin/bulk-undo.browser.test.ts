/** Undoing what was done to several users at once, and enabling several. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { PAGES } from "../../../../src/shared/product/pages.ts";
import { DAY, MINUTE, shift } from "../../../../src/shared/time/clock.ts";
import type { Client } from "../../../support/app.ts";
import { axeFinds } from "../../support/axe.ts";
import { describeInBrowser, expectNoFaults, focusedName, soon, type WatchedPage } from "../../support/browser.ts";
import { openBrowser } from "../../support/chromium.ts";
import { type ConsoleApp, openConsoleApp, openSignedIn } from "../../support/console-app.ts";
import { expectFocus } from "../../support/hands.ts";
import { arrive, says } from "../../support/journeys.ts";

const NAMES = ["anna", "ben", "cleo"] as const;

describeInBrowser("undo for several users", () => {
  let browser: Browser;
  let system: ConsoleApp;
  let admin: Client;
  let watched: WatchedPage;
  let page: Page;
  let ids: Readonly<Record<string, number>>;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  beforeEach(async () => {
    system = await openConsoleApp();
    admin = await system.admin();
    const made = NAMES.map(async (username, index) => {
      const body = { username, email: `${username}@example.org`, ttl_days: 10 + index };
      return [username, (await admin.call("POST", "/users", body)).body.data.id] as const;
    });
    ids = Object.fromEntries(await Promise.all(made));
    system.clock.advance(MINUTE);
  });
  afterEach(async () => {
    expectNoFaults(watched);
    await watched.close();
    await system.close();
  });
  afterAll(async () => await browser?.close());

  async function open(): Promise<void> {
    watched = await openSignedIn(browser, system, "admin");
    page = watched.page;
    await page.goto(`${PAGES.users}?sort=username`);
    await arrive(page, "Users");
  }

  const dialog = () => page.getByRole("dialog");
  const undo = () => page.getByRole("button", { name: "Undo", exact: true });
  const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
  const users = async () => (await admin.call("GET", "/users?sort=username")).body.data.items as User[];
  const ends = async (): Promise<readonly (string | undefined)[]> => (await users()).map(({ expire_at }) => expire_at);
  const statuses = async () => (await users()).map(({ status }) => status);

  /** Chooses all three, and confirms what is to happen to so many of them. */
  async function change(open: string, confirm: string, days = ""): Promise<void> {
    await page.getByRole("checkbox", { name: "Select all 3 on this page" }).click();
    await press(open);
    if (days !== "") {
      await dialog().getByLabel("More days").fill(days);
      await press("Show what will happen");
    }
    await dialog().getByRole("button", { name: confirm, exact: true }).click();
    await dialog().getByRole("button", { name: "Close" }).waitFor();
    system.clock.advance(MINUTE);
  }

  test("gives each the former end, in the dialog, and names who was changed meanwhile", async () => {
    const before = await ends();
    await open();
    await change("Extend 3 users …", "Extend 3 users", "7");
    const extended = await ends();
    expect(extended).not.toEqual(before);
    await admin.call("PATCH", `/users/${ids.ben}`, { note: "Ask Bo first" });
    expect(await axeFinds(page)).toEqual([]);
    for (const stop of ["Close", "Undo"]) {
      await page.keyboard.press("Tab");
      await soon(async () => expect(await focusedName(page)).toBe(stop));
    }
    await page.keyboard.press("Enter");
    await dialog().getByText("2 users were put back as they were.").waitFor();
    await dialog().getByRole("region", { name: "Failed for 1 user" }).getByText("ben has been changed since").waitFor();
    await expectFocus(page, "after undoing");
    // Nothing is left that could be undone.
    await soon(async () => expect(await undo().count()).toBe(0));
    expect(await ends()).toEqual([before[0], extended[1], before[2]]);
    await page.keyboard.press("Escape");
    await says(page, "2 users were put back as they were. Failed for 1 user.");
    await soon(async () => expect(await focusedName(page)).toStartWith("2 users were put back as they were."));
  });

  test("enables whom the run disabled, from the page as long as it is open, and nobody who was disabled before", async () => {
    await admin.call("POST", `/users/${ids.ben}/disable`);
    system.clock.advance(MINUTE);
    await open();
    await change("Disable 3 users …", "Disable 3 users");
    await dialog().getByText("Undo leaves these as they are: ben.").waitFor();
    await press("Close");
    await says(page, "3 users were disabled.");
    await undo().focus();
    await page.keyboard.press("Enter");
    await dialog()
      .getByText("2 users were put back as they were. Scheduled jobs that were removed stay removed.")
      .waitFor();
    expect(await statuses()).toEqual(["active", "disabled", "active"]);
    await press("Close");
    await says(page, "2 users were put back as they were. Scheduled jobs that were removed stay removed.");
    await soon(async () => expect(await undo().count()).toBe(0));
  });

  test("touches nobody whose former end is over, or whom somebody else changed before the run", async () => {
    await admin.call("POST", `/users/${ids.anna}/extend`, { until: shift(system.clock.now(), DAY).toISOString() });
    system.clock.advance(2 * DAY);
    admin = await system.admin();
    const before = await ends();
    await open();
    await page.getByRole("checkbox", { name: "Select all 3 on this page" }).waitFor();
    await admin.call("PATCH", `/users/${ids.ben}`, { note: "changed" });
    await change("Extend 3 users …", "Extend 3 users", "7");
    const extended = await ends();
    await dialog().getByText("Undo leaves these as they are: anna, ben.").waitFor();
    await undo().click();
    await dialog().getByText("1 user was put back as they were.").waitFor();
    expect(await ends()).toEqual([extended[0], extended[1], before[2]]);
  });

  test("is not needed for a later end that somebody gave before the run to a date: it stays", async () => {
    await open();
    await page.getByRole("checkbox", { name: "Select all 3 on this page" }).click();
    await press("Extend 3 users …");
    await dialog()
      .getByLabel("Or until")
      .fill(
        shift(system.clock.now(), 40 * DAY)
          .toISOString()
          .slice(0, 16),
      );
    await press("Show what will happen");
    const confirm = dialog().getByRole("button", { name: "Extend 3 users", exact: true });
    await confirm.waitFor();
    const later = shift(system.clock.now(), 60 * DAY).toISOString();
    await admin.call("POST", `/users/${ids.anna}/extend`, { until: later });
    await confirm.click();
    await dialog()
      .getByRole("region", { name: "Failed for 1 user" })
      .getByText("anna has been changed since")
      .waitFor();
    expect((await ends())[0]).toBe(later);
  });

  test("that was stopped, or that the service did not answer, goes on with those who are left", async () => {
    const before = await ends();
    await open();
    await change("Extend 3 users …", "Extend 3 users", "7");
    const extended = await ends();
    let tries = 0;
    await page.route("**/extend", async (route) => {
      tries += 1;
      if (tries === 1) return await route.abort();
      if (tries === 2) await dialog().getByRole("button", { name: "Stop after this one" }).click();
      return await route.continue();
    });
    await undo().click();
    await dialog().getByText("Stopped. 1 user was not touched.").waitFor();
    expect(await ends()).toEqual([extended[0], before[1], extended[2]]);
    await page.unroute("**/extend");
    await undo().click();
    await dialog().getByText("2 users were put back as they were.").waitFor();
    expect(await ends()).toEqual(before);
    // The browser tells of the request that was broken off.
    watched.faults.length = 0;
  });

  test("is offered after enabling the disabled of a selection, too", async () => {
    for (const name of ["anna", "cleo"]) await admin.call("POST", `/users/${ids[name]}/disable`);
    system.clock.advance(MINUTE);
    await open();
    await change("Enable 2 users …", "Enable 2 users");
    await dialog().getByText("2 users were enabled.").waitFor();
    expect(await statuses()).toEqual(["active", "active", "active"]);
    await undo().click();
    await dialog().getByText("2 users were put back as they were.").waitFor();
    expect(await statuses()).toEqual(["disabled", "active", "disabled"]);
  });
});

interface User {
  readonly expire_at: string;
  readonly status: string;
}
