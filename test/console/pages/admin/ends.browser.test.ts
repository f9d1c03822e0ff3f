/** Moving a user's end to a day, later or earlier, and undoing what was just done. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { PAGES, userPage } from "../../../../src/shared/product/pages.ts";
import { DAY, MINUTE, shift } from "../../../../src/shared/time/clock.ts";
import type { Client } from "../../../support/app.ts";
import { axeFinds } from "../../support/axe.ts";
import {
  atRest,
  describeInBrowser,
  expectNoFaults,
  focusedName,
  soon,
  type WatchedPage,
} from "../../support/browser.ts";
import { openBrowser } from "../../support/chromium.ts";
import { type ConsoleApp, openConsoleApp, openSignedIn } from "../../support/console-app.ts";
import { arrive, says } from "../../support/journeys.ts";

describeInBrowser("the end of a user's access", () => {
  let browser: Browser;
  let system: ConsoleApp;
  let admin: Client;
  let watched: WatchedPage;
  let page: Page;
  let id: number;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  beforeEach(async () => {
    system = await openConsoleApp();
    admin = await system.admin();
    const body = { username: "anna", email: "anna@example.org", ttl_days: 10 };
    id = (await admin.call("POST", "/users", body)).body.data.id;
    system.clock.advance(MINUTE);
    watched = await openSignedIn(browser, system, "admin");
    page = watched.page;
    await page.goto(userPage(id));
    await arrive(page, "anna");
  });
  afterEach(async () => {
    expectNoFaults(watched);
    await watched.close();
    await system.close();
  });
  afterAll(async () => await browser?.close());

  const user = async () => (await admin.call("GET", `/users/${id}`)).body.data;
  const dialog = () => page.getByRole("dialog");
  const undo = () => page.getByRole("button", { name: "Undo", exact: true });
  /** As a field for local date and time has it; the browser is in Berlin. */
  const local = (at: Date) => at.toLocaleString("sv-SE", { timeZone: "Europe/Berlin" }).slice(0, 16).replace(" ", "T");
  const inDays = (days: number) =>
    new Date(Math.floor(shift(system.clock.now(), days * DAY).getTime() / MINUTE) * MINUTE);

  /** Presses the button of the page, fills in the field of the dialog, and confirms once it is said what will happen. */
  async function change(open: string, confirm: string, fill: Readonly<Record<string, string>> = {}): Promise<void> {
    await page.getByRole("button", { name: open }).click();
    for (const [label, text] of Object.entries(fill)) await dialog().getByLabel(label).fill(text);
    await dialog().getByText("What will happen").waitFor();
    await dialog().getByRole("button", { name: confirm, exact: true }).click();
    await dialog().waitFor({ state: "detached" });
    system.clock.advance(MINUTE);
  }

  test("is moved to a later day, and back", async () => {
    const { expire_at: before } = await user();
    const later = inDays(40);
    await change("Extend …", "Extend", { "Or until": local(later) });
    await says(page, /^anna was extended until/);
    expect((await user()).expire_at).toBe(later.toISOString());
    await soon(async () => expect(await focusedName(page)).toStartWith("anna was extended until"));
    await undo().click();
    await says(page, /^Undone: access of anna ends .*, as before\.$/);
    expect((await user()).expire_at).toBe(before);
    await soon(async () => expect(await undo().count()).toBe(0));
    await soon(async () => expect(await focusedName(page)).toStartWith("Undone: access of anna ends"));
  });

  test("is moved to an earlier one after a preview, with the keyboard alone, and back", async () => {
    const { expire_at: before } = await user();
    const { keyboard } = page;
    await page.getByRole("button", { name: "Extend …" }).focus();
    await keyboard.press("Enter");
    await keyboard.press("Tab");
    await soon(async () => expect(await focusedName(page)).toStartWith("Or until"));
    // How the parts of a date are typed is the browser's.
    const sooner = inDays(3);
    await dialog().getByLabel("Or until").fill(local(sooner));
    await dialog()
      .getByText(/^anna keeps access until .* only, instead of /)
      .waitFor();
    await dialog()
      .getByText(/Europe\/Berlin/)
      .waitFor();
    await dialog().getByRole("button", { name: "End it sooner" }).focus();
    await keyboard.press("Enter");
    await says(page, /^Access of anna ends sooner now: /);
    expect((await user()).expire_at).toBe(sooner.toISOString());
    system.clock.advance(MINUTE);
    // The sentence takes the focus once it is painted.
    await soon(async () => expect(await focusedName(page)).toStartWith("Access of anna ends sooner now"));
    await keyboard.press("Tab");
    await soon(async () => expect(await focusedName(page)).toBe("Undo"));
    await keyboard.press("Enter");
    await says(page, /^Undone: access of anna ends /);
    expect((await user()).expire_at).toBe(before);
  });

  test("is given in days or as a moment that is whole, not both, and not in the past", async () => {
    await page.getByRole("button", { name: "Extend …" }).click();
    const until = dialog().getByLabel("Or until");
    const confirm = dialog().getByRole("button", { name: "Extend", exact: true });
    await until.fill(local(inDays(40)));
    await dialog().getByLabel("More days").fill("3");
    await dialog().getByText("Give days or a date, not both.").waitFor();
    await soon(async () => expect(await confirm.count()).toBe(0));
    await dialog().getByLabel("More days").fill("");
    await until.fill("");
    await until.pressSequentially("24");
    await confirm.click();
    await dialog().getByText("Complete the date and the time, or empty them.").waitFor();
    await until.fill(local(shift(system.clock.now(), -DAY)));
    await dialog().getByText("The end of access must be in the future; to end it now, disable anna.").waitFor();
    const { expire_at: end } = await user();
    expect(Date.parse(end)).toBeLessThan(inDays(10).getTime() + MINUTE);
  });

  test("what was done is not undone once somebody else has changed the user", async () => {
    await change("Disable …", "Disable");
    await says(page, "anna was disabled.");
    await admin.call("PATCH", `/users/${id}`, { note: "Ask Bo first" });
    await undo().click();
    await says(page, "anna was changed again meanwhile, so this stays as it is. Look at what holds now.");
    await soon(async () => expect(await undo().count()).toBe(0));
    expect((await user()).status).toBe("disabled");
    await page.getByText("Ask Bo first", { exact: true }).waitFor();
  });

  test("disabling is undone by enabling, and the reverse", async () => {
    await change("Disable …", "Disable");
    await undo().click();
    await says(page, "Undone: anna is enabled again. Scheduled jobs that were removed stay removed.");
    expect((await user()).status).toBe("active");
    system.clock.advance(MINUTE);
    await change("Disable …", "Disable");
    await page.getByRole("button", { name: "Enable …" }).waitFor();
    await change("Enable …", "Enable");
    await undo().click();
    await says(page, "Undone: anna is disabled, as before.");
    expect((await user()).status).toBe("disabled");
  });

  test("a user whom somebody else changed meanwhile is disabled all the same, without a way back", async () => {
    await page.getByRole("button", { name: "Disable …" }).click();
    await admin.call("PATCH", `/users/${id}`, { note: "changed" });
    await dialog().getByText("What will happen").waitFor();
    await dialog().getByRole("button", { name: "Disable", exact: true }).click();
    await says(page, "anna was disabled.");
    await soon(async () => expect(await undo().count()).toBe(0));
    expect((await user()).status).toBe("disabled");
  });

  test("is moved to one day for several at once, and for nobody to an earlier one", async () => {
    const ends = async () => {
      const { items } = (await admin.call("GET", "/users?sort=username")).body.data;
      return (items as { expire_at: string }[]).map(({ expire_at }) => expire_at);
    };
    for (const [username, ttl_days] of [
      ["ben", 20],
      ["cleo", 90],
    ] as const)
      await admin.call("POST", "/users", { username, email: `${username}@example.org`, ttl_days });
    const [, , cleo = ""] = await ends();
    await page.goto(PAGES.users);
    await page.getByRole("checkbox", { name: "Select all 3 on this page" }).click();
    await page.getByRole("button", { name: "Extend 3 users …" }).click();
    const until = inDays(40);
    await dialog().getByLabel("More days").fill("3");
    await dialog().getByLabel("Or until").fill(local(until));
    await dialog().getByRole("button", { name: "Show what will happen" }).click();
    await dialog().getByText("Give days or a date, not both.").waitFor();
    await dialog().getByLabel("More days").fill("");
    await dialog().getByRole("button", { name: "Show what will happen" }).click();
    await dialog()
      .getByText(/^2 users are extended until .*, and told by mail\.$/)
      .waitFor();
    await dialog().getByText("1 user keeps a later end.").waitFor();
    await dialog().getByRole("button", { name: "Extend 2 users" }).click();
    await dialog().getByText("2 users were extended.").waitFor();
    expect(await ends()).toEqual([until.toISOString(), until.toISOString(), cleo]);
  });

  test("is moved and moved back on the dashboard, and the parts of it are for everybody", async () => {
    const { expire_at: before } = await user();
    await page.goto(PAGES.dashboard);
    await arrive(page, "Dashboard");
    await change("Extend … anna", "End it sooner", { "Or until": local(inDays(2)) });
    await says(page, /^Access of anna ends sooner now: /);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width: 320, height: 700 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
      expect((await undo().boundingBox())?.height ?? 0).toBeGreaterThanOrEqual(44);
      await page.getByRole("button", { name: "Extend … anna" }).click();
      await dialog().getByText("What will happen").waitFor();
      expect(await dialog().evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
      expect(await axeFinds(page)).toEqual([]);
      await dialog().getByRole("button", { name: "Cancel" }).click();
      expect(await axeFinds(page)).toEqual([]);
    }
    await undo().click();
    await says(page, /^Undone: access of anna ends /);
    expect((await user()).expire_at).toBe(before);
    // There is a way back only from what is shown.
    await atRest(page);
    await page.getByRole("button", { name: "Let go … anna" }).click();
    await dialog().getByLabel("When access ends").selectOption("now");
    await dialog().getByRole("button", { name: "Disable now" }).click();
    await says(page, "anna was disabled.");
    await undo().click();
    await says(page, "Undone: anna is enabled again. Scheduled jobs that were removed stay removed.");
    expect((await user()).status).toBe("active");
  });
});
