/** The company of a user: chosen by typing where they are created and edited, shown on their page, and a filter of the list. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { companyPage, PAGES, userPage } from "../../../../src/shared/product/pages.ts";
import type { Client } from "../../../support/app.ts";
import { atRest, describeInBrowser, expectNoFaults, soon, type WatchedPage } from "../../support/browser.ts";
import { openBrowser } from "../../support/chromium.ts";
import { type ConsoleApp, openConsoleApp, openSignedIn } from "../../support/console-app.ts";
import { keyboard, mouse } from "../../support/hands.ts";
import { arrive, says } from "../../support/journeys.ts";

describeInBrowser("the company of a user", () => {
  let system: ConsoleApp;
  let browser: Browser;
  let client: Client;
  let admin: WatchedPage;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    system = await openConsoleApp();
    client = await system.admin();
    admin = await openSignedIn(browser, system, "admin");
  });
  afterEach(async () => {
    expectNoFaults(admin);
    await admin.close();
    await system.close();
  });

  const company = async (name: string, limits: object = {}) =>
    (await client.call("POST", "/companies", { name, ...limits })).body.data.id as number;
  const read = async (id: number) => (await client.call("GET", `/users/${id}`)).body.data;

  test("is not asked for as long as there are no companies", async () => {
    const { page } = admin;
    await page.goto(PAGES.users);
    await page.getByRole("button", { name: "Create a user …" }).first().click();
    await atRest(page);
    await soon(async () => expect(await page.getByLabel(/^Company/).count()).toBe(0));
  });

  describe.each([
    ["a mouse", mouse],
    ["the keyboard alone", keyboard],
  ] as const)("with %s", (_, handsOf) => {
    test("is chosen by typing, and changed", async () => {
      for (let n = 1; n <= 120; n++) await company(`Supplier ${n}`);
      const contract_end = new Date(system.clock.now().getTime() + 5 * 86_400_000).toISOString();
      const lindqvist = await company("Lindqvist AB", { contract_end });
      const { page } = admin;
      const hands = handsOf(page);
      await page.goto(PAGES.users);
      await hands.press("button", "Create a user …");
      await hands.type("Username", "alice");
      await hands.type("E-mail", "alice@example.org");
      await hands.type("Company", "lindqv");
      const suggestions = page.locator("dialog datalist option");
      await page.waitForFunction(() => document.querySelectorAll("dialog datalist option").length === 1);
      await soon(async () => expect(await suggestions.getAttribute("value")).toBe("Lindqvist AB"));
      await hands.press("button", "Create the user");
      // What is only a part of a name is seen as a whole before it counts.
      await says(page, "Only Lindqvist AB has that in its name, and stands here now.");
      const field = page.getByRole("dialog").getByLabel(/^Company/);
      await soon(async () => expect(await field.inputValue()).toBe("Lindqvist AB"));
      expect((await client.call("GET", "/users")).body.data.total).toBe(0);
      await hands.type("Company", "supplier");
      await hands.press("button", "Create the user");
      await says(page, "120 companies have that in their names: choose one.");
      await hands.type("Company", "lindqvist ab");
      await hands.press("checkbox", /^Manager/);
      await hands.press("button", "Create the user");
      await says(page, "alice was created.");
      await hands.press("link", "Go to this user");
      await arrive(page, "alice");
      await says(page, "(manager)");
      const id = Number(new URL(page.url()).pathname.split("/").at(-1));
      // Not what the field of days had by itself, which the company does not allow.
      expect(await read(id)).toMatchObject({ company_id: lindqvist, manager: true, expire_at: contract_end });

      await hands.press("button", "Edit …");
      await hands.type("Company", "Supplier 119");
      await hands.press("button", "Save");
      await says(page, "alice was changed.");
      await page.getByRole("link", { name: "Supplier 119" }).waitFor();
      await hands.press("button", "Edit …");
      await hands.type("Company", "");
      await hands.press("button", "Save");
      await page.getByRole("link", { name: "Supplier 119" }).waitFor({ state: "detached" });
      expect(await read(id)).toMatchObject({ company_id: null, manager: false });
    });

    test("filters the list, from the company's page and by typing", async () => {
      const [one, two] = [await company("Lindqvist AB"), await company("Åkerman AB")];
      for (const [username, company_id] of [
        ["alice", one],
        ["bob", two],
        ["cleo", null],
      ] as const) {
        await client.call("POST", "/users", { username, email: `${username}@example.org`, company_id });
      }
      const { page } = admin;
      const hands = handsOf(page);
      await page.goto(companyPage(one));
      await hands.press("link", "1 user");
      await says(page, "1 user matches.");
      await page.getByRole("link", { name: "alice", exact: true }).waitFor();
      await soon(async () => expect(await page.getByLabel("Company").inputValue()).toBe("Lindqvist AB"));
      await hands.type("Company", "nobody");
      await says(page, "No company has that in its name.");
      await hands.type("Company", "ab");
      await says(page, "2 companies have that in their names: choose one.");
      // A name that is on its way is not put over what somebody types meanwhile.
      let answer: (() => void) | undefined;
      await page.route(`**/companies/${two}`, (route) => {
        answer = () => void route.continue();
      });
      await hands.type("Company", "åkerman ab");
      await soon(async () => expect(new URL(page.url()).search).toBe(`?company=${two}`));
      await hands.type("Company", "ab");
      await soon(async () => expect(answer).toBeDefined());
      answer?.();
      await says(page, "2 companies have that in their names: choose one.");
      await atRest(page);
      await soon(async () => expect(await page.getByLabel("Company").inputValue()).toBe("ab"));
      await hands.type("Company", "åkerman ab");
      await page.getByRole("link", { name: "bob", exact: true }).waitFor();
      expect(new URL(page.url()).search).toBe(`?company=${two}`);
      await hands.type("Company", "lind");
      await says(page, "Only Lindqvist AB has that in its name. Enter chooses it.");
      await page.keyboard.press("Enter");
      await page.getByRole("link", { name: "alice", exact: true }).waitFor();
      await soon(async () => expect(await page.getByLabel("Company").inputValue()).toBe("Lindqvist AB"));
      // What led nowhere, and was taken back, is not put in the place of where a link leads.
      await hands.type("Company", "nobody");
      await says(page, "No company has that in its name.");
      await hands.type("Company", "Lindqvist AB");
      await page.evaluate((id) => history.pushState(null, "", `?company=${id}`), two);
      await page.goBack();
      await page.goForward();
      await page.getByRole("link", { name: "bob", exact: true }).waitFor();
      await soon(async () => expect(await page.getByLabel("Company").inputValue()).toBe("Åkerman AB"));
      await atRest(page);
      expect(new URL(page.url()).search).toBe(`?company=${two}`);
      await hands.type("Company", "");
      await says(page, "3 users.");
      await page.goto(`${PAGES.users}?company=x`);
      await says(page, "The address has a filter that there is not.");
    });
  });

  test("what was not touched is not sent: somebody else's change stays", async () => {
    const one = await company("Lindqvist AB");
    const { id } = await system.user("alice");
    const { page } = admin;
    await page.goto(userPage(id));
    await page.getByRole("button", { name: "Edit …" }).click();
    await client.call("PATCH", `/users/${id}`, { company_id: one, manager: true });
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel(/^Name/).fill("Alice Andersson");
    await dialog.getByRole("button", { name: "Save" }).click();
    await says(page, "alice was changed.");
    expect(await read(id)).toMatchObject({ company_id: one, manager: true, full_name: "Alice Andersson" });
  });
});
