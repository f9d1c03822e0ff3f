/** Creating the users of a file: its faults by line, what is created then, and what becomes of what goes wrong. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { MAX_IMPORT_BYTES, MAX_IMPORT_FAULTS, MAX_IMPORT_LINES } from "../../../../src/shared/product/limits.ts";
import { PAGES } from "../../../../src/shared/product/pages.ts";
import { outbox } from "../../../../src/store/schema.ts";
import { admins } from "../../../../src/store/schema-auth.ts";
import type { Client } from "../../../support/app.ts";
import { atRest, describeInBrowser, expectNoFaults, soon, type WatchedPage } from "../../support/browser.ts";
import { openBrowser } from "../../support/chromium.ts";
import { type ConsoleApp, openConsoleApp, openSignedIn } from "../../support/console-app.ts";
import { type Hands, keyboard, mouse } from "../../support/hands.ts";
import { arrive, says } from "../../support/journeys.ts";

const HEADER = "username,email,full_name,mood";
/** One is there already, and one has a fault. */
const MIXED = [
  HEADER,
  "bea,bea@example.org,Bea Lind,",
  "alice,alice@example.org,,",
  "cem,nowhere,,",
  "dan,d@example.org,,",
];

describeInBrowser("an import", () => {
  let browser: Browser;
  let system: ConsoleApp;
  let admin: Client;
  let watched: WatchedPage;
  let page: Page;
  let directory: string;
  /** Mails from before. */
  let earlier = 0;
  beforeAll(async () => {
    browser = await openBrowser();
    directory = mkdtempSync(join(tmpdir(), "uam-import-"));
  });
  beforeEach(async () => {
    system = await openConsoleApp();
    admin = await system.admin();
    await system.user("alice");
    earlier = (await system.db.select().from(outbox)).length;
    watched = await openSignedIn(browser, system, "admin");
    page = watched.page;
    await page.goto(PAGES.users);
    await page.getByRole("link", { name: "Import users" }).click();
    await arrive(page, "Import users");
  });
  afterEach(async () => {
    expectNoFaults(watched);
    await watched.close();
    await system.close();
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  function file(lines: readonly string[], name = "people.csv"): string {
    const path = join(directory, name);
    writeFileSync(path, `${lines.join("\n")}\n`);
    return path;
  }
  const names = async (query = "") => {
    const { body } = await admin.call("GET", `/users?sort=username${query}`);
    return body.data.items.map(({ username }: { username: string }) => username);
  };
  const mailed = async () => (await system.db.select().from(outbox)).map(({ recipient }) => recipient).slice(earlier);
  const paste = async (lines: readonly string[]) => {
    await page.getByLabel("Or paste the lines").fill(lines.join("\n"));
    await page.getByRole("button", { name: "Check it" }).click();
  };

  test.each([
    ["mouse", mouse],
    ["keyboard alone", keyboard],
  ] as const)("names each fault by its line, and creates only the good ones, by %s", async (_name, hands) => {
    const { press, chooseFile }: Hands = hands(page);
    await chooseFile("Choose a file …", file(MIXED));
    await says(page, "people.csv, 1 kB");
    await press("button", "Check it");
    await says(page, "4 users are in the file.");
    await says(page, "1 user is there already, and not changed.");
    await says(page, "1 line has a fault.");
    await says(page, "mood");
    const rows = page.getByRole("table", { name: "What is wrong" }).getByRole("row");
    expect((await rows.allInnerTexts()).slice(1).map((text) => text.split(/\s/).slice(0, 2))).toEqual([
      ["3", "username"],
      ["4", "email"],
    ]);
    expect(await names()).toEqual(["alice"]);
    await press("button", "Create the 2 good ones …");
    await says(page, "2 lines are left out.");
    await says(page, "Each of them gets a mail that says how to log in.");
    await press("button", "Create 2 users");
    await says(page, "2 users were created.");
    await says(page, "Lines that were left out");
    expect(await names()).toEqual(["alice", "bea", "dan"]);
    expect(await mailed()).toEqual(["bea@example.org", "d@example.org"]);
    await press("link", "Go to the list of users");
    await arrive(page, "Users");
  });

  test("tells nobody where that is wanted, and takes pasted lines", async () => {
    await paste(["username\temail", "bea\tbea@example.org", "dan\tdan@example.org"]);
    await says(page, "2 users can be created.");
    await page.getByRole("button", { name: "Create 2 users …" }).click();
    const dialog = page.getByRole("dialog", { name: "Create 2 users" });
    await dialog.getByLabel("Tell each of them by mail now").click();
    await says(page, /^Nobody is told yet\./);
    await dialog.getByRole("button", { name: "Create 2 users" }).click();
    await says(page, "2 users were created.");
    expect(await mailed()).toEqual([]);
    expect(await names("&welcome=pending")).toEqual(["bea", "dan"]);
  });

  test("a dropped file of as many users as there may be shows its first faults, and how many more there are", async () => {
    const lines = Array.from({ length: MAX_IMPORT_LINES }, (_, index) => `u${index},nowhere`);
    const text = ["username,email", ...lines].join("\n");
    const data = await page.evaluateHandle((text) => {
      const data = new DataTransfer();
      data.items.add(new File([text], "many.csv"));
      return data;
    }, text);
    await page.locator(".drop").dispatchEvent("drop", { dataTransfer: data });
    await page.getByRole("button", { name: "Check it" }).click();
    await says(page, "10,000 lines have faults.");
    await says(page, "Nobody can be created.");
    await says(page, `And ${(MAX_IMPORT_LINES - MAX_IMPORT_FAULTS).toLocaleString("en")} more.`);
    await soon(async () => expect(await page.getByRole("row").count()).toBe(1 + MAX_IMPORT_FAULTS));
    await soon(async () => expect(await page.getByRole("button", { name: /^Create/ }).count()).toBe(0));
  });

  test("a file that cannot be read as one says why, and nothing too large is sent", async () => {
    await page.getByRole("button", { name: "Check it" }).click();
    await says(page, "Choose a file, or paste its lines.");
    await paste(["name,mail", "bea,bea@example.org"]);
    await says(page, 'Line 1: there is no column "mail". Did you mean email?');
    await soon(async () =>
      expect(await page.getByRole("alert").allInnerTexts()).toEqual([
        'Line 1: there is no column "mail". Did you mean email?',
      ]),
    );
    const large = join(directory, "large.csv");
    writeFileSync(large, Buffer.alloc(MAX_IMPORT_BYTES + 1, "a"));
    await page.locator("input[type=file]").setInputFiles(large);
    await says(page, "This is larger than 5 MiB: split the file.");
  });

  test("the faults of a file that was replaced meanwhile are not shown", async () => {
    const held = Promise.withResolvers<void>();
    await page.route("**/users/import?*", async (route) => {
      await held.promise;
      await route.continue();
    });
    await paste(MIXED);
    await page.locator("input[type=file]").setInputFiles(file([HEADER, "eve,eve@example.org,,"]));
    await says(page, "people.csv, 1 kB");
    held.resolve();
    await atRest(page);
    await page.getByRole("button", { name: "Check it", exact: true }).waitFor();
    await soon(async () => expect(await page.getByRole("region", { name: "What is in the file" }).count()).toBe(0));
    await page.getByRole("button", { name: "Check it" }).click();
    await says(page, "1 user can be created.");
  });

  test("after a failure in the middle the file is checked again, and the rest is created", async () => {
    await paste([HEADER, "bea,bea@example.org,,", "dan,dan@example.org,,"]);
    await page.getByRole("button", { name: "Create 2 users …" }).click();
    await page.route(/users\/import\?only_good/, async (route) => {
      await admin.call("POST", "/users", { username: "bea", email: "bea@example.org" });
      await route.fulfill({ status: 500, json: { error: "1 of 2 users were imported, and stay" } });
    });
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Create 2 users" }).click();
    await dialog.getByText("1 of 2 users were imported, and stay.").waitFor();
    await soon(async () => expect(await dialog.getByRole("button").allInnerTexts()).toEqual(["Close"]));
    await page.keyboard.press("Escape");
    await soon(async () => expect(await page.getByRole("region", { name: "What is in the file" }).count()).toBe(0));
    await page.unrouteAll();
    await page.getByRole("button", { name: "Check it" }).click();
    await says(page, "1 user is there already, and not changed.");
    await page.getByRole("button", { name: "Create the good one …" }).click();
    await page.route(/users\/import\?only_good/, (route) => route.abort());
    await dialog.getByRole("button", { name: "Create 1 user" }).click();
    await dialog.getByText(/^No answer came\./).waitFor();
  });

  test("an auditor is offered none", async () => {
    await system.db.update(admins).set({ role: "auditor" });
    await page.goto(PAGES.users);
    await arrive(page, "Users");
    await atRest(page);
    await soon(async () => expect(await page.getByRole("link", { name: "Import users" }).count()).toBe(0));
    await page.goto(PAGES.userImport);
    await arrive(page, "Import users");
    await atRest(page);
    await soon(async () => expect(await page.getByRole("button", { name: "Check it" }).count()).toBe(0));
  });
});
