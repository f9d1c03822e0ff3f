/** Hours in the console: typed, and painted with a mouse, a finger and the keyboard; a user's start, hours and need to ask. */

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { Browser, Locator, Page } from "playwright-core";
import { updateUser } from "../../../../src/domain/users/update.ts";
import { parseHours } from "../../../../src/shared/hours/text.ts";
import { companyPage, PAGES, userPage } from "../../../../src/shared/product/pages.ts";
import { users } from "../../../../src/store/schema.ts";
import type { Client } from "../../../support/app.ts";
import { HANG } from "../../../support/hang.ts";
import { axeFinds } from "../../support/axe.ts";
import { atRest, describeInBrowser, expectNoFaults, soon, type WatchedPage } from "../../support/browser.ts";
import { openBrowser } from "../../support/chromium.ts";
import { type ConsoleApp, openConsoleApp, openSignedIn } from "../../support/console-app.ts";

describeInBrowser("hours", () => {
  let system: ConsoleApp;
  let browser: Browser;
  let admin: WatchedPage;
  let page: Page;
  let client: Client;
  let id: number;
  beforeAll(async () => {
    [browser, system] = await Promise.all([openBrowser(), openConsoleApp()]);
    // A Friday: Berlin is at 11:00.
    system.clock.set(new Date("2026-11-27T10:00:00Z"));
    client = await system.admin();
  }, HANG);
  afterAll(async () => {
    await browser?.close();
    await system?.close();
  });
  beforeEach(async () => {
    await system.db.delete(users);
    system.host.accounts.clear();
    const made = await client.call("POST", "/users", { username: "jensen", email: "jensen@example.org" });
    id = made.body.data.id;
    admin = await openSignedIn(browser, system, "admin");
    ({ page } = admin);
  }, HANG);

  const stored = async () => (await client.call("GET", `/users/${id}`)).body.data;
  const picture = async (name: string) => {
    await atRest(page);
    const folder = process.env.UAM_TEST_PICTURES;
    if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
  };
  const field = () => page.getByRole("textbox", { name: "Hours of the week" });
  const cell = (name: string) => page.getByRole("gridcell", { name });
  const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
  async function openHours(width: number): Promise<void> {
    await page.setViewportSize({ width, height: 900 });
    await page.goto(userPage(id));
    await press("Hours …");
    await page.getByText("Paint the week").click();
    await cell("Monday, 08:00 to 09:00").waitFor();
    // What comes later would move what a hand is to find.
    await atRest(page);
  }
  async function middle(of: Locator) {
    await of.scrollIntoViewIfNeeded();
    const box = await of.boundingBox();
    if (box === null) throw new Error("nowhere");
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  }

  test(
    "are painted with the mouse, previewed and saved",
    async () => {
      await openHours(1280);
      const [from, to] = [cell("Monday, 12:00 to 13:00"), cell("Friday, 17:00 to 18:00")];
      await to.scrollIntoViewIfNeeded();
      const [begin, end] = [await middle(from), await middle(to)];
      await page.mouse.move(begin.x, begin.y);
      await page.mouse.down();
      await page.mouse.move(end.x, end.y, { steps: 6 });
      await page.mouse.up();
      await soon(async () => expect(await field().inputValue()).toMatch(/^mon-fri 12:00-18:00 \S+$/));
      await soon(async () =>
        expect(await cell("Wednesday, 14:00 to 15:00").getAttribute("aria-selected")).toBe("true"),
      );
      // What is typed is painted.
      await field().fill("mon-fri 12:30-18:00; sat 09:00-11:00 Europe/Berlin");
      await page.getByText("Not on the hour, and kept as it is: mon-fri 12:30-18:00 Europe/Berlin").waitFor();
      await soon(async () => expect(await cell("Saturday, 10:00 to 11:00").getAttribute("aria-selected")).toBe("true"));
      await cell("Saturday, 10:00 to 11:00").click();
      await soon(async () =>
        expect(await field().inputValue()).toBe("sat 09:00-10:00; mon-fri 12:30-18:00 Europe/Berlin"),
      );
      await page.getByText("jensen cannot log in now before").waitFor();
      await page.getByText("Nobody is logged in with the account on the service's own host.").waitFor();
      await picture("hours-user-wide");
      expect(await axeFinds(page)).toEqual([]);
      await press("Save");
      await page.getByText("The access times of jensen were changed.").waitFor();
      const { hours, access } = await stored();
      expect(access).toBe("outside_hours");
      expect(hours).toEqual({
        zone: "Europe/Berlin",
        windows: [
          { days: ["sat"], from: "09:00", to: "10:00" },
          { days: ["mon", "tue", "wed", "thu", "fri"], from: "12:30", to: "18:00" },
        ],
      });
      await page.getByText("outside the hours").waitFor();
      await picture("hours-user-facts");
      expectNoFaults(admin);
    },
    HANG,
  );

  test(
    "are painted with the keyboard alone; wiping the last cell is never any hour",
    async () => {
      await openHours(1280);
      await cell("Monday, 08:00 to 09:00").focus();
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Space");
      await soon(async () => expect(await field().inputValue()).toMatch(/^tue 09:00-10:00 \S+$/));
      await page.keyboard.down("Shift");
      for (const key of ["ArrowDown", "ArrowDown", "ArrowRight", "ArrowUp"]) await page.keyboard.press(key);
      await page.keyboard.up("Shift");
      await soon(async () => expect(await field().inputValue()).toMatch(/^tue,wed 09:00-11:00 \S+$/));
      await soon(async () =>
        expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe(
          "Wednesday, 10:00 to 11:00",
        ),
      );
      // At the edges it stays.
      await page.keyboard.press("ArrowLeft");
      for (let day = 0; day < 3; day++) await page.keyboard.press("ArrowLeft");
      await soon(async () =>
        expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe(
          "Monday, 10:00 to 11:00",
        ),
      );
      await field().fill("mon 10:00-11:00 Europe/Berlin");
      await cell("Monday, 10:00 to 11:00").focus();
      await page.keyboard.press("Space");
      await page.getByText("Nothing is painted. Paint an hour").waitFor();
      await soon(async () => expect(await field().inputValue()).toBe("Europe/Berlin"));
      await soon(async () => expect(await page.getByRole("button", { name: "Save", exact: true }).count()).toBe(0));
      await field().fill("");
      await page.getByText("Nothing is painted: access at any hour.").waitFor();
      await field().fill("weekdays");
      await page.getByText('Not hours such as "mon-fri 08:00-18:00 Europe/Berlin"').waitFor();
      expectNoFaults(admin);
    },
    HANG,
  );

  test(
    "are painted with a finger on a phone, in the dark, and fit",
    async () => {
      await page.emulateMedia({ colorScheme: "dark" });
      await openHours(320);
      await field().fill("mon-fri 08:00-18:00 Europe/Berlin");
      const session = await page.context().newCDPSession(page);
      // Both in view, and not below the buttons, so that nothing moves between the two.
      await cell("Sunday, 10:00 to 11:00").evaluate((element) => element.scrollIntoView({ block: "center" }));
      const [begin, end] = [
        await middle(cell("Saturday, 09:00 to 10:00")),
        await middle(cell("Sunday, 11:00 to 12:00")),
      ];
      const touch = (type: "touchStart" | "touchMove" | "touchEnd", touchPoints: { x: number; y: number }[]) =>
        session.send("Input.dispatchTouchEvent", { type, touchPoints });
      await touch("touchStart", [begin]);
      await touch("touchMove", [{ x: (begin.x + end.x) / 2, y: (begin.y + end.y) / 2 }]);
      await touch("touchMove", [end]);
      await touch("touchEnd", []);
      await soon(async () =>
        expect(await field().inputValue()).toBe("mon-fri 08:00-18:00; sat,sun 09:00-12:00 Europe/Berlin"),
      );
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
      const dialog = page.getByRole("dialog");
      expect(await dialog.evaluate((element) => element.scrollWidth - element.clientWidth)).toBeLessThanOrEqual(0);
      await picture("hours-phone-dark");
      expect(await axeFinds(page)).toEqual([]);
      expectNoFaults(admin);
    },
    HANG,
  );

  test(
    "come with a start and the need to ask, whose access is ended with a button",
    async () => {
      await page.goto(PAGES.users);
      await press("Create a user …");
      await page.getByLabel("Username", { exact: true }).fill("later");
      await page.getByRole("dialog").getByLabel("E-mail", { exact: true }).fill("later@example.org");
      await page.getByText("Start, hours, and access on request").click();
      await page.getByLabel("Access begins").fill("2027-01-04T08:00");
      await page.getByLabel("Or until").fill("2027-01-29T18:00");
      await field().fill("mon-fri 08:00-18:00 Europe/Berlin");
      await page.getByLabel("Access on request").selectOption("self");
      await page.getByLabel("For how many hours at most").fill("4");
      await picture("hours-create");
      expect(await axeFinds(page)).toEqual([]);
      await press("Create the user");
      await page.getByText("later was created.").waitFor();
      const [later] = (await client.call("GET", "/users?q=later")).body.data.items;
      expect(later).toMatchObject({
        access: "not_yet",
        on_request: { rule: "self", max_hours: 4 },
        hours_end: "sessions",
      });
      expect([later.starts_at, later.expire_at].map((time) => new Date(time).getUTCFullYear())).toEqual([2027, 2027]);
      await updateUser(system.system, id, { onRequest: { rule: "review", maxHours: 4 } });
      await page.goto(userPage(id));
      await press("End access on request …");
      await press("End it");
      await page.getByText("The access of jensen on request was ended.").waitFor();
      expectNoFaults(admin);
    },
    HANG,
  );

  test(
    "are asked for on hosts of some groups only, as the allowance says",
    async () => {
      await client.call("POST", "/host-groups", { name: "web" });
      await page.setViewportSize({ width: 320, height: 900 });
      await page.goto(userPage(id));
      await press("Hours …");
      await soon(async () => expect(await page.getByLabel("Only hosts of these groups").count()).toBe(0));
      await page.getByLabel("Access on request").selectOption("review");
      const groups = page.getByLabel("Only hosts of these groups");
      await groups.fill("web, nope");
      await page
        .getByRole("dialog")
        .getByText(/no group of hosts named "nope"/)
        .waitFor();
      await groups.fill("web");
      await page.getByRole("button", { name: "Save", exact: true }).waitFor();
      await picture("hours-groups-phone");
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
      expect(await axeFinds(page)).toEqual([]);
      await press("Save");
      await page.getByText("The access times of jensen were changed.").waitFor();
      expect((await stored()).on_request).toEqual({ rule: "review", max_hours: 4, groups: ["web"] });
      await page.getByText(/for 4 hours at most, on hosts of web$/).waitFor();
      await press("Hours …");
      await soon(async () => expect(await groups.inputValue()).toBe("web"));
      await groups.fill("");
      await press("Save");
      await page.getByText(/for 4 hours at most$/).waitFor();
      expect((await stored()).on_request).toEqual({ rule: "review", max_hours: 4 });
      expectNoFaults(admin);
    },
    HANG,
  );

  test(
    "of a company and of a group of hosts are in theirs",
    async () => {
      const company = (await client.call("POST", "/companies", { name: "Lindqvist AB" })).body.data.id;
      await page.goto(companyPage(company));
      await page.getByRole("button", { name: "Change … Hours of the week" }).click();
      await field().fill("mon-fri 08:00-18:00 Europe/Berlin");
      await page.getByText("Access of users of Lindqvist AB is open only within").waitFor();
      await press("Save");
      await page.getByText("Lindqvist AB was changed.").waitFor();
      const { hours } = (await client.call("GET", `/companies/${company}`)).body.data;
      expect(hours).toEqual({ ...parseHours("mon-fri 08:00-18:00 Europe/Berlin") });
      await page.getByText("mon-fri 08:00-18:00 Europe/Berlin").waitFor();
      const group = (await client.call("POST", "/host-groups", { name: "night" })).body.data.id;
      await page.goto(PAGES.hostGroup.replace(":id", String(group)));
      await press("Change …");
      await field().fill("mon-sun 18:00-24:00 UTC");
      await page
        .getByRole("button", { name: /^(Change|Save)/ })
        .last()
        .click();
      await page.getByText("mon-sun 18:00-24:00 UTC").waitFor();
      expectNoFaults(admin);
    },
    HANG,
  );

  test(
    "are on the user's own page, in their zone and the reader's, with a calendar",
    async () => {
      await updateUser(system.system, id, { hours: parseHours("thu-fri 08:00-12:00 America/New_York") });
      const watched = await openSignedIn(browser, system, { user: "jensen" });
      const mine = watched.page;
      await mine.setViewportSize({ width: 320, height: 640 });
      await mine.goto(PAGES.me);
      await mine.getByText("It is outside your hours: no key opens your account now.").waitFor();
      await mine.getByText("Next: today 08:00 (in your time zone today 14:00)").waitFor();
      const link = mine.getByRole("link", { name: "Calendar file with the next 60 days" });
      const [file] = await Promise.all([mine.waitForEvent("download"), link.click()]);
      expect(file.suggestedFilename()).toBe("hours.ics");
      await atRest(mine);
      const folder = process.env.UAM_TEST_PICTURES;
      if (folder) await mine.screenshot({ path: `${folder}/hours-own-phone.png`, fullPage: true });
      expect(await axeFinds(mine)).toEqual([]);
      await updateUser(system.system, id, { hours: parseHours("fri 08:00-18:00; thu 09:00-12:00 Europe/Berlin") });
      await mine.reload();
      await mine.getByText("Open until today 18:00").waitFor();
      await mine.getByText("Next: Thursday 09:00").waitFor();
      expectNoFaults(watched);
      await watched.close();
    },
    HANG,
  );
});
