/** Approving an application with a company, a sponsor, a start and hours; and what a choice of companies says while the service does not answer. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import type { Browser } from "playwright-core";
import { submitApplication } from "../../src/domain/approvals/approvals.ts";
import { createCompany } from "../../src/domain/companies/companies.ts";
import { PAGES } from "../../src/shared/product/pages.ts";
import { outbox, users } from "../../src/store/schema.ts";
import { HANG } from "../support/hang.ts";
import { axeFinds } from "./support/axe.ts";
import { atRest, describeInBrowser, expectNoFaults, soon } from "./support/browser.ts";
import { openBrowser } from "./support/chromium.ts";
import { type ConsoleApp, openConsoleApp, openSignedIn } from "./support/console-app.ts";

describeInBrowser("approving an application", () => {
  let browser: Browser;
  let system: ConsoleApp;
  let companyId: number;
  beforeAll(async () => {
    [browser, system] = await Promise.all([openBrowser(), openConsoleApp()]);
    companyId = (await createCompany(system.system, { name: "Lindqvist Labs", maxTtlDays: 10 })).row.id;
    const person = { username: "newcomer", email: "newcomer@example.org", sponsorEmail: "bo@example.org" };
    await submitApplication(system.system, person);
  }, HANG);
  afterAll(async () => {
    await browser?.close();
    await system?.close();
  });

  test(
    "stores the company, the sponsor, the start and the hours that are set, for as long as the company allows",
    async () => {
      const watched = await openSignedIn(browser, system, "admin");
      const { page } = watched;
      await page.setViewportSize({ width: 320, height: 640 });
      await page.goto(PAGES.applications);
      await page.getByRole("button", { name: "Approve … newcomer" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Company").fill("Lindqvist");
      await dialog.getByRole("button", { name: "Approve" }).click();
      await dialog.getByText("Only Lindqvist Labs has that in its name, and stands here now.").waitFor();
      await soon(async () => expect(await dialog.getByLabel("Company").inputValue()).toBe("Lindqvist Labs"));
      await soon(async () => expect(await dialog.getByLabel("Sponsor's e-mail").inputValue()).toBe("bo@example.org"));
      await dialog.getByLabel("Sponsor's e-mail").fill("vera@example.org");
      await dialog.getByLabel("Access begins").fill("2026-11-23T08:00");
      await dialog.getByLabel("Days of access").fill("7");
      await dialog.getByText("Access ends on 30 Nov 2026.").waitFor();
      await dialog.locator("summary", { hasText: "Hours of the week" }).click();
      const hours = dialog.getByRole("textbox", { name: "Hours of the week" });
      await hours.fill("mon-fri 08:00 Europe/Berlin");
      await dialog.locator("summary", { hasText: "Hours of the week" }).click();
      // What says no hours is unfolded again, and nothing is sent.
      await dialog.getByRole("button", { name: "Approve" }).click();
      await dialog.getByText('"08:00" are not times').waitFor();
      await hours.fill("mon-fri 08:00-18:00 Europe/Berlin");
      await atRest(page);
      const folder = process.env.UAM_TEST_PICTURES;
      if (folder) await page.screenshot({ path: `${folder}/approving.png`, fullPage: true });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
      expect(await axeFinds(page)).toEqual([]);
      await dialog.getByRole("button", { name: "Approve" }).click();
      await page.getByText("newcomer: approved, and the account is created.").first().waitFor();
      const [made] = await system.db.select().from(users).where(eq(users.username, "newcomer"));
      expect(made).toMatchObject({ companyId, sponsorEmail: "vera@example.org" });
      expect(made?.startsAt).toEqual(new Date("2026-11-23T07:00Z"));
      expect(made?.expireAt).toEqual(new Date("2026-11-30T07:00Z"));
      expect(made?.hours).toBe("mon-fri 08:00-18:00 Europe/Berlin");
      const mails = await system.db.select().from(outbox).where(eq(outbox.recipient, "newcomer@example.org"));
      expect(mails.map(({ text }) => text).join()).toContain("Hours:       mon-fri 08:00-18:00 Europe/Berlin");
      expectNoFaults(watched);
    },
    HANG,
  );

  test(
    "leaves what was decided in sight, where the work goes on, and the earlier decisions behind it",
    async () => {
      for (let index = 1; index <= 8; index++)
        await submitApplication(system.system, { username: `many-${index}`, email: `many-${index}@example.org` });
      const watched = await openSignedIn(browser, system, "admin");
      const { page } = watched;
      await page.setViewportSize({ width: 800, height: 500 });
      await page.goto(PAGES.applications);
      await page.getByRole("button", { name: "Approve … many-8" }).waitFor();
      const decided = page.getByRole("region", { name: "Decided since you opened this page" });
      const isSeen = () =>
        decided.evaluate((element) => {
          const { top, bottom, left } = element.getBoundingClientRect();
          const hit = document.elementFromPoint(left + 20, top + 10);
          return bottom <= innerHeight && hit !== null && element.contains(hit);
        });
      /** The name of the application that has the focus, and whether the decision stands above it. */
      const focused = () =>
        page.evaluate(() => {
          const before = document.activeElement?.previousElementSibling;
          return [document.activeElement?.querySelector("h2")?.textContent, before?.className];
        });
      await page.getByRole("button", { name: "Approve … many-6" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
      await decided.getByText("many-6: approved, and the account is created.").waitFor();
      await soon(async () => expect(await isSeen()).toBe(true));
      expect(await focused()).toEqual(["many-7 asks for access", "notice good"]);
      await page.keyboard.press("r");
      await page.getByLabel(/^Reason/).fill("Nobody knows them");
      await page.keyboard.press("ControlOrMeta+Enter");
      await decided.getByText("many-7: rejected.").first().waitFor();
      await soon(async () => expect(await isSeen()).toBe(true));
      expect(await focused()).toEqual(["many-8 asks for access", "notice good"]);
      expect(await axeFinds(page)).toEqual([]);
      await decided.getByText("Decided since you opened this page: 2").click();
      await soon(async () =>
        expect(await decided.getByRole("listitem").allInnerTexts()).toEqual([
          "many-7: rejected.",
          "many-6: approved, and the account is created.",
        ]),
      );
      const folder = process.env.UAM_TEST_PICTURES;
      if (folder) await page.screenshot({ path: `${folder}/decided.png` });
      // Another list has it at its top.
      await page.getByLabel("Status").selectOption("rejected");
      await page.getByRole("heading", { name: "many-7 asks for access" }).waitFor();
      await soon(async () => expect(await isSeen()).toBe(true));
      expectNoFaults(watched);
    },
    HANG,
  );

  test(
    "a filter by company names one that there is not, and says when the service does not answer",
    async () => {
      const { page } = await openSignedIn(browser, system, "admin");
      await page.goto(PAGES.users);
      const filter = page.getByLabel("Company");
      await filter.fill("Nobody's");
      await page.getByText("No company has that in its name.").waitFor();
      await page.route("**/companies?*", (route) => route.abort());
      await filter.fill("Lindqvist Labs");
      await page.getByText("The service does not answer").first().waitFor();
      await soon(async () => expect(await page.getByText("No company has that in its name.").count()).toBe(0));
    },
    HANG,
  );
});
