/** The dashboard: what needs somebody today, in the order of its weight, and dealt with where it stands. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { audited } from "../../src/domain/operation/audited.ts";
import { UamError } from "../../src/shared/errors.ts";
import { PAGES, userPage } from "../../src/shared/product/pages.ts";
import { DAY, HOUR, shift } from "../../src/shared/time/clock.ts";
import { approvals, outbox } from "../../src/store/schema.ts";
import { admins } from "../../src/store/schema-auth.ts";
import type { Client } from "../support/app.ts";
import { atRest, describeInBrowser, expectNoFaults, focusedName, soon, type WatchedPage } from "./support/browser.ts";
import { openBrowser } from "./support/chromium.ts";
import { type ConsoleApp, openConsoleApp, openSignedIn } from "./support/console-app.ts";
import { HOSTILE } from "./support/data.ts";
import { arrive, says } from "./support/journeys.ts";

describeInBrowser("the dashboard", () => {
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
    watched = await openSignedIn(browser, system, "admin");
    page = watched.page;
  });
  afterEach(async () => {
    expectNoFaults(watched);
    await watched.close();
    await system.close();
  });
  afterAll(async () => await browser?.close());

  async function open(): Promise<void> {
    await page.goto(PAGES.dashboard);
    await arrive(page, "Dashboard");
    await atRest(page);
  }

  const create = (username: string, days: number) =>
    admin.call("POST", "/users", { username, email: `${username}@example.org`, ttl_days: days });
  const request = (username: string, purpose = "") => ({
    ...{ username, purpose, email: `${username}@example.org`, createdAt: system.clock.now() },
  });
  const menu = (name: string) => page.getByRole("navigation").getByRole("link", { name, exact: true });

  test("with nothing in it says so, and takes no room", async () => {
    await page.setViewportSize({ width: 1280, height: 400 });
    await open();
    await says(page, "Nothing needs you today.");
    await says(page, "Nobody's access ends in the next 90 days.");
    await soon(async () => expect(await page.locator("main svg").count()).toBe(0));
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThanOrEqual(700);
    await soon(async () => expect(await menu("Dashboard").getAttribute("data-count")).toBeNull());
  });

  test("says that no mail is set up, instead of that nothing needs anybody", async () => {
    Object.assign(system.services.policy, { sendsMail: false });
    await open();
    await says(page, "No mail is set up");
    await soon(async () => expect(await page.getByText("Nothing needs you today.").count()).toBe(0));
    await soon(async () => expect(await menu("Dashboard").getAttribute("data-count")).toBeNull());
  });

  test("names what is wrong from the first failure on, and how much of it in the menu", async () => {
    const { id, client } = await system.user("alice");
    await client.call("POST", "/me/lock");
    const now = system.clock.now();
    const mail = { recipient: "x@example.org", subject: "s", text: "", html: "", createdAt: now, dueAt: now };
    await system.db.insert(outbox).values({ ...mail, dueAt: shift(now, HOUR), attempts: 1, lastError: HOSTILE[0] });
    await open();
    const wrong = page.getByRole("region", { name: "This needs somebody now" });
    await wrong.getByText("A user shut their own account: “This was not me”").waitFor();
    await wrong.getByText(HOSTILE[0]).waitFor();
    await soon(async () => expect(await page.locator("main img, main script").count()).toBe(0));
    await soon(async () => expect(await menu("Dashboard").getAttribute("data-count")).toBe("2"));
    await soon(async () => expect(await menu("Dashboard").getAttribute("title")).toBe("2 problems"));
    const whole = page.locator("button[aria-controls=pages]");
    await soon(async () => expect(await whole.getAttribute("data-count")).toBe("2"));
    await wrong.getByRole("link", { name: "alice" }).click();
    await arrive(page, "alice");
    expect(page.url()).toEndWith(userPage(id));
    // The menu follows what is done on another page.
    await page.getByRole("button", { name: "Enable …" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Enable", exact: true }).click();
    await page.locator('nav [data-count="1"]').waitFor();
  });

  test("says that the newest backup is too old, and what the next one failed on", async () => {
    const attempt = (run: () => Promise<void>) => audited(system.system, { action: "service.backup" }, run);
    await attempt(async () => {});
    system.clock.advance(3 * DAY);
    await attempt(() => Promise.reject(new UamError("conflict", HOSTILE[0]))).catch(() => {});
    await watched.close();
    watched = await openSignedIn(browser, system, "admin");
    page = watched.page;
    await open();
    const wrong = page.getByRole("region", { name: "This needs somebody now" });
    await wrong.getByRole("heading", { name: "The newest backup is too old" }).waitFor();
    await wrong.getByText(HOSTILE[0]).waitFor();
    await soon(async () => expect(await page.locator("main img, main script").count()).toBe(0));
    await soon(async () => expect(await menu("Dashboard").getAttribute("data-count")).toBe("1"));
  });

  test("leads from what failed to its records", async () => {
    await create("ben", 10);
    expect((await create("ben", 10)).status).toBe(409);
    await open();
    await page.getByRole("link", { name: /^Show what failed/ }).click();
    await arrive(page, "Audit log");
    await says(page, "1 record");
    await says(page, /tried to create the user/);
    const outcome = page.getByRole("combobox", { name: "Outcome" });
    await soon(async () => expect(await outcome.inputValue()).toBe("failed"));
  });

  test("says how many are open now, where that is not everybody who is active", async () => {
    await create("ben", 10);
    await open();
    const counters = page.getByRole("list", { name: "Users now" });
    await counters.getByText("active").waitFor();
    await soon(async () => expect(await counters.getByText("open now").count()).toBe(0));
    const later = { username: "later", email: "later@example.org" };
    await admin.call("POST", "/users", { ...later, starts_at: shift(system.clock.now(), 5 * DAY).toISOString() });
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      await open();
      await counters.getByRole("link", { name: "1 open now" }).waitFor();
      await soon(async () => expect(await counters.getByRole("link", { name: "2 active" }).count()).toBe(1));
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    }
    await counters.getByRole("link", { name: "1 open now" }).click();
    await arrive(page, "Users");
    await says(page, "ben");
    await soon(async () => expect(await page.getByText("later").count()).toBe(0));
  });

  test("keeps what is wrong apart from the reviews that wait", async () => {
    const { client } = await system.user("alice");
    await client.call("POST", "/me/lock");
    await create("ben", 10);
    await admin.call("POST", "/reviews", { scope: "all", due_days: 10 });
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      await open();
      const wrong = await page.locator(".urgent").boundingBox();
      const reviews = await page.getByRole("region", { name: /^Reviews wait/ }).boundingBox();
      expect((reviews?.y ?? 0) - (wrong?.y ?? 0) - (wrong?.height ?? 0)).toBeGreaterThanOrEqual(16);
    }
  });

  test("has the oldest of 500 requests decided in place", async () => {
    await system.db
      .insert(approvals)
      .values(Array.from({ length: 500 }, (_, index) => request(`n${index}`, HOSTILE[2])));
    await open();
    const requests = page.getByRole("region", { name: "500 requests wait for a decision" });
    await soon(async () => expect(await requests.getByRole("button", { name: /^Approve/ }).count()).toBe(5));
    await requests.getByText("495 more.").waitFor();
    await soon(async () => expect(await menu("Applications").getAttribute("data-count")).toBe("500"));
    await requests.getByRole("button", { name: "Approve … n0" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("The account ext_n0 is created on the host.").waitFor();
    await dialog.getByLabel(/^Days of access/).fill("14");
    await dialog.getByRole("button", { name: "Approve", exact: true }).click();
    await says(page, "n0: approved, and the account is created.");
    // Where reading and tabbing go on: the button that was pressed is gone.
    await dialog.waitFor({ state: "detached" });
    await soon(async () => expect(await focusedName(page)).toBe("n0: approved, and the account is created."));
    await page.getByRole("button", { name: "Reject … n1" }).click();
    await dialog.getByLabel(/^Reason/).fill("Ask Bo first");
    await dialog.getByRole("button", { name: "Reject", exact: true }).click();
    await says(page, "n1: rejected.");
    await page.getByRole("region", { name: "498 requests wait for a decision" }).waitFor();
    await soon(async () =>
      expect(
        await page
          .getByRole("button", { name: /^Approve/ })
          .first()
          .getAttribute("aria-label"),
      ).toBe("Approve … n2"),
    );
  });

  test("tells the second of two administrators that the first has decided", async () => {
    await system.db.insert(approvals).values(request("contested"));
    await open();
    await page.getByRole("button", { name: "Approve … contested" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("is created on the host").waitFor();
    await admin.call("POST", "/approvals/1/review", { approve: false, reason: "no" });
    await dialog.getByRole("button", { name: "Approve", exact: true }).click();
    await dialog.getByText("The application was already rejected.").waitFor();
    await soon(async () => expect(await dialog.getByRole("button", { name: "Approve", exact: true }).count()).toBe(0));
    await dialog.getByRole("button", { name: "Close" }).click();
    await says(page, "Nothing needs you today.");
  });

  test("has endings extended and let go, and says of a user who is gone that they are", async () => {
    const ids = new Map<string, number>();
    for (const [name, days] of Object.entries({ soonest: 2, second: 3, third: 4, gone: 5 }))
      ids.set(name, (await create(name, days)).body.data.id);
    await open();
    const ends = page.getByRole("region", { name: /^Access of/ });
    const dialog = page.getByRole("dialog");
    await ends.getByRole("button", { name: "Extend … soonest" }).click();
    await dialog.getByLabel(/^More days/).fill("60");
    await dialog.getByRole("button", { name: "Extend", exact: true }).click();
    await says(page, /^soonest was extended until/);
    await ends.getByRole("button", { name: "Extend … soonest" }).waitFor({ state: "detached" });

    await ends.getByRole("button", { name: "Let go … second" }).click();
    await dialog.getByRole("button", { name: "Let it end" }).click();
    await says(page, /^second: access ends on/);
    await page.reload();
    await ends.getByText("1 more ends as planned.").waitFor();
    await soon(async () => expect(await ends.getByText("second").count()).toBe(0));
    await ends.getByRole("button", { name: "Show" }).click();
    await ends.getByRole("link", { name: "second" }).waitFor();

    await ends.getByRole("button", { name: "Let go … third" }).click();
    await dialog.getByLabel("When access ends").selectOption("now");
    await dialog.getByText("What will happen").waitFor();
    const reason = dialog.getByLabel(/^Reason/);
    await reason.fill("x".repeat(501));
    await dialog.getByRole("button", { name: "Disable now" }).click();
    await dialog.getByText("At most 500 characters.").waitFor();
    await reason.fill("The project is over");
    await dialog.getByRole("button", { name: "Disable now" }).click();
    await says(page, "third was disabled.");
    const disabled = (await system.auditRows()).filter(({ action }) => action === "user.disable");
    expect(disabled.map(({ detail }) => JSON.parse(detail))).toMatchObject([
      { username: "third", reason: "The project is over" },
    ]);

    await admin.call("DELETE", `/users/${ids.get("gone")}`);
    await ends.getByRole("button", { name: "Let go … gone" }).click();
    await dialog.getByLabel("When access ends").selectOption("now");
    await dialog.getByRole("alert").waitFor();
    await soon(async () => expect(await dialog.getByRole("button", { name: "Disable now" }).count()).toBe(0));
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await ends.getByRole("link", { name: "gone" }).waitFor({ state: "detached" });
  });

  test.each([
    ["auditor", 0, 0],
    ["reviewer", 2, 0],
    ["operator", 2, 2],
  ] as const)("offers a %s what they may do", async (role, deciding, ending) => {
    await create("soon", 3);
    await system.db.insert(approvals).values(request("waits"));
    await system.db.update(admins).set({ role });
    await open();
    const buttons = (name: RegExp) => page.getByRole("region", { name }).getByRole("button").count();
    expect([await buttons(/^1 request waits/), await buttons(/^Access of 1 user/)]).toEqual([deciding, ending]);
  });

  test("asks for what the menu says once a minute, and once for all", async () => {
    const asked: string[] = [];
    page.on("request", (sent) => void asked.push(new URL(sent.url()).pathname));
    await open();
    expect(asked.filter((path) => path === "/api/v1/admin/attention")).toHaveLength(1);
    await page.getByRole("link", { name: "Users", exact: true }).click();
    await arrive(page, "Users");
    await atRest(page);
    expect(asked.filter((path) => path === "/api/v1/admin/attention")).toHaveLength(1);
  });

  test("has the outline of what is to come, still, and says once that it is loading", async () => {
    const held = Promise.withResolvers<void>();
    await page.route(/\/api\/v1\/(admin\/|approvals)/, async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.goto(PAGES.dashboard);
    await page.locator(".skeleton").nth(3).waitFor();
    await page.getByText("Loading …").first().waitFor({ state: "attached" });
    await soon(async () => expect(await page.getByText("Loading …").count()).toBe(1));
    const moving = () => page.evaluate(() => document.getAnimations().length);
    expect(await moving()).toBe(0);
    await page.emulateMedia({ reducedMotion: "no-preference" });
    expect(await moving()).toBeGreaterThan(0);
    held.resolve();
    await says(page, "Nothing needs you today.");
    await soon(async () => expect(await page.locator(".skeleton").count()).toBe(0));
  });
});
