/** The list of users: what it says of each, how it is filtered, and what becomes of texts that do not fit. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import type { Browser, Page } from "playwright-core";
import { PAGES, userPage } from "../../../../src/shared/product/pages.ts";
import { DAY, shift } from "../../../../src/shared/time/clock.ts";
import { sshKeys, users } from "../../../../src/store/schema.ts";
import { type Client, loginUser } from "../../../support/app.ts";
import { freshKey } from "../../../support/keys.ts";
import { axeFinds } from "../../support/axe.ts";
import { atRest, describeInBrowser, expectNoFaults, soon, type WatchedPage } from "../../support/browser.ts";
import { openBrowser } from "../../support/chromium.ts";
import { type ConsoleApp, openConsoleApp, openSignedIn } from "../../support/console-app.ts";
import { expectFocus, keyboard, mouse } from "../../support/hands.ts";
import { arrive, logOut, says } from "../../support/journeys.ts";

describeInBrowser("the list of users", () => {
  let browser: Browser;
  let system: ConsoleApp;
  let admin: Client;
  let watched: WatchedPage;
  let page: Page;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  beforeEach(async () => {
    system = await openConsoleApp();
    admin = await system.admin();
  });
  afterEach(async () => {
    expectNoFaults(watched);
    await watched.close();
    await system.close();
  });
  afterAll(async () => await browser?.close());

  async function open(path: string = PAGES.users): Promise<void> {
    watched = await openSignedIn(browser, system, "admin");
    page = watched.page;
    await page.goto(path);
    await arrive(page, "Users");
    await atRest(page);
  }

  async function create(username: string, about: object = {}): Promise<number> {
    const body = { username, email: `${username}@example.org`, ...about };
    return (await admin.call("POST", "/users", body)).body.data.id;
  }

  /** Waits until the list has these, in this order. */
  async function lists(...names: readonly string[]): Promise<void> {
    const isListed = (wanted: string) =>
      Array.from(document.querySelectorAll("tbody th a"), ({ textContent }) => textContent).join() === wanted;
    await page.waitForFunction(isListed, names.join());
  }

  const row = (name: string) => page.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });

  test("says who each is, whom they work for, and when they were seen last", async () => {
    await create("anna", { full_name: "Anna Ek", supervisor: "Bo Lindqvist" });
    await create("never");
    const anna = await loginUser(system.system, system.app, "anna");
    const { body } = await anna.call("POST", "/me/keys", { name: "laptop", public_key: freshKey() });
    const usedAt = shift(system.clock.now(), 2 * DAY);
    await system.db.update(sshKeys).set({ lastUsedAt: usedAt }).where(eq(sshKeys.id, body.data.id));
    system.clock.advance(5 * DAY);
    await open();
    const cells = (name: string) => row(name).locator("td").allInnerTexts();
    await soon(async () => expect(await row("anna").getByRole("rowheader").allInnerTexts()).toEqual(["anna\nAnna Ek"]));
    expect(await cells("anna")).toMatchObject({
      ...{ 2: "anna@example.org\nBo Lindqvist", 3: "5 days ago", 4: "1\nused 3 days ago" },
    });
    expect(await cells("never")).toMatchObject({ ...{ 2: "never@example.org", 3: "never", 4: "none" } });
  });

  test("finds who was never there and who has been silent, and suggests supervisors", async () => {
    await create("never", { supervisor: "Chen Wei" });
    await create("silent", { supervisor: "Bo Lindqvist" });
    await loginUser(system.system, system.app, "silent");
    system.clock.advance(61 * DAY);
    admin = await system.admin();
    await create("newer", { supervisor: "Bo Lindqvist" });
    await open();
    const activity = page.getByLabel(/^Activity/);
    await activity.selectOption("never");
    await lists("newer", "never");
    expect(new URL(page.url()).search).toBe("?last_used=never");
    await activity.selectOption("60d");
    await lists("silent", "never");
    expect(new URL(page.url()).search).toBe("?silent_for=60d");
    await activity.selectOption("90d");
    await says(page, "0 users match.");
    await page.goBack();
    await lists("silent", "never");
    await soon(async () => expect(await activity.inputValue()).toBe("60d"));

    const supervisor = page.getByLabel(/^Supervisor/);
    const suggested = () =>
      supervisor.evaluate((input: HTMLInputElement) => Array.from(input.list?.options ?? [], ({ value }) => value));
    expect(await suggested()).toEqual(["Bo Lindqvist", "Chen Wei"]);
    await supervisor.fill("chen");
    await says(page, "0 users match.");
    await atRest(page);
    expect(await suggested()).toEqual(["Chen Wei"]);
    await supervisor.fill("Chen Wei");
    await says(page, "1 user matches.");
    await lists("never");

    await page.goto(`${PAGES.users}?silent_for=soon`);
    await says(page, "The address has a filter that there is not.");
    await says(page, "there are 30d, 60d, 90d");
    await says(page, "3 users.");
  });

  test("finds who was not told yet, and tells several of them, or one on their page", async () => {
    const lines = ["username,email", "amy,amy@example.org", "ben,ben@example.org", "cal,cal@example.org"].join("\n");
    const sent = await admin.call("POST", "/users/import?mail=false", lines, { "content-type": "text/csv" });
    expect(sent.status).toBe(200);
    await create("told");
    const ben = (await admin.call("GET", "/users?q=ben")).body.data.items[0].id as number;
    await admin.call("POST", `/users/${ben}/disable`);
    const pending = async () => {
      const { body } = await admin.call("GET", "/users?welcome=pending&sort=username");
      return body.data.items.map(({ username }: { username: string }) => username);
    };
    await open();
    await page.getByLabel("Welcome mail").selectOption("pending");
    await says(page, "3 users match.");
    expect(new URL(page.url()).search).toBe("?welcome=pending");
    await soon(async () => expect(await row("amy").locator("td").nth(1).textContent()).toMatch(/not told yet$/));
    await page.getByRole("checkbox", { name: "Select all 3 on this page" }).click();
    // Nobody who cannot log in is told of access.
    await page.getByRole("button", { name: "Tell 2 users …" }).click();
    const dialog = page.getByRole("dialog", { name: "Tell 2 users of the account" });
    await dialog.getByText("2 users get the mail that says how to log in.").waitFor();
    // Somebody else tells one of them meanwhile.
    const amy = (await admin.call("GET", "/users?q=amy")).body.data.items[0].id as number;
    await admin.call("POST", `/users/${amy}/welcome`);
    await dialog.getByRole("button", { name: "Send 2 mails" }).click();
    await dialog.getByText("1 user was told.").waitFor();
    await dialog.getByText("amy has been welcomed already").waitFor();
    await dialog.getByRole("button", { name: "Close" }).click();
    await says(page, "1 user was told. Failed for 1 user.");
    expect(await pending()).toEqual(["ben"]);

    await page.goto(userPage(ben));
    await says(page, "ben was not told of the account yet.");
    await atRest(page);
    await soon(async () => expect(await page.getByRole("button", { name: "Send the welcome mail …" }).count()).toBe(0));
    await admin.call("POST", `/users/${ben}/enable`);
    await page.reload();
    await page.getByRole("button", { name: "Send the welcome mail …" }).click();
    await says(page, "ben@example.org gets the mail that says how to log in.");
    await page.getByRole("button", { name: "Send the mail", exact: true }).click();
    await says(page, "ben was told.");
    await atRest(page);
    await soon(async () => expect(await page.getByText("was not told of the account").count()).toBe(0));
    expect(await pending()).toEqual([]);
  });

  describe("a selection", () => {
    const bar = () => page.getByRole("group", { name: "Change several users" });
    const next = () => page.getByRole("link", { name: "Next page" }).click();
    const select = (name: string) => row(name).getByRole("checkbox").click();
    const disabled = async () => (await admin.call("GET", "/users?status=disabled")).body.data.total as number;
    async function createMany(count: number): Promise<void> {
      for (let index = 1; index <= count; index++) await create(`many-${String(index).padStart(2, "0")}`);
    }

    test("lives across pages, and is changed as a whole", async () => {
      await createMany(53);
      await open(`${PAGES.users}?sort=username&q=many`);
      for (const name of ["many-01", "many-02"]) await select(name);
      await bar().getByText("2 selected", { exact: true }).waitFor();
      await next();
      await row("many-26").waitFor();
      await bar().getByText("2 selected on 1 page").waitFor();
      await select("many-26");
      await bar().getByText("3 selected on 2 pages").waitFor();
      await next();
      await page.getByRole("checkbox", { name: "Select all 3 on this page" }).click();
      await bar().getByText("6 selected on 3 pages").waitFor();
      await page.goBack();
      await row("many-26").waitFor();
      await soon(async () => expect(await row("many-26").getByRole("checkbox").isChecked()).toBe(true));
      await select("many-26");
      await bar().getByText("5 selected on 2 pages").waitFor();
      await page.getByRole("button", { name: "Disable 5 users …" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText("What happens to each of the 5").click();
      await soon(async () =>
        expect(await dialog.locator("details strong").allInnerTexts()).toEqual(
          ["01", "02", "51", "52", "53"].map((number) => `many-${number}`),
        ),
      );
      // A reason that was typed is not lost by Escape, and not sent by it.
      await dialog.getByLabel("Reason").fill("The contract ended");
      await page.keyboard.press("Escape");
      const question = dialog.getByRole("alert").filter({ hasText: "lose what you typed" });
      await question.getByRole("button", { name: "Keep typing" }).click();
      await question.waitFor({ state: "detached" });
      await dialog.getByRole("button", { name: "Cancel" }).click();
      await question.waitFor();
      await page.keyboard.press("Escape");
      await question.waitFor({ state: "detached" });
      expect(await disabled()).toBe(0);
      await dialog.getByRole("button", { name: "Disable 5 users" }).click();
      await dialog.getByRole("button", { name: "Close" }).click();
      await says(page, "5 users were disabled.");
      expect(await disabled()).toBe(5);
      await soon(async () => expect(await bar().getByText("selected", { exact: false }).count()).toBe(0));
    });

    test("stays as it was once a reason that was typed is discarded", async () => {
      await createMany(2);
      await open(`${PAGES.users}?q=many`);
      for (const name of ["many-01", "many-02"]) await select(name);
      await page.getByRole("button", { name: "Disable 2 users …" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Reason").fill("The contract ended");
      await dialog.getByRole("button", { name: "Cancel" }).click();
      await dialog.getByRole("button", { name: "Discard it" }).click();
      await dialog.waitFor({ state: "detached" });
      await bar().getByText("2 selected", { exact: true }).waitFor();
      expect(await disabled()).toBe(0);
    });

    test("is all that match, also on pages that were not shown, and begins anew with another filter", async () => {
      await createMany(53);
      await create("other");
      await open(`${PAGES.users}?q=many`);
      const hands = keyboard(page);
      await hands.press("button", "Select all 53 that match");
      await bar().getByText("53 selected on 3 pages").waitFor();
      await expectFocus(page, "after selecting all that match");
      await soon(async () =>
        expect(await page.getByRole("checkbox", { name: "Select all 25 on this page" }).isChecked()).toBe(true),
      );
      await select("many-53");
      await bar().getByText("52 selected on 3 pages").waitFor();
      await page.getByRole("button", { name: "Extend 52 users …" }).waitFor();
      await page.getByLabel("Search").fill("other");
      await says(page, "1 user matches.");
      await soon(async () => expect(await bar().getByText("selected", { exact: false }).count()).toBe(0));
      await page.goBack();
    });

    test("of none gives the focus back to its place", async () => {
      await createMany(26);
      await open();
      const hands = keyboard(page);
      await hands.press("checkbox", "Select many-26");
      await hands.press("button", "Select none");
      await bar().getByText("Select users to extend or disable several at once.").waitFor();
      expect(await bar().evaluate((element) => element === document.activeElement)).toBe(true);
    });

    test("is not all of more than can be changed at once", async () => {
      await create("first");
      await open();
      await page.route("**/api/v1/users?*", async (route) => {
        const response = await route.fetch();
        const body = await response.json();
        await route.fulfill({ response, json: { ...body, data: { ...body.data, total: 2001 } } });
      });
      await page.reload();
      await bar().getByText("At most 2,000 can be selected at once").waitFor();
      await soon(async () => expect(await page.getByRole("button", { name: /^Select all/ }).count()).toBe(0));
    });

    test("that cannot be fetched says why, and stays as it was", async () => {
      await createMany(26);
      await open();
      await select("many-26");
      await page.route("**/api/v1/users?*page_size=500*", (route) => route.fulfill({ status: 503, body: "" }));
      await page.getByRole("button", { name: "Select all 26 that match" }).click();
      await page.getByRole("alert").waitFor();
      await bar().getByText("1 selected", { exact: true }).waitFor();
    });
  });

  test("cuts what does not fit, and shows it whole to a pointer, a keyboard and a finger", async () => {
    const full_name = `Maria ${"von Hohenstein-".repeat(7)}End`;
    await create("cut", { full_name, supervisor: "Bo" });
    await open();
    const name = row("cut").locator("th .cut");
    const isWhole = () =>
      name.evaluate((element) => {
        const text = element.firstElementChild as HTMLElement;
        const { right } = text.getBoundingClientRect();
        const place = getComputedStyle(text).position === "absolute" ? text : element;
        return place.scrollWidth <= place.clientWidth && right <= document.documentElement.clientWidth;
      });
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 900 });
      await page.mouse.move(0, 0);
      await page.locator(".cut[tabindex]").waitFor();
      // Short texts are no stop on the way with Tab.
      await soon(async () => expect(await page.locator(".cut[tabindex]").count()).toBe(1));
      const rowHeight = () => row("cut").evaluate(({ offsetHeight }: HTMLElement) => offsetHeight);
      const before = await rowHeight();
      expect(await isWhole()).toBe(false);
      await name.hover();
      expect(await isWhole()).toBe(true);
      // Where rows are rows, those below do not move.
      if (width === 1280) expect(await rowHeight()).toBe(before);
      await page.mouse.move(0, 0);
      expect(await isWhole()).toBe(false);
      await row("cut").getByRole("link").focus();
      await page.keyboard.press("Tab");
      expect(await name.evaluate((element) => element === document.activeElement)).toBe(true);
      expect(await isWhole()).toBe(true);
      // It stays the stop that it is.
      await soon(async () => expect(await name.getAttribute("tabindex")).toBe("0"));
      await page.keyboard.press("Tab");
      expect(await isWhole()).toBe(false);
    }
    await name.click();
    await page.mouse.move(0, 0);
    expect(await isWhole()).toBe(true);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  });

  test("has 25 users on a phone in at most 5,000 pixels, with everything that is known of each", async () => {
    const about = { fullName: "Anders Andersson", supervisor: "Bo Lindqvist", lastLoginAt: system.clock.now() };
    for (let index = 1; index <= 26; index++) await create(`contractor-${index}`);
    await system.db.update(users).set(about);
    const [owner] = await system.db.select().from(users);
    if (owner === undefined) throw new Error("nobody was created");
    const key = freshKey();
    const ids = (await system.db.select({ id: users.id }).from(users)).map(({ id }) => id);
    const mark = { type: "ssh-ed25519", bits: 256, publicKey: key, createdAt: system.clock.now() };
    await system.db.insert(sshKeys).values(
      ids.map((userId) => ({
        ...{ ...mark, userId, name: "laptop", lastUsedAt: system.clock.now() },
        fingerprint: `SHA256:${String(userId).padEnd(43, "x")}`,
      })),
    );
    await open();
    await page.setViewportSize({ width: 360, height: 800 });
    await soon(async () => expect(await page.getByText("used now").count()).toBe(25));
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThanOrEqual(5000);
    const selecting = page.getByRole("button", { name: "Select all 26 that match" });
    expect((await selecting.boundingBox())?.height).toBeGreaterThanOrEqual(44);
  });

  test("is compact where somebody wants it, which outlasts the session and holds for all lists", async () => {
    for (let index = 1; index <= 3; index++) await create(`compact-${index}`, { full_name: "Anders Andersson" });
    await open();
    const heights = () => page.locator("tbody tr").evaluateAll((rows) => rows.map(({ clientHeight }) => clientHeight));
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 800 });
      const before = await heights();
      await keyboard(page).press("checkbox", "Compact rows");
      const compact = await heights();
      expect(compact).toHaveLength(3);
      expect(await axeFinds(page, { type: "tag", values: ["wcag2a", "wcag2aa", "wcag22aa"] })).toEqual([]);
      for (const [index, height] of compact.entries()) expect(height).toBeLessThan((before[index] ?? 0) * 0.9);
      await page.goto(PAGES.audit);
      await page.getByRole("checkbox", { name: "Compact rows" }).waitFor();
      await soon(async () => expect(await page.getByRole("checkbox", { name: "Compact rows" }).isChecked()).toBe(true));
      await page.locator("tbody tr").first().waitFor();
      expect(Math.min(...(await heights()))).toBeLessThan(width === 1280 ? 32 : 80);
      await page.goto(PAGES.users);
      await row("compact-1").waitFor();
      expect(await heights()).toEqual(compact);
      if (width === 1280) await keyboard(page).press("checkbox", "Compact rows");
    }
    await logOut(mouse(page));
    expect(await page.evaluate(() => document.documentElement.className)).toBe("compact");
    await page.reload();
    expect(await page.evaluate(() => document.documentElement.className)).toBe("compact");
  });
});
