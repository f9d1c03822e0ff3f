/** What happens to a page besides its own work: the session ends, the service restarts, another tab logs out, texts and screens are odd. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Locator, Page } from "playwright-core";
import { PAGES } from "../../src/shared/product/pages.ts";
import { HOUR, shift } from "../../src/shared/time/clock.ts";
import { PNG } from "../support/logo.ts";
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
import { type ConsoleApp, openConsoleApp, openFor } from "./support/console-app.ts";
import { type Filled, fill, HOSTILE } from "./support/data.ts";
import { mouse } from "./support/hands.ts";
import { arrive, logOut } from "./support/journeys.ts";
import { SCREENS, type Screen } from "./support/screens.ts";

/** A screen of each area that needs a session, with its heading. */
const AREAS = [
  ["user", PAGES.me, "Your access"],
  ["user", PAGES.keys, "Your keys"],
  ["admin", PAGES.users, "Users"],
  ["admin", PAGES.audit, "Audit log"],
] as const;

describeInBrowser("a page", () => {
  let system: ConsoleApp;
  let browser: Browser;
  let data: Filled;
  const open = new Map<Screen["who"], WatchedPage>();
  beforeAll(async () => {
    [system, browser] = await Promise.all([openConsoleApp(), openBrowser()]);
    data = await fill(system);
  });
  afterAll(async () => {
    await browser?.close();
    await system?.close();
  });

  function signedIn(who: "admin" | "user"): Promise<WatchedPage> {
    return openFor(browser, system, who);
  }

  test.each([
    ["before anything is typed", "", "5", "5"],
    ["while it is typed", "1", "4", "14"],
  ])("a default that arrives late, %s, never becomes a part of what is typed", async (_when, before, after, days) => {
    const { page, close } = await signedIn("admin");
    const held = Promise.withResolvers<void>();
    await page.route("**/api/v1/settings", async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.goto(PAGES.applications);
    await page
      .getByRole("button", { name: /^Approve …/ })
      .first()
      .click();
    const field = page.getByLabel(/^Days of access/);
    await field.focus();
    await page.keyboard.type(before);
    const arrived = page.waitForResponse("**/api/v1/settings");
    held.resolve();
    await arrived;
    await page.getByText("Empty means the default, 60 days.").waitFor();
    await page.keyboard.type(after);
    await soon(async () => expect(await field.inputValue()).toBe(days));
    await close();
  });

  test("a dialog stays open while its change is under way, so that a failure is said", async () => {
    const { page, close } = await signedIn("admin");
    const held = Promise.withResolvers<void>();
    await page.route(/\/api\/v1\/users\/\d+\/disable$/, async (route) => {
      await held.promise;
      await route.fulfill({ status: 500, json: { error: "The host refused it." } });
    });
    const { id } = await system.user("stays-open");
    await page.goto(`/admin/users/${id}`);
    await page.getByRole("button", { name: "Disable …" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Disable", exact: true }).click();
    await dialog.getByRole("button", { name: "Disabling …" }).waitFor();
    await page.keyboard.press("Escape");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await soon(async () => expect(await dialog.isVisible()).toBe(true));
    held.resolve();
    await dialog.getByText("The host refused it.").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    await close();
  });

  test("a dialog asks before several typed answers are lost, and its buttons stay in view", async () => {
    const { page, close } = await signedIn("admin");
    await page.setViewportSize({ width: 1280, height: 560 });
    await page.goto(PAGES.users);
    const open = page.getByRole("button", { name: "Create a user …" });
    const dialog = page.getByRole("dialog");
    await open.click();
    expect(await isInView(dialog.getByRole("button", { name: "Create the user" }))).toBe(true);
    // One word is quickly typed again.
    await dialog.getByLabel("Username").fill("maria");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    await open.click();
    await dialog.getByLabel("Username").fill("maria");
    await dialog.getByLabel("E-mail", { exact: true }).fill("maria@example.org");
    await page.keyboard.press("Escape");
    await dialog.getByText("lose what you typed?").waitFor();
    // No to the question, by Escape and by its button: both fields hold what they held.
    await page.keyboard.press("Escape");
    await soon(async () => expect(await focusedName(page)).toBe("E-mail"));
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.getByRole("button", { name: "Keep typing" }).click();
    await soon(async () => expect(await dialog.getByLabel("Username").inputValue()).toBe("maria"));
    await soon(async () =>
      expect(await dialog.getByLabel("E-mail", { exact: true }).inputValue()).toBe("maria@example.org"),
    );
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.getByRole("button", { name: "Discard it" }).click();
    await dialog.waitFor({ state: "hidden" });
    await close();
  });

  test("lists show all of each row at any width, in few lines", async () => {
    const watched = await signedIn("admin");
    const { page } = watched;
    // Most of what a list tells is longer ago than "now", and takes more room.
    await page.clock.setFixedTime(shift(system.clock.now(), 3 * HOUR));
    const heights = async (selector: string) =>
      await page.locator(selector).evaluateAll((all) => all.map((each) => each.getBoundingClientRect().height));
    for (const path of [PAGES.users, PAGES.admins, PAGES.webhooks, PAGES.tokens, PAGES.hosts, PAGES.audit]) {
      for (const width of [320, 768, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        await page.goto(path);
        await page.locator("tbody tr").first().waitFor();
        const cut = await page
          .locator(".table, .events td")
          .evaluateAll((all) => all.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).length);
        expect({ path, width, cut }).toEqual({ path, width, cut: 0 });
      }
    }
    // The last one shown is the audit log.
    const plain = async () =>
      (await heights(".events tbody tr:not(:has(.quiet)):not(:has(.rejected))")).sort((a, b) => a - b);
    const [least = 0] = await plain();
    expect(least).toBeLessThanOrEqual(46);
    await page.setViewportSize({ width: 320, height: 800 });
    const [narrow = 0] = await plain();
    expect(narrow).toBeLessThanOrEqual(125);
    await page.goto(PAGES.users);
    await page.locator("tbody tr").nth(24).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThanOrEqual(5000);
    await leave(watched);
  });

  test("on a phone the pages are a menu, which closes once one was chosen", async () => {
    const watched = await signedIn("admin");
    const { page } = watched;
    await page.setViewportSize({ width: 320, height: 700 });
    await page.goto(PAGES.users);
    const menu = page.getByRole("button", { name: "Users", exact: true });
    await menu.waitFor();
    const menuHeight = (await menu.boundingBox())?.height ?? 0;
    const head = await page.getByRole("banner").boundingBox();
    expect(head?.height).toBeLessThanOrEqual(120);
    const link = page.getByRole("link", { name: "Audit log" });
    await soon(async () => expect(await link.isVisible()).toBe(false));
    await soon(async () => expect(await menu.getAttribute("aria-expanded")).toBe("false"));
    await menu.click();
    await link.click();
    await page.getByRole("heading", { level: 1, name: "Audit log" }).waitFor();
    await page.getByRole("button", { name: "Audit log", exact: true }).waitFor();
    await soon(async () => expect(await link.isVisible()).toBe(false));
    // The longest name, with how much waits beside it, stays on one line.
    await page.goto(PAGES.admins);
    const long = await page.locator(".menu-button[data-count]", { hasText: "Administrators" }).boundingBox();
    expect(long?.height).toBeLessThanOrEqual(menuHeight);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
    await leave(watched);
  });

  test("names who offers the service, a dry run, the zone of its times, and whom to ask", async () => {
    const directory = mkdtempSync(join(tmpdir(), "uam-brand-"));
    const logo = join(directory, "logo");
    writeFileSync(logo, PNG);
    const brand = { UAM_BRAND_NAME: "Example <Corp>", UAM_BRAND_LOGO: logo };
    const branded = await openConsoleApp({ ...brand, UAM_CONTACT: "help@example.org" });
    await branded.user("alice");
    for (const who of ["nobody", "admin", "user"] as const) {
      const watched = await openFor(browser, branded, who);
      await watched.page.goto(who === "admin" ? PAGES.users : who === "user" ? PAGES.me : PAGES.login);
      const home = watched.page.getByRole("link", { name: `Example <Corp> ${new URL(branded.origin).host}` });
      await home.waitFor();
      // The name beside it says it all: a reader who hears the page is not told twice.
      const picture = home.locator("img[alt='']");
      await picture.evaluate((image: HTMLImageElement) => image.decode());
      expect(await picture.evaluate(({ naturalWidth }: HTMLImageElement) => naturalWidth)).toBe(1);
      await watched.page.getByText("Dry run: nothing on the service's own host is changed.").waitFor();
      const foot = watched.page.getByRole("contentinfo");
      await foot.getByRole("link", { name: "help@example.org" }).waitFor();
      await soon(async () =>
        expect(await foot.getByText("Times are in Europe/Berlin.").count()).toBe(who === "nobody" ? 0 : 1),
      );
      await leave(watched);
    }
    const { page, close } = await openFor(browser, branded, "admin");
    await page.goto(PAGES.users);
    await page.getByRole("button", { name: "Create a user …" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Dry run: what concerns the service's own host is only logged.").waitFor();
    await soon(async () => expect(await dialog.getByText("Dry run: nothing").isVisible()).toBe(false));
    await page.goto(PAGES.tokens);
    await page.getByRole("button", { name: /^Make a token/ }).click();
    await dialog.getByText("Dry run: nothing on the service's own host is changed.").waitFor();
    await close();
    await branded.close();
    rmSync(directory, { recursive: true });
  });

  test("at an address without one is a page that leads to the one that was meant", async () => {
    const { page, close } = await openPage(browser, system.origin);
    const answer = await page.goto("/Login");
    expect(answer?.status()).toBe(404);
    await arrive(page, "There is no such page");
    await page.getByRole("main").getByRole("link", { name: "Log in" }).click();
    await arrive(page, "Log in");
    await close();
    const { page: own, close: leaveOwn } = await signedIn("admin");
    for (const path of ["/admin/user/1", "/users/1/", "//users//1"]) {
      await own.goto(system.origin + path);
      await arrive(own, "There is no such page");
      await own.getByRole("link", { name: "Users 1", exact: true }).click();
      await arrive(own, "alice");
    }
    await own.goto(`${system.origin}//`);
    await arrive(own, "SSH access for a limited time");
    // Not what the router would have taken it for, nor a page of users' own.
    await own.goto("/login//");
    await arrive(own, "There is no such page");
    await own.goto("/keys");
    await arrive(own, "There is no such page");
    // Until it is known who is logged in, it leads to the first page.
    await own.getByRole("link", { name: "Go to your own pages" }).waitFor();
    await soon(async () =>
      expect(await own.getByRole("main").getByRole("link").allInnerTexts()).toEqual(["Go to your own pages"]),
    );
    await leaveOwn();
  });

  test.each([
    [
      `${PAGES.users}?status=bogus&q=contractor`,
      "Users",
      "status=bogus: there are active, disabled, expired",
      "q=contractor",
    ],
    [`${PAGES.users}?stauts=active`, "Users", "stauts=active", ""],
    [
      `${PAGES.applications}?kind=<b>`,
      "Applications",
      "kind=<b>: there are all, access, extension, access_request",
      "",
    ],
    [`${PAGES.hosts}?page=0`, "Hosts", "page=0", ""],
    [`${PAGES.audit}?action=user.crate&since=soon&actor=admin`, "Audit log", "since=soon", "actor=admin"],
  ])("at %s says which filter there is not, and leads to the list without it", async (path, title, said, rest) => {
    const watched = await signedIn("admin");
    const { page } = watched;
    await page.goto(path);
    await arriveWhole(page, title);
    await page.getByText(said, { exact: true }).waitFor();
    await soon(async () => expect(await page.getByRole("alert").count()).toBe(0));
    await page.getByRole("link", { name: "Open the list without it" }).click();
    await page.waitForURL((url) => url.search.slice(1) === rest);
    await page.getByText(said, { exact: true }).waitFor({ state: "detached" });
    await leave(watched);
  });

  /** One session for each kind of reader. */
  async function pageFor(who: Screen["who"]): Promise<WatchedPage> {
    const known = open.get(who);
    if (known !== undefined) return known;
    const opened = await openFor(browser, system, who);
    open.set(who, opened);
    return opened;
  }

  async function leave(watched: WatchedPage): Promise<void> {
    expectNoFaults(watched);
    await watched.close();
  }

  describe.each(AREAS)("whose session ends, as %s at %s", (who, path, title) => {
    test("says so, and comes back after the login", async () => {
      const watched = await signedIn(who);
      const { page } = watched;
      await page.goto(path);
      await arriveWhole(page, title);
      await endSession(page);
      await page.reload();
      await arrive(page, "Your session has ended");
      const back = page.getByRole("main").getByRole("link", { name: "Log in" });
      await soon(async () => expect(await back.getAttribute("href")).toBe(`/login?next=${encodeURIComponent(path)}`));
      await leave(watched);
    });

    test("says so also when something is done", async () => {
      const watched = await signedIn(who);
      const { page } = watched;
      await page.goto(path);
      await arriveWhole(page, title);
      await endSession(page);
      const links = page.getByRole("navigation").first();
      // Another page than this one, which would ask again only in a minute.
      await (who === "user" ? links.getByRole("link").nth(3) : links.getByRole("link", { name: "Settings" })).click();
      await arrive(page, "Your session has ended");
      await leave(watched);
    });
  });

  test("says that the service restarts, and goes on when it is back", async () => {
    const watched = await signedIn("admin");
    const { page } = watched;
    await page.goto(PAGES.dashboard);
    // What it still asks for would be refused, too, and be what says so.
    await arriveWhole(page, "Dashboard");
    await page.route(/\/api\/v1\//, (route) => route.abort("connectionrefused"));
    await page.getByRole("link", { name: "Users", exact: true }).first().click();
    await page.getByText("The service does not answer.").first().waitFor();
    await page.unrouteAll();
    await page.getByRole("button", { name: "Try again" }).first().click();
    await page.getByRole("link", { name: "contractor-24" }).waitFor();
    await leave(watched);
  });

  test.each([
    [PAGES.dashboard, "Dashboard"],
    [`${PAGES.users}/1`, "Users"],
    [PAGES.hostGroups, "Hosts"],
    [PAGES.companies, "Users"],
    [PAGES.sponsors, "Reviews"],
    [PAGES.access, "Audit log"],
    [PAGES.account, "admin"],
  ])("at %s has its place, and no other, marked in the header", async (path, marked) => {
    const watched = await signedIn("admin");
    await watched.page.goto(path);
    const current = watched.page.locator("header [aria-current=page]");
    await current.filter({ hasText: marked }).waitFor();
    await soon(async () => expect(await current.allInnerTexts()).toEqual([marked]));
    await leave(watched);
  });

  test("shows nothing of a session that another tab has left, nor does the back button", async () => {
    const watched = await signedIn("admin");
    const { page } = watched;
    const other = await page.context().newPage();
    for (const tab of [page, other]) {
      await tab.goto(PAGES.users);
      await tab.getByRole("link", { name: "contractor-24" }).waitFor();
    }
    await logOut(mouse(other));
    await arrive(page, "Please log in");
    await soon(async () => expect(await page.getByText("contractor-24").count()).toBe(0));
    await page.goto("/");
    await page.goBack();
    await arrive(page, "Please log in");
    await soon(async () => expect(await page.getByText("contractor-24").count()).toBe(0));
    expect(await page.evaluate(() => localStorage.getItem("session"))).toBeNull();
    await leave(watched);
  });

  test("of another kind of session is not shown", async () => {
    const watched = await pageFor("user");
    await watched.page.goto(PAGES.users);
    await arrive(watched.page, "This page is not for you");
    expectNoFaults(watched);
  });

  test("cannot be made of text: Trusted Types hold, and no other address can be asked", async () => {
    const { page, close } = await openPage(browser, system.origin);
    await page.goto("/");
    const refused = await page.evaluate(async () => {
      const names: string[] = [];
      const attempt = async (name: string, work: () => unknown) => {
        try {
          await work();
        } catch {
          names.push(name);
        }
      };
      await attempt("markup", () => document.body.insertAdjacentHTML("beforeend", "<b>x</b>"));
      await attempt("policy", () =>
        (
          globalThis as unknown as { trustedTypes: { createPolicy(name: string, rules: object): unknown } }
        ).trustedTypes.createPolicy("mine", {}),
      );
      await attempt("foreign", () => fetch("https://foreign.example/"));
      return names;
    });
    expect(refused).toEqual(["markup", "policy", "foreign"]);
    await close();
  });

  test("shows hostile texts as text", async () => {
    const watched = await pageFor("admin");
    const { page } = watched;
    for (const path of [PAGES.applications, `${PAGES.users}?q=contractor`, PAGES.audit]) {
      await page.goto(path);
      await atRest(page);
      await soon(async () => expect(await page.locator("main img, main script").count()).toBe(0));
    }
    await page.goto(PAGES.applications);
    await page.getByText(HOSTILE[0]).first().waitFor();
    expectNoFaults(watched);
  });

  /** How somebody may have set up their browser or screen. */
  const SETTINGS: Readonly<Record<string, (page: Page) => Promise<void>>> = {
    "forced colours": (page) => page.emulateMedia({ forcedColors: "active" }),
    "text of 200 %": (page) => addStyle(page, "html { font-size: 200% }"),
    "text from the right": (page) => page.locator("html").evaluate((html) => html.setAttribute("dir", "rtl")),
    "wide spacing of text": (page) =>
      addStyle(
        page,
        "* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important }",
      ),
    "a window of 320 px": (page) => page.setViewportSize({ width: 320, height: 640 }),
    paper: (page) => page.emulateMedia({ media: "print" }),
  };

  describe.each(SCREENS.map((screen) => [screen.name, screen] as const))("%s", (_, screen) => {
    test("fits whatever the reader has set, and moves nothing", async () => {
      const watched = await pageFor(screen.who);
      const { page } = watched;
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.emulateMedia({ media: "screen", forcedColors: "none", reducedMotion: "reduce" });
      await page.goto(screen.path(data));
      await page.getByRole("heading", { level: 1 }).waitFor();
      await atRest(page);
      const moving = await page.evaluate(
        () => document.getAnimations().filter(({ effect }) => Number(effect?.getComputedTiming().duration) > 10).length,
      );
      expect(moving).toBe(0);
      const text = await visibleText(page);
      const wrong: string[] = [];
      for (const [name, set] of Object.entries(SETTINGS)) {
        await set(page);
        const wider = await page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        if (wider > 0) wrong.push(`${name}: ${wider} px too wide`);
        if (name === "paper" && shared(text, await visibleText(page)) < 0.9) wrong.push(`${name}: loses text`);
      }
      expect(wrong).toEqual([]);
      await page.emulateMedia({ media: "screen", forcedColors: "none" });
      expectNoFaults(watched);
    });
  });
});

function visibleText(page: Page): Promise<string> {
  // biome-ignore lint/performance/useDomNodeTextContent: what is not shown does not count
  return page.locator("main").innerText();
}

/** As a reader's own style sheet would; the page's policy lets no other in. */
async function addStyle(page: Page, style: string): Promise<void> {
  await page.evaluate((text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    document.adoptedStyleSheets.push(sheet);
  }, style);
}

/** Returns once nothing more is being asked: what a page still asks for would be what says that the session has ended. */
async function arriveWhole(page: Page, title: string): Promise<void> {
  await arrive(page, title);
  await atRest(page);
}

/** Ends the session as the service does when it has run out; the page does not hear of it. */
async function endSession(page: Page): Promise<void> {
  await page.context().clearCookies();
}

/** The share of words of the first text that are in the second; on paper what can only be pressed may go. */
function shared(first: string, second: string): number {
  const words = first.split(/\s+/);
  const there = new Set(second.split(/\s+/));
  return words.filter((word) => there.has(word)).length / words.length;
}

/** Whether all of it lies within what the browser shows. */
async function isInView(locator: Locator): Promise<boolean> {
  const box = await locator.boundingBox();
  const size = locator.page().viewportSize();
  return box !== null && size !== null && box.y >= 0 && box.y + box.height <= size.height;
}
