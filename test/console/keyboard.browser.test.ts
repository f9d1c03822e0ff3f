/** The journeys again, with a keyboard alone. Each step fails if the focus is lost, leaves a dialog or is covered. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Locator, Page } from "playwright-core";
import { ADMIN_PASSWORD } from "../support/app.ts";
import { freshKey } from "../support/keys.ts";
import {
  atRest,
  describeInBrowser,
  expectNoFaults,
  focusedName,
  openPage,
  soon,
  type WatchedPage,
} from "./support/browser.ts";
import { openBrowser } from "./support/chromium.ts";
import { type ConsoleApp, openConsoleApp, openSignedIn } from "./support/console-app.ts";
import { expectFocus, type Hands, keyboard } from "./support/hands.ts";
import * as journey from "./support/journeys.ts";

describeInBrowser("with the keyboard alone", () => {
  let system: ConsoleApp;
  let browser: Browser;
  const directory = mkdtempSync(join(tmpdir(), "uam-keyboard-"));
  beforeAll(async () => {
    [system, browser] = await Promise.all([openConsoleApp(), openBrowser()]);
    await system.admin();
  });
  afterAll(async () => {
    await browser?.close();
    await system?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  async function anonymous(): Promise<readonly [Hands, WatchedPage]> {
    const watched = await openPage(browser, system.origin);
    await watched.page.clock.setFixedTime(system.clock.now());
    return [keyboard(watched.page), watched];
  }

  async function leave(watched: WatchedPage): Promise<void> {
    expectNoFaults(watched);
    await watched.close();
  }

  async function mailed(to: string, pattern: RegExp): Promise<string> {
    const texts = (await system.mails(to)).map(({ text }) => pattern.exec(text)?.[0]);
    const found = texts.findLast((text) => text !== undefined);
    if (found === undefined) throw new Error(`No mail to ${to} has ${pattern}`);
    return found;
  }

  test("the first stop is a link to the content, and it leads there", async () => {
    const [, watched] = await anonymous();
    const { page } = watched;
    await page.goto("/apply");
    await journey.arrive(page, "Apply for access");
    await page.keyboard.press("Tab");
    await soon(async () => expect(await focusedName(page)).toBe("Skip to content"));
    await soon(async () => expect(await page.getByRole("link", { name: "Skip to content" }).isVisible()).toBe(true));
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await soon(async () => expect(await focusedName(page)).toMatch(/^Username you would like/));
    await leave(watched);
  });

  test("a new page has its title, and its heading has the focus", async () => {
    const watched = await openSignedIn(browser, system, "admin");
    const { page } = watched;
    const hands = keyboard(page);
    await page.goto("/admin");
    await journey.arrive(page, "Dashboard");
    for (const title of ["Applications", "Users", "Audit log", "Settings", "Administrators"]) {
      await journey.go(hands, title);
      expect(await page.getByRole("heading", { level: 1 }).evaluate((h1) => h1 === document.activeElement)).toBe(true);
      expect(await page.title()).toStartWith(`${title} ·`);
    }
    await leave(watched);
  });

  test("apply, be approved, log in by the mail, add a key, revoke it, log out", async () => {
    const applicant = { username: "kira", email: "kira@example.org", supervisor: "Ada Meier", purpose: "Audit" };
    const [user, userPage] = await anonymous();
    const [admin, adminPage] = await anonymous();
    await journey.apply(user, applicant);
    await journey.logInAsAdmin(admin, "admin", ADMIN_PASSWORD);
    await journey.approve(admin, "kira", 14);
    await journey.askForCode(user, "kira");
    await journey.logInByLink(user, await mailed("kira@example.org", /http:\S+\/login#\S+/));
    const file = join(directory, "kira.pub");
    writeFileSync(file, `${freshKey()} kira@laptop\n`);
    expect(await journey.addKey(user, file, "laptop")).toContain("ext_kira@");
    await journey.revokeKey(user, "laptop");
    await journey.logOut(user);
    await leave(userPage);
    await leave(adminPage);
  });

  test("a forgotten password", async () => {
    const [hands, watched] = await anonymous();
    await journey.forgetPassword(hands, "admin");
    const link = await mailed("admin@example.org", /http:\S+\/reset#\S+/);
    await journey.resetPassword(hands, link, ADMIN_PASSWORD);
    await journey.logInAsAdmin(hands, "admin", ADMIN_PASSWORD);
    await leave(watched);
  });

  test("this was not me", async () => {
    await system.user("lena");
    const watched = await openSignedIn(browser, system, { user: "lena" });
    await watched.page.goto("/me");
    await journey.shutAccount(keyboard(watched.page));
    await leave(watched);
  });

  test("more time, asked for and granted", async () => {
    await system.user("mara");
    const user = await openSignedIn(browser, system, { user: "mara" });
    await user.page.goto("/me");
    await journey.askForTime(keyboard(user.page), 10, "One server is left");
    const admin = await openSignedIn(browser, system, "admin");
    await admin.page.goto("/admin");
    await journey.approveTime(keyboard(admin.page), "mara");
    await leave(user);
    await leave(admin);
  });

  test("an administrator's whole day", async () => {
    const watched = await openSignedIn(browser, system, "admin");
    const hands = keyboard(watched.page);
    await watched.page.goto("/admin");
    for (const name of ["day-1", "day-2"]) await journey.createUser(hands, name, `${name}@example.org`);
    await journey.extendFound(hands, "day-", 2);
    await journey.openUser(hands, "day-1");
    await journey.disableUser(hands, "day-1");
    await journey.deleteUser(hands, "day-1");
    await journey.previewSetting(hands);
    await journey.filterAudit(hands, "User deleted");
    expect(await journey.exportAudit(hands)).toContain("user.delete");
    await journey.logOut(hands);
    await leave(watched);
  });

  describe("a dialog", () => {
    test("keeps the focus inside, closes with Escape, and gives it back to what opened it", async () => {
      const watched = await openSignedIn(browser, system, "admin");
      const { page } = watched;
      await page.goto("/admin/users");
      await keyboard(page).press("button", "Create a user …");
      const dialog = page.getByRole("dialog");
      for (let stop = 0; stop < 20; stop++) {
        await page.keyboard.press("Tab");
        const isOutside = await page.evaluate(() => {
          const focused = document.activeElement;
          return focused !== document.body && focused?.closest("dialog") === null;
        });
        expect(isOutside).toBe(false);
      }
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "hidden" });
      await soon(async () => expect(await focusedName(page)).toBe("Create a user …"));
      await leave(watched);
    });
  });

  test("applications are decided in three keystrokes", async () => {
    for (const name of ["nora", "olga"]) {
      const body = { username: name, email: `${name}@example.org`, supervisor: "", purpose: "" };
      await system.anonymous().call("POST", "/approvals", body);
    }
    const watched = await openSignedIn(browser, system, "admin");
    const { page } = watched;
    await page.goto("/admin/applications");
    await page.getByRole("button", { name: "Approve … nora" }).waitFor();
    // Opened by its address, as from a mail, the page has the focus where the work begins.
    await page.locator("article:focus").first().waitFor();
    for (const name of ["nora", "olga"]) {
      await page.keyboard.press("a");
      await page.getByRole("dialog").waitFor();
      await page.keyboard.press("Enter");
      await journey.says(page, `${name}: approved, and the account is created.`);
      await expectFocus(page, `after approving ${name}`);
    }
    await leave(watched);
  });

  describe("finding", () => {
    const optionOf = (page: Page) => page.locator("[aria-selected=true]");

    /** By its key, which is heard only a moment after the page is there. */
    async function openFind(page: Page, name: string): Promise<Locator> {
      const field = page.getByRole("combobox", { name });
      await soon(async () => {
        if (!(await field.isVisible())) await page.keyboard.press("/");
        await field.waitFor({ timeout: 1000 });
      });
      // A second press may have been typed into it.
      await field.fill("");
      return field;
    }

    test("whoever is called so comes before those whose supervisor is", async () => {
      await system.user("quentin");
      const admin = await system.admin();
      for (let index = 1; index <= 7; index++) {
        const username = `worker-${index}`;
        await admin.call("POST", "/users", { username, email: `${username}@example.org`, supervisor: "Quentin Ek" });
      }
      const watched = await openSignedIn(browser, system, "admin");
      const { page } = watched;
      await page.goto("/admin");
      await journey.arrive(page, "Dashboard");
      await (await openFind(page, "People, hosts, pages and actions")).fill("Quentin");
      await page.getByRole("option", { name: /^worker-7 / }).waitFor();
      await soon(async () => expect(await optionOf(page).textContent()).toContain("quentin@"));
      await leave(watched);
    });

    test("people, pages and actions are found by a key, and the focus goes where they lead", async () => {
      for (const name of ["petra", "petronella"]) await system.user(name);
      const watched = await openSignedIn(browser, system, "admin");
      const { page } = watched;
      await page.goto("/admin");
      await journey.arrive(page, "Dashboard");
      const field = await openFind(page, "People, hosts, pages and actions");
      await page.keyboard.insertText("petr");
      await page.getByRole("option", { name: /^petra / }).waitFor();
      await soon(async () => expect(await optionOf(page).textContent()).toContain("petronella"));
      await page.keyboard.press("ArrowDown");
      await soon(async () => expect(await optionOf(page).textContent()).toContain("petra@"));
      await soon(async () =>
        expect(await field.getAttribute("aria-activedescendant")).toBe(await optionOf(page).getAttribute("id")),
      );
      for (const key of ["ArrowDown", "ArrowUp", "ArrowUp", "ArrowDown"]) await page.keyboard.press(key);
      await page.keyboard.press("Enter");
      await journey.arrive(page, "petra");
      await expectFocus(page, "after opening somebody who was found");

      // In a field a / is a letter, and Ctrl+K works; an action opens its dialog, also on the page that one is on.
      await page.goto("/admin/users");
      // Its keys are heard only a moment after the page is there.
      await atRest(page);
      await page.getByLabel("Search").focus();
      await page.keyboard.type("a/b?");
      await soon(async () => expect(await page.getByLabel("Search").inputValue()).toBe("a/b?"));
      await page.keyboard.press("ControlOrMeta+k");
      await field.waitFor();
      await page.keyboard.type("CREATE a");
      await soon(async () => expect(await optionOf(page).textContent()).toContain("Create a user"));
      await page.keyboard.press("Enter");
      await page.getByRole("dialog", { name: "Create a user" }).waitFor();
      await expectFocus(page, "in the dialog of an action");
      expect(new URL(page.url()).hash).toBe("");
      // Nothing more opens over a dialog.
      await page.keyboard.press("ControlOrMeta+k");
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "hidden" });
      await expectFocus(page, "after closing it");

      // Closed without a choice, it gives the focus back.
      await page.getByLabel("Search").focus();
      await page.keyboard.press("ControlOrMeta+k");
      await field.waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "hidden" });
      await soon(async () => expect(await focusedName(page)).toStartWith("Search"));
      await leave(watched);
    });

    test("single keys can be switched off, which outlasts the session", async () => {
      const body = { username: "quentin", email: "quentin@example.org", supervisor: "", purpose: "" };
      await system.anonymous().call("POST", "/approvals", body);
      const watched = await openSignedIn(browser, system, "admin");
      const { page } = watched;
      await page.goto("/admin/applications");
      await page.locator("article:focus").first().waitFor();
      await atRest(page);
      await page.keyboard.press("?");
      const keys = page.getByRole("dialog", { name: "Keys" });
      await keys.getByText("find people, pages and actions").waitFor();
      await keyboard(page).press("checkbox", "Keys without Ctrl work");
      await page.keyboard.press("Escape");
      await keys.waitFor({ state: "hidden" });
      await page.locator("article:focus").first().waitFor();
      for (const key of ["a", "r", "/", "?"]) await page.keyboard.press(key);
      await soon(async () => expect(await page.getByRole("dialog").count()).toBe(0));
      await page.keyboard.press("ControlOrMeta+k");
      await page.getByRole("dialog", { name: "Find" }).waitFor();
      await page.keyboard.type("log out");
      await page.keyboard.press("Enter");
      await journey.arrive(page, "Please log in");
      expect(await page.evaluate(() => localStorage.getItem("keys"))).toBe("off");
      await leave(watched);
    });

    test("users find their own pages, and nobody else", async () => {
      await system.user("rosa");
      const watched = await openSignedIn(browser, system, { user: "rosa" });
      const { page } = watched;
      const asked: string[] = [];
      page.on("request", (request) => void asked.push(new URL(request.url()).pathname));
      await page.goto("/me");
      await journey.arrive(page, "Your access");
      await openFind(page, "Pages and actions");
      await page.keyboard.type("key");
      await page.getByRole("option", { name: /^Add a key/ }).waitFor();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await journey.arrive(page, "Your keys");
      expect(asked.filter((path) => path.includes("/users"))).toEqual([]);
      await leave(watched);
    });
  });
});
