/** An application that was rejected by mistake: the user is created from it, by who may create users. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import type { Browser } from "playwright-core";
import { PAGES } from "../../../../../src/shared/product/pages.ts";
import { approvals } from "../../../../../src/store/schema.ts";
import { admins } from "../../../../../src/store/schema-auth.ts";
import type { Client } from "../../../../support/app.ts";
import { HANG } from "../../../../support/hang.ts";
import { axeFinds } from "../../../support/axe.ts";
import { atRest, describeInBrowser, expectNoFaults, soon } from "../../../support/browser.ts";
import { openBrowser } from "../../../support/chromium.ts";
import { type ConsoleApp, openConsoleApp, openSignedIn } from "../../../support/console-app.ts";
import { keyboard } from "../../../support/hands.ts";
import { says } from "../../../support/journeys.ts";

describeInBrowser("a rejected application", () => {
  let browser: Browser;
  let system: ConsoleApp;
  let admin: Client;
  let companyId: number;
  beforeAll(async () => {
    [browser, system] = await Promise.all([openBrowser(), openConsoleApp()]);
    admin = await system.admin();
    companyId = (await admin.call("POST", "/companies", { name: "Lindqvist AB" })).body.data.id;
    for (const username of ["jack", "kim"]) {
      const person = { username, email: `${username}@example.org`, full_name: "J. K.", supervisor: "Bo" };
      const { body } = await admin.call("POST", "/approvals", {
        ...person,
        purpose: "Tests",
        sponsor_email: "bo@example.com",
      });
      await admin.call("POST", `/approvals/${body.data.id}/review`, { approve: false, reason: "Who is that?" });
    }
    await system.db.update(approvals).set({ companyId }).where(eq(approvals.username, "jack"));
  }, HANG);
  afterAll(async () => {
    await browser?.close();
    await system?.close();
  });

  const open = (name: string) => `Create the user … ${name}`;

  test(
    "is made good by keyboard: the dialog has what was applied for, and letters in it are text",
    async () => {
      const watched = await openSignedIn(browser, system, "admin");
      const { page } = watched;
      await page.setViewportSize({ width: 320, height: 640 });
      const hands = keyboard(page);
      await page.goto(`${PAGES.applications}?status=rejected`);
      await says(page, "Rejected by mistake?");
      await hands.press("button", open("jack"));
      const dialog = page.getByRole("dialog");
      await soon(async () => expect(await dialog.getByLabel(/^Company/).inputValue()).toBe("Lindqvist AB"));
      await soon(async () => expect(await dialog.getByLabel("Username").inputValue()).toBe("jack"));
      await atRest(page);
      expect(await axeFinds(page)).toEqual([]);
      await hands.type("Supervisor", "");
      await page.keyboard.type("Jarka");
      await hands.press("button", "Create the user");
      await says(page, "jack was created.");
      expect((await admin.call("GET", "/users?q=jack")).body.data.items).toMatchObject([
        {
          ...{ username: "jack", email: "jack@example.org", full_name: "J. K.", supervisor: "Jarka", purpose: "Tests" },
          ...{ sponsor_email: "bo@example.com", company_id: companyId, manager: false, status: "active" },
        },
      ]);
      // Once more the service refuses it: there is such a user.
      await hands.press("button", open("jack"));
      await hands.press("button", "Create the user");
      await says(page, /jack/);
      await soon(async () => expect(await dialog.getByRole("alert").count()).toBe(1));
      expectNoFaults(watched);
      await watched.close();
    },
    3 * HANG,
  );

  test(
    "is not made good by reviewers, and what is approved or waits has no such way",
    async () => {
      await admin.call("POST", "/approvals", { username: "lee", email: "lee@example.org" });
      const watched = await openSignedIn(browser, system, "admin");
      const { page } = watched;
      const ways = () => page.getByRole("button", { name: /^Create the user/ }).count();
      await page.goto(`${PAGES.applications}?status=all`);
      await says(page, "lee asks for access");
      await soon(async () => expect(await ways()).toBe(2));
      await system.db.update(admins).set({ role: "reviewer" });
      await page.reload();
      await says(page, "kim asks for access");
      await soon(async () => expect(await ways()).toBe(0));
      expectNoFaults(watched);
      await watched.close();
    },
    HANG,
  );
});
