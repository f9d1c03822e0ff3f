/** An administrator's reviews: begun, answered one by one and several at once, closed, and proved by a file. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { PAGES, reviewPage } from "../../../../src/shared/product/pages.ts";
import { DAY } from "../../../../src/shared/time/clock.ts";
import { admins } from "../../../../src/store/schema-auth.ts";
import type { Client } from "../../../support/app.ts";
import { HANG } from "../../../support/hang.ts";
import { atRest, describeInBrowser, expectNoFaults, soon, type WatchedPage } from "../../support/browser.ts";
import { openBrowser } from "../../support/chromium.ts";
import { type ConsoleApp, openConsoleApp, openSignedIn } from "../../support/console-app.ts";
import { keyboard } from "../../support/hands.ts";

describeInBrowser("reviews", () => {
  let browser: Browser;
  let system: ConsoleApp;
  let admin: Client;
  let watched: WatchedPage;
  let page: Page;
  beforeAll(async () => {
    browser = await openBrowser();
  }, HANG);
  beforeEach(async () => {
    system = await openConsoleApp();
    admin = await system.admin();
    for (const name of ["anna", "bela", "carla", "dora"]) {
      const sponsor_email = name === "dora" ? "bo@example.com" : "";
      await admin.call("POST", "/users", { username: name, email: `${name}@example.org`, sponsor_email });
    }
    watched = await openSignedIn(browser, system, "admin");
    page = watched.page;
  }, HANG);
  afterEach(async () => {
    expectNoFaults(watched);
    await watched.close();
    await system.close();
  });
  afterAll(async () => await browser?.close());

  const review = async () => (await admin.call("GET", "/reviews")).body.data.items[0];
  const statusOf = async (name: string) =>
    (await admin.call("GET", `/users?q=${name}`)).body.data.items[0].status as string;
  const dialog = () => page.getByRole("dialog");
  const begin = async () => (await admin.call("POST", "/reviews", { scope: "all" })).body.data.id as number;

  test(
    "by keyboard: one is begun once it was said whom it asks, shown on the dashboard, and answered",
    async () => {
      const hands = keyboard(page);
      await page.goto(PAGES.reviews);
      await page.getByText("No review has begun yet.").waitFor();
      await hands.press("button", "Begin a review");
      await dialog().getByText("The review is about 4 users.").waitFor();
      await dialog().getByText("1 sponsor is asked about 1 user by mail.").waitFor();
      await hands.choose("Whose access", "Of a sponsor");
      await hands.type("Which one", "nobody@example.com");
      await dialog().getByText("Nobody of them has access").waitFor();
      await hands.type("Which one", "bo@example.com");
      await dialog().getByText("The review is about 1 user.").waitFor();
      await hands.choose("Whose access", "Everybody");
      await hands.type("Days to answer", "7");
      await dialog().getByText("Owners and operators answer for 3 users, here.").waitFor();
      await hands.press("button", "Begin it");
      await page.getByText("The review of 4 users has begun.").waitFor();
      expect(await review()).toMatchObject({ scope: "all", total: 4, unanswered_way: "disable" });
      await page.goto(PAGES.dashboard);
      await page.getByText("3 users are not answered for").waitFor();
      await hands.press("link", "Review 1");
      await page.getByText("bo@example.com is asked by mail.").waitFor();
      await hands.press("button", "End … bela");
      await dialog().getByText("bela can no longer log in.").waitFor();
      await hands.type("Reason", "Left");
      await hands.press("button", "End");
      await page.getByText("bela: the answer is stored.").waitFor();
      await page.getByRole("heading", { name: "bela" }).waitFor({ state: "detached" });
      expect([await statusOf("bela"), await statusOf("anna")]).toEqual(["disabled", "active"]);
      await hands.choose("Show", "Everybody");
      await page.getByText("Access ended").waitFor();
    },
    // Hundreds of keys are pressed.
    3 * HANG,
  );

  test(
    "it is said when the next one begins by itself, or that none does and where that is set",
    async () => {
      await page.goto(PAGES.reviews);
      await page.getByText("No review begins by itself.").waitFor();
      await page.getByRole("link", { name: "Set how often" }).click();
      await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
      await admin.call("PUT", "/settings", { key: "policy.review_every", value: "30d" });
      await page.goto(PAGES.reviews);
      await page.getByText("every 30 days, counted from the last one or from when this was set.").waitFor();
      await begin();
      const next = new Date(system.clock.now().getTime() + 30 * DAY);
      await page.reload();
      const on = next.toLocaleDateString("en-GB", { dateStyle: "medium", timeZone: "Europe/Berlin" });
      await page.getByText(`begins by itself every 30 days: the next one on ${on}.`).waitFor();
      await system.db.update(admins).set({ role: "operator" });
      await page.reload();
      await page.getByText("Owners set whether a review of everybody begins by itself.").waitFor();
      await soon(async () => expect(await page.getByRole("link", { name: "Set how often" }).count()).toBe(0));
    },
    HANG,
  );

  test(
    "a company is found by a part of its name",
    async () => {
      for (const name of ["Lindqvist AB", "Åkerman AB"]) await admin.call("POST", "/companies", { name });
      await admin.call("PATCH", "/users/1", { company_id: 1 });
      const hands = keyboard(page);
      await page.goto(PAGES.reviews);
      await hands.press("button", "Begin a review");
      await hands.choose("Whose access", "Of a company");
      await hands.type("Company", "lind");
      await dialog().getByText("Only Lindqvist AB has that in its name.").waitFor();
      await page.keyboard.press("Enter");
      await dialog().getByText("The review is about 1 user.").waitFor();
      await hands.press("button", "Begin it");
      await page.getByText("The review of 1 user has begun.").waitFor();
      expect(await review()).toMatchObject({ scope: { company: 1 }, scope_name: "Lindqvist AB" });
    },
    HANG,
  );

  test(
    "several are answered for at once only with a reason, in the service's words",
    async () => {
      const id = await begin();
      await page.goto(reviewPage(id));
      await atRest(page);
      const one = await page.getByRole("region", { name: "anna" }).boundingBox();
      const next = await page.getByRole("region", { name: "bela" }).boundingBox();
      expect((next?.y ?? 0) - (one?.y ?? 0) - (one?.height ?? 0)).toBeGreaterThanOrEqual(16);
      for (const name of ["anna", "carla"]) await page.getByRole("checkbox", { name: `Select ${name}` }).click();
      await page.getByRole("button", { name: "Keep … 2 selected" }).click();
      await dialog().getByText("Nothing changes.").waitFor();
      await dialog().getByRole("button", { name: "Keep", exact: true }).click();
      await dialog().getByText("Several answers at once need a reason.").waitFor();
      expect(await review()).toMatchObject({ kept: 0, unanswered: 4 });
      await dialog().getByLabel("Reason").fill("The project goes on");
      await dialog().getByRole("button", { name: "Keep", exact: true }).click();
      await page.getByText("2 users: the answer is stored.").waitFor();
      expect(await review()).toMatchObject({ kept: 2, unanswered: 2 });
      await page.getByText("2 not answered, 2 kept").waitFor();
      // A day that is too late is refused by the service, and nothing is stored.
      await page.getByRole("button", { name: "Leave open … bela" }).click();
      await dialog().getByLabel("Until").fill("2099-01-01T12:00");
      await dialog().getByText("What will happen").waitFor();
      await dialog().getByRole("button", { name: "Leave open", exact: true }).click();
      await dialog().getByText("An answer may wait until a moment in the future").waitFor();
      await dialog().getByLabel("Until").fill("2026-12-01T12:00");
      await dialog().getByText("What will happen").waitFor();
      await dialog().getByRole("button", { name: "Leave open", exact: true }).click();
      await page.getByText("The answer may wait until 1 Dec 2026").waitFor();
    },
    HANG,
  );

  test(
    "one is closed by hand with what becomes of the rest, never changes then, and is a file",
    async () => {
      const id = await begin();
      await admin.call("POST", `/reviews/${id}/items`, { users: [1, 2], answer: "keep", reason: "All is well" });
      await page.goto(reviewPage(id));
      await page.getByRole("button", { name: "Close …" }).click();
      await dialog().getByText("2 users are only listed, and keep the access.").waitFor();
      await dialog().getByLabel("Who is not answered for").selectOption("disable");
      await dialog().getByText("2 users are disabled at once.").waitFor();
      await dialog().getByRole("button", { name: "Close it now" }).click();
      await page.getByText("The review is closed.").waitFor();
      await page.getByText("2 not answered, 2 kept, 0 ended, 0 shortened").waitFor();
      expect([await statusOf("carla"), await statusOf("dora"), await statusOf("anna")]).toEqual([
        ...["disabled", "disabled", "active"],
      ]);
      await page.getByText("Nobody answered in time").first().waitFor();
      await soon(async () => expect(await page.getByRole("button", { name: /…/ }).count()).toBe(0));
      const [file] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("link", { name: "Report (CSV)" }).click(),
      ]);
      expect(file.suggestedFilename()).toMatch(/^review-1.*\.csv$/);
      expect(readFileSync(await file.path(), "utf8")).toContain("All is well");
    },
    HANG,
  );

  test(
    "all people of a sponsor who left are moved, once it was said who they are",
    async () => {
      await page.goto(PAGES.sponsors);
      await page.getByRole("button", { name: "Move … bo@example.com" }).click();
      await dialog().getByLabel("E-mail of who answers from now on").fill("eva@example.com");
      await dialog().getByText("eva@example.com answers for 1 user of bo@example.com").waitFor();
      await dialog().getByRole("button", { name: "Move them" }).click();
      await page.getByText("eva@example.com answers for 1 more user now.").waitFor();
      await page.getByRole("button", { name: "Move … eva@example.com" }).waitFor();
      expect((await admin.call("GET", "/sponsors")).body.data.items).toMatchObject([{ email: "eva@example.com" }]);
    },
    HANG,
  );
});
