/** The list of users: what it says of each, how it is filtered, and what becomes of texts that do not fit. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import type { Browser, Page } from "playwright-core";
import { PAGES } from "../../../../src/shared/product/pages.ts";
import { DAY, shift } from "../../../../src/shared/time/clock.ts";
import { sshKeys, users } from "../../../../src/store/schema.ts";
import { type Client, loginUser } from "../../../support/app.ts";
import { freshKey } from "../../../support/keys.ts";
import { describeInBrowser, expectNoFaults, type WatchedPage } from "../../support/browser.ts";
import { openBrowser } from "../../support/chromium.ts";
import { type ConsoleApp, openConsoleApp, openSignedIn } from "../../support/console-app.ts";
import { arrive, says } from "../../support/journeys.ts";

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
    await page.waitForLoadState("networkidle");
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
    expect(await row("anna").getByRole("rowheader").allInnerTexts()).toEqual(["anna\nAnna Ek"]);
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
    expect(await activity.inputValue()).toBe("60d");

    const supervisor = page.getByLabel(/^Supervisor/);
    const suggested = () =>
      supervisor.evaluate((input: HTMLInputElement) => Array.from(input.list?.options ?? [], ({ value }) => value));
    expect(await suggested()).toEqual(["Bo Lindqvist", "Chen Wei"]);
    await supervisor.fill("chen");
    await says(page, "0 users match.");
    await page.waitForLoadState("networkidle");
    expect(await suggested()).toEqual(["Chen Wei"]);
    await supervisor.fill("Chen Wei");
    await says(page, "1 user matches.");
    await lists("never");

    await page.goto(`${PAGES.users}?silent_for=soon`);
    await says(page, "The address has a filter that there is not.");
    await says(page, "there are 30d, 60d, 90d");
    await says(page, "3 users.");
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
      expect(await page.locator(".cut[tabindex]").count()).toBe(1);
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
      expect(await name.getAttribute("tabindex")).toBe("0");
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
    for (let index = 1; index <= 25; index++) await create(`contractor-${index}`);
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
    expect(await page.getByText("used now").count()).toBe(25);
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThanOrEqual(5000);
  });
});
