/** A user's page says whether they can log in, with each cause, sshd's words, and their request for more time. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import type { Browser } from "playwright-core";
import { PAGES } from "../../src/shared/product/pages.ts";
import { DAY, shift } from "../../src/shared/time/clock.ts";
import { users } from "../../src/store/schema.ts";
import { HANG } from "../support/hang.ts";
import { describeInBrowser, expectNoFaults, soon } from "./support/browser.ts";
import { openBrowser } from "./support/chromium.ts";
import { type ConsoleApp, openConsoleApp, openSignedIn } from "./support/console-app.ts";
import { HOSTILE, signIn } from "./support/data.ts";

describeInBrowser("a user's page", () => {
  let browser: Browser;
  let system: ConsoleApp;
  beforeAll(async () => {
    [browser, system] = await Promise.all([openBrowser(), openConsoleApp()]);
  }, HANG);
  afterAll(async () => {
    await browser?.close();
    await system?.close();
  });

  test(
    "says what keeps them out, and quotes sshd as text",
    async () => {
      const { user, userId } = await signIn(system);
      await user.call("POST", "/me/extension", { days: 14, reason: "The tests take longer" });
      const refused = { at: system.clock.now(), from: "192.0.2.7", why: HOSTILE[0] };
      Object.assign(system.host.refusalsLogged, { refusals: [refused] });
      const watched = await openSignedIn(browser, system, "admin");
      const { page } = watched;
      await page.goto(PAGES.user.replace(":id", String(userId)));
      await page.getByText("No, alice cannot log in.").waitFor();
      await page.getByText("alice has no active key.").waitFor();
      await page.getByText(`“${HOSTILE[0]}”`).waitFor();
      await page.getByText("alice asks for 14 more days").waitFor();
      await page.getByText("Access ends 18 Feb 2027; if it is approved now, 4 Mar 2027.").waitFor();
      Object.assign(system.host.refusalsLogged, { refusals: [], unread: "This host has no journal" });
      await page.getByRole("button", { name: "Ask again" }).click();
      await page.getByText("sshd's log was not read: This host has no journal.").waitFor();
      await soon(async () => expect(await page.getByText("None was found.").count()).toBe(0));
      // In the page's words, not the command line's.
      await system.admin().then((admin) => admin.call("POST", `/users/${userId}/disable`));
      await page.getByRole("button", { name: "Ask again" }).click();
      await page.getByText(/^alice has been disabled since 20 Nov 2026, \d\d:\d\d, by admin\.$/).waitFor();
      expectNoFaults(watched);
    },
    HANG,
  );

  test(
    "of somebody whose time is up says that there is nothing to disable, and offers to delete",
    async () => {
      const { id } = await system.user("over");
      await system.db
        .update(users)
        .set({ expireAt: shift(system.clock.now(), -DAY) })
        .where(eq(users.id, id));
      const watched = await openSignedIn(browser, system, "admin");
      const { page } = watched;
      await page.goto(PAGES.user.replace(":id", String(id)));
      await page.getByRole("button", { name: "Disable …" }).click();
      const dialog = page.getByRole("dialog", { name: "over has no access already" });
      await dialog.getByText("Access ended on 19 Nov 2026").waitFor();
      await dialog.getByText("are kept until 19 Dec 2026").waitFor();
      await dialog.getByRole("button", { name: "Delete …" }).click();
      await page.getByRole("dialog", { name: "Delete over for good" }).waitFor();
      await page.keyboard.press("Escape");
      await page.goto(`${PAGES.users}?q=over`);
      await page.getByRole("checkbox", { name: "Select over" }).click();
      await page.getByRole("button", { name: "Disable 1 user …" }).click();
      await page.getByText("Access has ended already, so there is nothing to disable or enable.").waitFor();
      expectNoFaults({ ...watched, faults: watched.faults.filter((fault) => !fault.includes("409")) });
      await watched.close();
    },
    HANG,
  );
});
