/** Companies in the console: added, narrowed, ended, resumed and deleted, with a mouse and with the keyboard alone. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { finishEndings } from "../../../../src/domain/companies/ending.ts";
import { finishClosings } from "../../../../src/domain/lifecycle/finish-closings.ts";
import { companyPage, PAGES, userPage } from "../../../../src/shared/product/pages.ts";
import { admins } from "../../../../src/store/schema-auth.ts";
import type { Client } from "../../../support/app.ts";
import { atRest, describeInBrowser, expectNoFaults, soon, type WatchedPage } from "../../support/browser.ts";
import { openBrowser } from "../../support/chromium.ts";
import { type ConsoleApp, openConsoleApp, openSignedIn } from "../../support/console-app.ts";
import { keyboard, mouse } from "../../support/hands.ts";
import { arrive, says } from "../../support/journeys.ts";

describeInBrowser("companies", () => {
  let system: ConsoleApp;
  let browser: Browser;
  let client: Client;
  let admin: WatchedPage;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    system = await openConsoleApp({ UAM_FLEET_WAIT: "1s" });
    client = await system.admin();
    admin = await openSignedIn(browser, system, "admin");
  });
  afterEach(async () => {
    expectNoFaults(admin);
    await admin.close();
    await system.close();
  });

  async function add(path: string, body: object): Promise<number> {
    const answer = await client.call("POST", path, body);
    if (answer.status !== 201) throw new Error(answer.text);
    return answer.body.data.id;
  }

  /** A company with so many people, who may come from 192.0.2.0/24. */
  async function company(name: string, people: readonly string[]): Promise<number> {
    const source_networks = ["192.0.2.0/24"];
    const company_id = await add("/companies", { name, source_networks });
    for (const username of people) {
      await add("/users", { username, email: `${username}@example.org`, company_id, source_networks });
    }
    return company_id;
  }

  const read = async (id: number) => (await client.call("GET", `/companies/${id}`)).body.data;
  const statuses = async (id: number) =>
    (await client.call("GET", `/users?company=${id}&sort=username`)).body.data.items.map(
      ({ username, status }: { username: string; status: string }) => `${username} ${status}`,
    );

  describe.each([
    ["a mouse", mouse],
    ["the keyboard alone", keyboard],
  ] as const)("with %s", (_, handsOf) => {
    test("one is added with its limits, found, and changed field by field", async () => {
      const { page } = admin;
      const hands = handsOf(page);
      await add("/companies", { name: "Another one" });
      await page.goto(PAGES.users);
      await hands.press("link", "Companies");
      await arrive(page, "Companies");
      await hands.press("button", "Add a company …");
      await hands.press("button", "Add the company");
      await says(page, "Complete or correct this.");
      await hands.type("Name", "  Lindqvist AB ");
      await hands.type("Most users", "20");
      await hands.type("Networks", "192.0.2.0/24\n2001:db8::/32");
      await hands.type("Sponsor", "bo@example.org");
      await hands.press("button", "Add the company");
      await arrive(page, "Lindqvist AB");
      await says(page, "0 of 20 users");
      const [{ id }] = (await client.call("GET", "/companies?q=lindqvist")).body.data.items;
      expect(await read(id)).toMatchObject({
        ...{ name: "Lindqvist AB", max_users: 20, max_ttl_days: null, contract_end: null, host_groups: [] },
        ...{ source_networks: ["192.0.2.0/24", "2001:db8::/32"], sponsor_email: "bo@example.org" },
      });

      await hands.press("button", "Change … Most users");
      await hands.type("Most users", "0");
      await says(page, "Complete or correct this.");
      await hands.type("Most users", "");
      await says(page, "Nobody of Lindqvist AB loses access by that.");
      await hands.press("button", "Save");
      await says(page, "Lindqvist AB was changed.");
      await says(page, "0 users");
      expect(await read(id)).toMatchObject({ max_users: null, sponsor_email: "bo@example.org" });

      await hands.press("link", "All companies");
      await arrive(page, "Companies");
      await says(page, "2 companies");
      await hands.type("Search", "LIND");
      await says(page, "1 company");
      expect(new URL(page.url()).search).toBe("?q=LIND");
      await hands.press("link", "Lindqvist AB");
      await arrive(page, "Lindqvist AB");
    });

    test("one is narrowed, after it was said who loses what", async () => {
      const id = await company("Lindqvist AB", ["alice", "bob"]);
      const { page } = admin;
      const hands = handsOf(page);
      await page.goto(companyPage(id));
      await hands.press("button", "Change … Networks");
      await hands.type("Networks", "192.0.2.0/99");
      await says(page, /192\.0\.2\.0\/99/);
      await soon(async () =>
        expect(await page.getByRole("dialog").getByRole("button", { name: "Save" }).count()).toBe(0),
      );
      await hands.type("Networks", "198.51.100.0/24");
      await says(page, "2 users of Lindqvist AB: no network is left, so they are disabled: alice, bob.");
      expect(await statuses(id)).toEqual(["alice active", "bob active"]);
      await hands.press("button", "Save");
      await says(page, "Lindqvist AB was changed.");
      expect(await statuses(id)).toEqual(["alice disabled", "bob disabled"]);
    });

    test("one is ended, which the page follows and finds again; then resumed", async () => {
      const id = await company("Lindqvist AB", ["alice", "bob"]);
      const { page } = admin;
      const hands = handsOf(page);
      const shut = system.host.shutAccount;
      system.host.shutAccount = async () => ({ refused: true, owed: ["Something still runs"] });
      await page.goto(companyPage(id));
      await hands.press("button", "End …");
      await says(page, "2 users of Lindqvist AB can no longer log in, and get a mail: alice, bob.");
      expect(await statuses(id)).toEqual(["alice active", "bob active"]);
      await hands.press("button", "End all access");
      await says(page, "Lindqvist AB is ended, or being ended: see below.");
      await says(page, "Access is being ended");
      await says(page, "2 of 2 users without access.");
      await page.reload();
      await says(page, "Not completely taken away from 2 users; the service goes on.");
      system.host.shutAccount = shut;
      system.clock.advance(60_000);
      await finishClosings(system.services);
      await finishEndings(system.services);
      await says(page, "Nobody has access");
      expect(await read(id)).toMatchObject({ status: "ended" });

      await hands.press("button", "Resume …");
      await hands.press("button", "Resume");
      await says(page, "Lindqvist AB is resumed; nobody has access by that.");
      expect(await statuses(id)).toEqual(["alice disabled", "bob disabled"]);
      expect(await read(id)).toMatchObject({ status: "active" });
    });

    test("one is deleted, but not while users come from it", async () => {
      const id = await company("Lindqvist AB", ["alice"]);
      const { page } = admin;
      const hands = handsOf(page);
      await page.goto(companyPage(id));
      await hands.press("button", "Delete …");
      await hands.press("button", "Delete the company");
      await says(page, "1 user comes from Lindqvist AB; delete them, or give them another company, first.");
      await hands.press("button", "Close");
      const [user] = (await client.call("GET", `/users?company=${id}`)).body.data.items;
      expect((await client.call("PATCH", `/users/${user.id}`, { company_id: null })).status).toBe(200);
      await hands.press("button", "Delete …");
      await hands.press("button", "Delete the company");
      await arrive(page, "Companies");
      await says(page, "0 companies");
      await page.goto(companyPage(id));
      await arrive(page, `There is no company with the number ${id}`);
    });
  });

  test("a date without its time lifts nothing", async () => {
    const contract_end = "2031-06-30T22:00:00Z";
    const id = await add("/companies", { name: "Lindqvist AB", contract_end });
    const { page } = admin;
    await page.goto(companyPage(id));
    await page.getByRole("button", { name: "Change … Contract ends" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel(/^Contract ends/).focus();
    // Empties the day alone.
    await page.keyboard.press("Delete");
    await says(page, "Nobody of Lindqvist AB loses access by that.");
    await dialog.getByRole("button", { name: "Save" }).click();
    await says(page, "Complete or correct this.");
    expect((await read(id)).contract_end).toBe("2031-06-30T22:00:00.000Z");
  });

  test("an end that was typed as a date is that date wherever it is read, and the moment on demand", async () => {
    const contract_end = "2027-06-30T23:59:59.999Z";
    const company_id = await add("/companies", { name: "Lindqvist AB", contract_end });
    const id = await add("/users", { username: "alice", email: "alice@example.org", company_id });
    await client.call("POST", `/users/${id}/extend`, { until: contract_end });
    const { page } = admin;
    for (const shown of [PAGES.companies, companyPage(company_id), userPage(id)]) {
      await page.goto(shown);
      const end = page.getByText("30 Jun 2027, end of the day in UTC").first();
      await soon(async () => expect(await end.getAttribute("title")).toBe("1 Jul 2027, 01:59 (Europe/Berlin)"));
    }
  });

  test.each([
    ["auditor", true],
    ["reviewer", false],
  ] as const)("as %s nobody changes anything of them", async (role, isShown) => {
    const id = await company("Lindqvist AB", ["alice"]);
    await client.call("POST", `/companies/${id}/end`);
    await system.db.update(admins).set({ role });
    const { page } = admin;
    for (const path of [PAGES.companies, companyPage(id)]) {
      await page.goto(path);
      await atRest(page);
      await says(page, isShown ? /change nothing/ : "Your role does not include this page");
      await soon(async () => expect(await page.getByRole("main").getByRole("button").count()).toBe(0));
    }
    if (isShown) await says(page, "1 of 1 user without access.");
  });
});
