/** The terms of use: users accept them before their first key and when they change, and administrators see who has not. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { Browser, Page } from "playwright-core";
import { PAGES, userPage } from "../../../../src/shared/product/pages.ts";
import { freshKey } from "../../../support/keys.ts";
import { axeFinds } from "../../support/axe.ts";
import {
  atRest,
  describeInBrowser,
  expectNoFaults,
  focusedName,
  soon,
  type WatchedPage,
} from "../../support/browser.ts";
import { openBrowser } from "../../support/chromium.ts";
import { type ConsoleApp, openConsoleApp, openSignedIn } from "../../support/console-app.ts";
import { HOSTILE } from "../../support/data.ts";
import { arrive, says } from "../../support/journeys.ts";

const TEXT = `Terms of use\n\n${"Be kind to the build servers. ".repeat(60)}\n\n${HOSTILE.join("\n")}\n`;
const OTHER = { version: "1".repeat(64), text: "Be kinder." };

describeInBrowser("terms of use", () => {
  const directory = mkdtempSync(join(tmpdir(), "uam-terms-"));
  let browser: Browser;
  let system: ConsoleApp;
  let watched: WatchedPage;
  let page: Page;
  let id: number;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  beforeEach(async () => {
    const file = join(directory, "terms.txt");
    writeFileSync(file, TEXT);
    system = await openConsoleApp({ UAM_TERMS_FILE: file, UAM_SESSION_TTL: "30d" });
    id = (await system.user("wendy")).id;
    watched = await openSignedIn(browser, system, { user: "wendy" });
    page = watched.page;
  });
  afterEach(async () => {
    expectNoFaults(watched);
    await watched.close();
    await system.close();
  });
  afterAll(async () => {
    rmSync(directory, { recursive: true });
    await browser?.close();
  });

  const accept = () => page.getByRole("button", { name: "I accept these terms" });
  const restart = (terms: typeof OTHER) => Object.assign(system.services.policy, { terms: () => terms });
  async function open(path: string): Promise<void> {
    await page.goto(path);
    await atRest(page);
  }

  test("are accepted with the keyboard before the first key, and can be read again", async () => {
    await open(PAGES.keys);
    await page.getByRole("region", { name: "Text of the terms" }).waitFor();
    await soon(async () => expect(await page.getByLabel("Public key").count()).toBe(0));
    await open(PAGES.connect);
    await page.getByRole("link", { name: "Read and accept them" }).focus();
    await page.keyboard.press("Enter");
    await arrive(page, "Your access");
    await atRest(page);
    await page.getByRole("region", { name: "Text of the terms" }).focus();
    await page.keyboard.press("Tab");
    await soon(async () => expect(await focusedName(page)).toBe("I accept these terms"));
    await page.keyboard.press("Enter");
    await says(page, "You accepted the terms of use.");
    await soon(async () => expect(await focusedName(page)).toStartWith("You accepted the terms of use."));
    await atRest(page);
    expect(await system.lastAudit("user.terms")).toMatchObject({ actor: "wendy", result: "success" });
    await page.locator("summary", { hasText: "Terms of use" }).press("Enter");
    await page.getByText(/^You accepted them on /).waitFor();
    await says(page, /Be kind to the build servers/);
    await open(PAGES.keys);
    await page.getByLabel("Public key").fill(freshKey("wendy@laptop"));
    await page.getByRole("button", { name: "Add this key" }).click();
    await says(page, /wendy@laptop/);
    await atRest(page);
    expect(system.host.accounts.get("ext_wendy")?.file).toHaveLength(1);
  });

  test("that changed are asked for again, and what was read is what is accepted", async () => {
    await open(PAGES.me);
    restart(OTHER);
    await accept().click();
    await says(page, /These are not the terms in force/);
    await says(page, "Be kinder.");
    expect((await system.auditRows("user.terms")).map(({ result }) => result)).toEqual(["failed"]);
    await accept().click();
    await says(page, "You accepted the terms of use.");
    expect((await system.lastAudit("user.terms")).detail).toMatchObject({ version: OTHER.version });
  });

  test("administrators see who accepted which, and find who has not", async () => {
    const admin = await openSignedIn(browser, system, "admin");
    await admin.page.goto(PAGES.users);
    await admin.page.getByLabel("Terms of use").selectOption("pending");
    await admin.page.waitForURL(/terms=pending/);
    await says(admin.page, "1 user matches.");
    await admin.page.goto(userPage(id));
    await says(admin.page, "The present ones are not accepted");
    await open(PAGES.me);
    await accept().click();
    await says(page, "You accepted the terms of use.");
    await admin.page.reload();
    await says(admin.page, /^Last accepted /);
    await picture(admin.page, "admin");
    await admin.page.goto(`${PAGES.users}?terms=pending`);
    await says(admin.page, "0 users match.");
    expectNoFaults(admin);
    await admin.close();
  });

  test.each(["light", "dark"] as const)("are accessible and fit, in the %s scheme and on a phone", async (scheme) => {
    await page.emulateMedia({ colorScheme: scheme });
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      for (const path of [PAGES.me, PAGES.keys, PAGES.connect]) {
        await open(path);
        expect(await axeFinds(page)).toEqual([]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
        await picture(page, `${scheme}-${width}${path.replaceAll("/", "-")}`);
      }
    }
  });

  async function picture(of: Page, name: string): Promise<void> {
    const folder = process.env.UAM_TEST_PICTURES;
    if (folder !== undefined) await of.screenshot({ path: `${folder}/terms-${name}.png`, fullPage: true });
  }
});
