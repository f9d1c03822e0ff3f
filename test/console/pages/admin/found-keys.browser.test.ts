/** Keys that were found in an adopted account: a user's page shows them, and they are confirmed or dismissed there. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import process from "node:process";
import type { Browser, Page } from "playwright-core";
import { addAdmin } from "../../../../src/domain/auth/administrators/add-admin.ts";
import { userPage } from "../../../../src/shared/product/pages.ts";
import { foundKey, noteAdopted } from "../../../support/adopter.ts";
import { ADMIN_PASSWORD, type Client } from "../../../support/app.ts";
import { axeFinds } from "../../support/axe.ts";
import {
  atRest,
  describeInBrowser,
  expectNoFaults,
  focusedName,
  logIn,
  openPage,
  soon,
  type WatchedPage,
} from "../../support/browser.ts";
import { openBrowser } from "../../support/chromium.ts";
import { type ConsoleApp, openConsoleApp, openSignedIn } from "../../support/console-app.ts";
import { HOSTILE } from "../../support/data.ts";
import { arrive, says } from "../../support/journeys.ts";

const LAPTOP = { ...foundKey("wendy@laptop"), options: 'from="192.0.2.0/24"' };
const OLD = { ...foundKey(HOSTILE[0]), type: "ssh-dss" };

describeInBrowser("keys that were found", () => {
  let browser: Browser;
  let system: ConsoleApp;
  let admin: Client;
  let watched: WatchedPage;
  let page: Page;
  let id: number;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  beforeEach(async () => {
    system = await openConsoleApp();
    admin = await system.admin();
    id = (await admin.call("POST", "/users", { username: "wendy", email: "wendy@example.org" })).body.data.id;
    await noteAdopted(system, id, [LAPTOP, OLD]);
    watched = await openSignedIn(browser, system, "admin");
    page = watched.page;
    await page.goto(userPage(id));
    await arrive(page, "wendy");
    await atRest(page);
  });
  afterEach(async () => {
    expectNoFaults(watched);
    await watched.close();
    await system.close();
  });
  afterAll(async () => await browser?.close());

  const dialog = () => page.getByRole("dialog");
  const statuses = async () =>
    (await admin.call("GET", `/users/${id}/found-keys`)).body.data.items.map(
      ({ status }: { status: string }) => status,
    );

  test("are confirmed with the keyboard once it is said what that does, and dismissed", async () => {
    const confirm = page.getByRole("button", { name: /^Confirm …/ });
    // A key that cannot be stored can only be dismissed.
    await soon(async () => expect(await confirm.count()).toBe(1));
    await page.getByText(/^Found in$/).waitFor();
    await page.getByText(LAPTOP.path).first().waitFor();
    await confirm.focus();
    await page.keyboard.press("Enter");
    await dialog().getByText("What limited it in its file is not kept").waitFor();
    expect(await axeFinds(page)).toEqual([]);
    await dialog().getByRole("button", { name: "Confirm", exact: true }).focus();
    await page.keyboard.press("Enter");
    await says(page, `The key ${LAPTOP.fingerprint} was confirmed.`);
    await soon(async () => expect(await focusedName(page)).toStartWith("The key SHA256:"));
    await atRest(page);
    expect(await statuses()).toEqual(["stored", "found"]);
    expect(system.host.accounts.get("ext_wendy")?.file).toEqual([LAPTOP.fingerprint]);
    await page.getByRole("button", { name: /^Dismiss …/ }).click();
    await dialog().getByRole("button", { name: "Dismiss", exact: true }).click();
    await says(page, `The key ${OLD.fingerprint} was dismissed.`);
    await atRest(page);
    await soon(async () => expect(await page.getByRole("heading", { name: "Keys that were found" }).count()).toBe(0));
    expect(await statuses()).toEqual(["stored", "dismissed"]);
  });

  test("what somebody else decided meanwhile is said, and shown", async () => {
    await page.getByRole("button", { name: /^Confirm …/ }).click();
    await admin.call("POST", `/users/${id}/found-keys`, { answer: "dismiss", fingerprints: [LAPTOP.fingerprint] });
    await dialog().getByRole("button", { name: "Confirm", exact: true }).click();
    await dialog()
      .getByText(/was dismissed/)
      .waitFor();
    await dialog().getByRole("button", { name: "Close" }).click();
    await atRest(page);
    await soon(async () => expect(await page.getByRole("button", { name: /^Confirm …/ }).count()).toBe(0));
    await soon(async () => expect(await page.getByRole("button", { name: /^Dismiss …/ }).count()).toBe(1));
  });

  test.each(["light", "dark"] as const)(
    "are accessible and fit, in the %s scheme and on a phone",
    async (colorScheme) => {
      await page.emulateMedia({ colorScheme });
      for (const width of [320, 1280]) {
        await page.setViewportSize({ width, height: 900 });
        expect(await axeFinds(page)).toEqual([]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
        const file = process.env.UAM_TEST_PICTURES;
        const section = page
          .locator("section")
          .filter({ has: page.getByRole("heading", { name: "Keys that were found" }) });
        if (file !== undefined) await section.screenshot({ path: `${file}/found-${colorScheme}-${width}.png` });
      }
    },
  );

  test("are shown to an auditor without anything to press, and nobody else's page has them", async () => {
    await addAdmin(system.system, "audra", "audra@example.org", ADMIN_PASSWORD, "auditor");
    const reader = await openPage(browser, system.origin);
    await logIn(reader, "/auth/admin/login", { username: "audra", password: ADMIN_PASSWORD });
    await reader.page.goto(userPage(id));
    await reader.page.getByText(LAPTOP.fingerprint).waitFor();
    await soon(async () =>
      expect(await reader.page.getByRole("button", { name: /^(Confirm|Dismiss)/ }).count()).toBe(0),
    );
    expectNoFaults(reader);
    await reader.close();
    const { id: other } = await system.user("other");
    await page.goto(userPage(other));
    await arrive(page, "other");
    await atRest(page);
    await soon(async () => expect(await page.getByRole("heading", { name: "Keys that were found" }).count()).toBe(0));
  });
});
