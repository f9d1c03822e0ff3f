/** Names, notes and reasons: where administrators give them, where they read them, and that their subject does not. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { PAGES } from "../../src/shared/product/pages.ts";
import { HANG } from "../support/hang.ts";
import { atRest, describeInBrowser, expectNoFaults, openPage, soon, type WatchedPage } from "./support/browser.ts";
import { openBrowser } from "./support/chromium.ts";
import { type ConsoleApp, openConsoleApp, openSignedIn } from "./support/console-app.ts";
import { signIn } from "./support/data.ts";

describeInBrowser("words on record", () => {
  let browser: Browser;
  let system: ConsoleApp;
  let watched: WatchedPage;
  beforeAll(async () => {
    [browser, system] = await Promise.all([openBrowser(), openConsoleApp()]);
    await signIn(system);
    watched = await openSignedIn(browser, system, "admin");
  }, HANG);
  afterAll(async () => {
    await browser?.close();
    await system?.close();
  });

  const reasons = async () =>
    (await system.auditRows())
      .filter(({ action, result }) => /^user\.(disable|enable|extend|delete)$/.test(action) && result === "success")
      .map(({ action, detail }) => [action, JSON.parse(detail).username, JSON.parse(detail).reason]);

  const inDialog = async (page: Page, open: string, fill: (page: Page) => Promise<void>, submit: string) => {
    await page.getByRole("button", { name: open }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("What will happen").waitFor();
    await fill(page);
    await dialog.getByRole("button", { name: submit, exact: true }).click();
    await dialog.waitFor({ state: "detached" });
  };
  const because = (text: string) => (page: Page) => page.getByLabel(/^Reason/).fill(text);

  test(
    "a reason goes with each change of one user, and the diagnosis has it",
    async () => {
      const { page } = watched;
      const { id } = await system.user("reasoned");
      await page.goto(PAGES.user.replace(":id", String(id)));
      await inDialog(page, "Extend …", because(" The tests\ntake longer "), "Extend");
      await inDialog(page, "Disable …", because("left the project"), "Disable");
      await page.getByText(/disabled since .*, by admin: left the project/).waitFor();
      await inDialog(page, "Enable …", because("came back"), "Enable");
      const fill = async (page: Page) => {
        await because("left for good")(page);
        await page.getByLabel(/^Type reasoned/).fill("reasoned");
      };
      await inDialog(page, "Delete …", fill, "Delete for good");
      expect(await reasons()).toEqual([
        ["user.extend", "reasoned", "The tests take longer"],
        ["user.disable", "reasoned", "left the project"],
        ["user.enable", "reasoned", "came back"],
        ["user.delete", "reasoned", "left for good"],
      ]);
      expectNoFaults(watched);
    },
    HANG,
  );

  test(
    "a reason that can be none is said at its field, and nothing is done",
    async () => {
      const { page } = watched;
      const { id } = await system.user("unreasoned");
      await page.goto(PAGES.user.replace(":id", String(id)));
      await page.getByRole("button", { name: "Disable …" }).click();
      await page.getByText("What will happen").waitFor();
      const field = page.getByLabel(/^Reason/);
      await field.fill("x".repeat(501));
      await page.getByRole("dialog").getByRole("button", { name: "Disable", exact: true }).click();
      await page.getByText("At most 500 characters.").waitFor();
      await soon(async () => expect(await field.getAttribute("aria-invalid")).toBe("true"));
      expect((await reasons()).filter(([, name]) => name === "unreasoned")).toEqual([]);
    },
    HANG,
  );

  test(
    "one reason goes with the change of many",
    async () => {
      const { page } = watched;
      for (const name of ["many-1", "many-2"]) await system.user(name);
      await page.goto(`${PAGES.users}?q=many-`);
      await page.getByRole("checkbox", { name: /^Select all/ }).click();
      await page.getByRole("button", { name: "Disable 2 users …" }).click();
      await because("The site is closed")(page);
      await page.getByRole("button", { name: "Disable 2 users", exact: true }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
      expect((await reasons()).filter(([, , reason]) => reason === "The site is closed")).toEqual([
        ["user.disable", "many-2", "The site is closed"],
        ["user.disable", "many-1", "The site is closed"],
      ]);
    },
    HANG,
  );

  test(
    "a name is asked for at the application, the creation and in what is known; a note is for colleagues alone",
    async () => {
      const applicant = await openPage(browser, system.origin);
      await applicant.page.goto(PAGES.apply);
      await applicant.page.getByLabel(/^Username/).fill("anders");
      await applicant.page.getByLabel(/^E-mail/).fill("anders@example.org");
      await applicant.page.getByLabel(/^Your name/).fill(" Anders  Ek ");
      await applicant.page.getByRole("button", { name: "Send the application" }).click();
      await applicant.page.getByText("Your application has arrived").waitFor();
      const { page } = watched;
      await page.goto(PAGES.applications);
      await page.getByRole("article").getByText("Anders Ek").waitFor();

      await page.goto(PAGES.users);
      await page.getByRole("button", { name: "Create a user …" }).click();
      await page.getByLabel(/^Username/).fill("named");
      await page.getByLabel(/^E-mail/).fill("named@example.org");
      await page.getByLabel(/^Name/).fill("Nora Meddle");
      await page.getByRole("button", { name: "Create the user", exact: true }).click();
      await page.getByRole("link", { name: "Go to this user" }).click();
      const facts = page.getByRole("region", { name: "Facts" });
      await facts.getByText("Nora Meddle").waitFor();
      await soon(async () => expect(await facts.getByText("Note for colleagues").count()).toBe(0));
      await page.getByRole("button", { name: "Edit …" }).click();
      await page.getByLabel(/^Name/).fill("Nora Medley");
      await page.getByLabel(/^Note/).fill("Works\nnights");
      await page.getByRole("button", { name: "Save" }).click();
      await facts.getByText("Nora Medley").waitFor();
      await facts.getByText("Works nights").waitFor();

      const named = await openSignedIn(browser, system, { user: "named" });
      for (const path of [PAGES.me, PAGES.trail]) {
        await named.page.goto(path);
        await named.page.getByRole("heading", { level: 1 }).waitFor();
        await atRest(named.page);
        await soon(async () => expect(await named.page.locator("body").textContent()).not.toContain("nights"));
      }
      for (const one of [watched, applicant, named]) expectNoFaults(one);
    },
    HANG,
  );
});
