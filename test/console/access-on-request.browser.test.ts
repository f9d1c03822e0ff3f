/** A user's page when access is on request: asked for, open with its end, ended; and why not. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import type { Browser, Page } from "playwright-core";
import { updateUser } from "../../src/domain/users/update.ts";
import { parseHours } from "../../src/shared/hours/text.ts";
import { PAGES } from "../../src/shared/product/pages.ts";
import { HOUR, shift } from "../../src/shared/time/clock.ts";
import { users } from "../../src/store/schema.ts";
import { hosts as hostRows } from "../../src/store/schema-fleet.ts";
import { HANG } from "../support/hang.ts";
import { insertHost } from "../support/host-rows.ts";
import { axeFinds } from "./support/axe.ts";
import { atRest, describeInBrowser, expectNoFaults, soon } from "./support/browser.ts";
import { openBrowser } from "./support/chromium.ts";
import { type ConsoleApp, openConsoleApp, openSignedIn } from "./support/console-app.ts";
import { signIn } from "./support/data.ts";

describeInBrowser("access on request", () => {
  let browser: Browser;
  let system: ConsoleApp;
  let userId: number;
  beforeAll(async () => {
    [browser, system] = await Promise.all([openBrowser(), openConsoleApp()]);
    ({ userId } = await signIn(system));
  }, HANG);
  afterAll(async () => {
    await browser?.close();
    await system?.close();
  });

  const picture = async (page: Page, name: string) => {
    await atRest(page);
    const folder = process.env.UAM_TEST_PICTURES;
    if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
  };

  test(
    "is asked for with one button, shows its end, and is ended by another",
    async () => {
      await updateUser(system.system, userId, { onRequest: { rule: "self", maxHours: 4 } });
      const watched = await openSignedIn(browser, system, { user: "alice" });
      const { page } = watched;
      await page.setViewportSize({ width: 320, height: 640 });
      await page.goto(PAGES.me);
      await page.getByRole("button", { name: "Ask for access" }).click();
      await page.getByText("Say what you need it for.").waitFor();
      await page.getByLabel("What for").fill("The nightly build is broken");
      await picture(page, "access-ask-phone");
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
      expect(await axeFinds(page)).toEqual([]);
      await page.getByLabel("For how many hours").press("Enter");
      await page.getByText("Your access is open.").waitFor();
      const stored = async () => (await system.db.select().from(users).where(eq(users.id, userId)))[0];
      expect((await stored())?.allowedUntil).toEqual(shift(system.clock.now(), 4 * HOUR));
      await page.getByRole("button", { name: "Ask for more hours" }).waitFor();
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.emulateMedia({ colorScheme: "dark" });
      await picture(page, "access-open");
      expect(await axeFinds(page)).toEqual([]);
      await page.getByRole("button", { name: "End it now" }).click();
      await page.getByText("Your access is ended.").waitFor();
      expect((await stored())?.allowedUntil).toBeNull();
      // Outside the hours nothing can be asked, and the page says when.
      await updateUser(system.system, userId, { hours: parseHours("sat 08:00-18:00 UTC") });
      await page.reload();
      await page.getByText("You cannot ask now: it is outside your hours.").waitFor();
      await soon(async () => expect(await page.getByRole("button", { name: "Ask for access" }).count()).toBe(0));
      await picture(page, "access-outside");
      expectNoFaults(watched);
    },
    HANG,
  );

  test(
    "is asked for on some of their hosts, and says on which it is open",
    async () => {
      for (const name of ["web1", "web2"]) await insertHost(system, name, { groups: ["default"] });
      await updateUser(system.system, userId, { hours: null, onRequest: { rule: "self", maxHours: 4 } });
      const watched = await openSignedIn(browser, system, { user: "alice" });
      const { page } = watched;
      await page.setViewportSize({ width: 320, height: 640 });
      await page.goto(PAGES.me);
      const hosts = page.getByRole("group", { name: "On which hosts" });
      const host = (name: string) => hosts.getByRole("checkbox", { name });
      await host("web2").waitFor();
      await soon(async () => expect(await hosts.getByRole("checkbox", { checked: true }).count()).toBe(3));
      // A finger finds them: 24 pixels are WCAG's least.
      const target = await hosts.getByText("web2").locator("..").boundingBox();
      expect(target?.height).toBeGreaterThanOrEqual(24);
      for (const name of [system.services.policy.site.host, "web1", "web2"]) {
        await host(name).focus();
        await page.keyboard.press("Space");
      }
      await page.getByLabel("What for").fill("The database is slow");
      await page.getByRole("button", { name: "Ask for access" }).click();
      await hosts.getByRole("alert").getByText("Choose a host.").waitFor();
      await picture(page, "access-hosts-phone");
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
      expect(await axeFinds(page)).toEqual([]);
      await host("web2").check();
      await page.getByRole("button", { name: "Ask for access" }).click();
      await page.getByText("Your access is open.").waitFor();
      await hosts.getByText(/^web2, open until /).waitFor();
      await soon(async () => expect(await hosts.getByText(/, open until /).count()).toBe(1));
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.emulateMedia({ colorScheme: "dark" });
      await picture(page, "access-hosts-open");
      expect(await axeFinds(page)).toEqual([]);
      const { id } = (await system.db.select().from(hostRows).where(eq(hostRows.name, "web2")))[0] ?? {};
      const [stored] = await system.db.select().from(users).where(eq(users.id, userId));
      expect(Object.keys(JSON.parse(stored?.allowedHosts ?? ""))).toEqual([String(id)]);
      await page.getByRole("button", { name: "End it now" }).click();
      await page.getByText("Your access is ended.").waitFor();
      await soon(async () => expect(await hosts.getByText(/, open until /).count()).toBe(0));
      expectNoFaults(watched);
    },
    HANG,
  );

  test(
    "waits for whoever decides, and can be withdrawn",
    async () => {
      await updateUser(system.system, userId, { hours: null, onRequest: { rule: "review", maxHours: 4 } });
      const watched = await openSignedIn(browser, system, { user: "alice" });
      const { page } = watched;
      await page.goto(PAGES.me);
      await page.getByLabel("What for").fill("Deploy");
      await page.getByRole("button", { name: "Ask for access" }).click();
      await page.getByText("You have asked, and wait for a decision").waitFor();
      await picture(page, "access-waiting");
      const admin = await openSignedIn(browser, system, "admin");
      await admin.page.goto(PAGES.applications);
      await admin.page.getByText("asks for access for 4 hours").waitFor();
      await admin.page.keyboard.press("Tab");
      await admin.page.getByRole("button", { name: /^Approve/ }).click();
      await picture(admin.page, "access-allow");
      await admin.page.getByRole("button", { name: "Allow" }).click();
      await admin.page.getByText("access is open.").first().waitFor();
      await page.reload();
      await page.getByRole("button", { name: "End it now" }).waitFor();
      expectNoFaults(watched);
      expectNoFaults(admin);
    },
    HANG,
  );
});
