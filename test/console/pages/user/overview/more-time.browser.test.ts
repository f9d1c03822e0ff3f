/** A user withdraws a request for more time, with a mouse and with the keyboard alone. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { PAGES } from "../../../../../src/shared/product/pages.ts";
import type { Client } from "../../../../support/app.ts";
import { HANG } from "../../../../support/hang.ts";
import { axeFinds } from "../../../support/axe.ts";
import { atRest, describeInBrowser, expectNoFaults, soon } from "../../../support/browser.ts";
import { openBrowser } from "../../../support/chromium.ts";
import { type ConsoleApp, openConsoleApp, openSignedIn } from "../../../support/console-app.ts";
import { keyboard, mouse } from "../../../support/hands.ts";
import { says } from "../../../support/journeys.ts";

describeInBrowser("a request for more time", () => {
  let browser: Browser;
  let system: ConsoleApp;
  let admin: Client;
  beforeAll(async () => {
    [browser, system] = await Promise.all([openBrowser(), openConsoleApp()]);
    admin = await system.admin();
  }, HANG);
  afterAll(async () => {
    await browser?.close();
    await system?.close();
  });

  const requests = async (id: number) => (await admin.call("GET", `/approvals?user_id=${id}`)).body.data.items;

  describe.each([
    ["a mouse", mouse, "alice"],
    ["the keyboard alone", keyboard, "bob"],
  ] as const)("with %s", (_, handsOf, user) => {
    test(
      "is withdrawn once that was confirmed, and made anew; a decision that came first is shown",
      async () => {
        const { id, client } = await system.user(user);
        await client.call("POST", "/me/extension", { days: 14, reason: "The tests take longer" });
        const watched = await openSignedIn(browser, system, { user });
        const { page } = watched;
        await page.setViewportSize({ width: 320, height: 640 });
        const hands = handsOf(page);
        await page.goto(PAGES.me);
        await says(page, "Your request is waiting for a decision");
        await hands.press("button", "Withdraw it …");
        await says(page, "Nobody decides about it any more");
        await atRest(page);
        expect(await axeFinds(page)).toEqual([]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
        await hands.press("button", "Withdraw it");
        await says(page, "Your request is withdrawn.");
        await soon(async () => expect(await page.getByText("waiting for a decision").count()).toBe(0));
        await soon(async () => expect(await page.getByText("Your request was rejected").count()).toBe(0));
        expect(await requests(id)).toMatchObject([{ status: "rejected", reason: "Withdrawn", reviewed_by: user }]);

        const asked = await client.call("POST", "/me/extension", { days: 7, reason: "And longer" });
        await page.reload();
        await hands.press("button", "Withdraw it …");
        await says(page, "Nobody decides about it any more");
        await admin.call("POST", `/approvals/${asked.body.data.id}/review`, { approve: true });
        await hands.press("button", "Withdraw it");
        await says(page, `No request for more time of ${user} waits for a decision.`);
        await hands.press("button", "Cancel");
        await says(page, "Your request was approved");
        expectNoFaults(watched);
        await watched.close();
      },
      3 * HANG,
    );
  });
});
