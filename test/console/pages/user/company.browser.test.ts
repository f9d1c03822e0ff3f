/** What managers see of their company, end, and apply for; and what they see once they are none. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { PAGES } from "../../../../src/shared/product/pages.ts";
import { HOUR, shift } from "../../../../src/shared/time/clock.ts";
import type { Client } from "../../../support/app.ts";
import { insertHost } from "../../../support/host-rows.ts";
import { makeManager } from "../../../support/manager.ts";
import { atRest, describeInBrowser, expectNoFaults, soon, type WatchedPage } from "../../support/browser.ts";
import { openBrowser } from "../../support/chromium.ts";
import { type ConsoleApp, openConsoleApp, openSignedIn } from "../../support/console-app.ts";
import { keyboard, mouse } from "../../support/hands.ts";
import { arrive, says } from "../../support/journeys.ts";

describeInBrowser("a manager's company", () => {
  let system: ConsoleApp;
  let browser: Browser;
  let admin: Client;
  let manager: WatchedPage;
  let managerId: number;
  let bobId: number;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    system = await openConsoleApp({ UAM_FLEET_WAIT: "1s" });
    admin = await system.admin();
    const company_id = (await admin.call("POST", "/companies", { name: "Lindqvist AB", max_users: 5 })).body.data.id;
    managerId = (await system.user("alice")).id;
    await makeManager(system, managerId, company_id);
    const bob = { username: "bob", email: "bob@example.org", full_name: "Bob Berg", company_id };
    bobId = (await admin.call("POST", "/users", bob)).body.data.id;
    await system.user("outsider");
    manager = await openSignedIn(browser, system, { user: "alice" });
  });
  afterEach(async () => {
    expectNoFaults(manager);
    await manager.close();
    await system.close();
  });

  const bob = async () => (await admin.call("GET", `/users/${bobId}`)).body.data;
  const pending = async () => (await admin.call("GET", "/approvals?status=pending")).body.data.items;

  describe.each([
    ["a mouse", mouse],
    ["the keyboard alone", keyboard],
  ] as const)("with %s", (_, handsOf) => {
    test("shows its people, and no others; one of them loses access, and is told so before", async () => {
      const { page } = manager;
      const hands = handsOf(page);
      await page.goto(PAGES.me);
      await hands.press("link", "See its people, end access, apply for a colleague");
      await arrive(page, "Lindqvist AB");
      await says(page, "2 of 5 people.");
      await says(page, "Bob Berg");
      await soon(async () => expect(await page.getByText("outsider").count()).toBe(0));
      await hands.press("button", "End … bob");
      await says(page, /^At once bob can no longer log in/);
      await hands.press("button", "Cancel");
      expect(await bob()).toMatchObject({ status: "active" });
      await hands.press("button", "End … bob");
      await hands.press("button", "End the access");
      await says(page, "bob has no access any more.");
      expect(await bob()).toMatchObject({ status: "disabled" });
      expect(await system.lastAudit("user.disable")).toMatchObject({ actorType: "user", actor: "alice" });
      await atRest(page);
      // Nothing gives it back here.
      await soon(async () => expect(await page.getByRole("button", { name: /bob/ }).count()).toBe(0));
    });

    test("applies for a colleague, and for more time for one", async () => {
      const { page } = manager;
      const hands = handsOf(page);
      await page.goto(PAGES.ownCompany);
      await hands.press("button", "Apply for a colleague …");
      await hands.press("button", "Send the application");
      await says(page, /^1 to 28 characters/);
      await hands.type("Username", "cleo");
      await hands.type("E-mail", "cleo@example.org");
      await hands.type("Purpose", "Maintenance");
      await hands.type("Hours", "Tuesdays, 8 to 18");
      await hands.press("button", "Send the application");
      await says(page, "Your application for cleo was sent. An administrator decides.");
      await hands.press("button", "More time … bob");
      await hands.type("Days", "0");
      await hands.press("button", "Send the request");
      await says(page, "This must be a whole number from 1 to 365.");
      await hands.type("Days", "12");
      await hands.type("Reason", "The tests take longer");
      await hands.press("button", "Send the request");
      await says(page, "Your request was sent.");
      const applied = await pending();
      expect(applied).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ username: "cleo", requested_by: "alice", hours_wish: "Tuesdays, 8 to 18" }),
          expect.objectContaining({ username: "bob", requested_by: "alice", hours_wish: "" }),
        ]),
      );
      expect(applied).toHaveLength(2);
    });
  });

  test("says until when somebody may still get in on another host", async () => {
    await insertHost(system, "web7", { leaseUntil: shift(system.clock.now(), 4 * HOUR), appliedId: 1 });
    await admin.call("PUT", `/users/${bobId}/hosts`, { hosts: ["web7"], groups: ["default"] });
    const { page } = manager;
    await page.goto(PAGES.ownCompany);
    await page.getByRole("button", { name: "End … bob" }).click();
    await page.getByRole("button", { name: "End the access" }).click();
    await says(page, /^bob has no access any more\. True on 0 of 1 further host; on web7 by .* at the latest\.$/);
  });

  test("is nothing for who is disabled meanwhile: what they still press is refused, and the page says what is true", async () => {
    const { page } = manager;
    await page.goto(PAGES.ownCompany);
    await page.getByRole("button", { name: "End … bob" }).click();
    // Their sessions go on: the pages of their own account stay theirs.
    await admin.call("POST", `/users/${managerId}/disable`);
    await page.getByRole("button", { name: "End the access" }).click();
    await page.getByRole("dialog").getByRole("alert").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    await arrive(page, "Your company");
    await says(page, "Your account is disabled");
    await says(page, "You manage no company, or your own access has ended.");
    await soon(async () => expect(await page.getByText("Bob Berg").count()).toBe(0));
    expect(await bob()).toMatchObject({ status: "active" });
  });

  test("is nothing for other users, and is named to none of them", async () => {
    await manager.close();
    manager = await openSignedIn(browser, system, { user: "outsider" });
    const { page } = manager;
    await page.goto(PAGES.me);
    await arrive(page, "Your access");
    await atRest(page);
    await soon(async () => expect(await page.getByText("Your company").count()).toBe(0));
    await page.goto(PAGES.ownCompany);
    await says(page, "You manage no company, or your own access has ended.");
    await soon(async () => expect(await page.getByRole("main").getByRole("button").count()).toBe(0));
  });

  test("is nothing once it has ended, as they have no access themselves", async () => {
    const { page } = manager;
    await page.goto(PAGES.ownCompany);
    await arrive(page, "Lindqvist AB");
    const [company] = (await admin.call("GET", "/companies")).body.data.items;
    await admin.call("POST", `/companies/${company.id}/end`);
    await page.reload();
    await says(page, "Your account is disabled");
  });
});
