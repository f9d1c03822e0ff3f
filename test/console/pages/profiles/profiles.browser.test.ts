/** Profiles in the console: made, changed and deleted, with a mouse and with the keyboard alone; and chosen, wherever somebody gets one. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { PAGES } from "../../../../src/shared/product/pages.ts";
import type { Client } from "../../../support/app.ts";
import { atRest, describeInBrowser, expectNoFaults, type WatchedPage } from "../../support/browser.ts";
import { openBrowser } from "../../support/chromium.ts";
import { type ConsoleApp, openConsoleApp, openSignedIn } from "../../support/console-app.ts";
import { keyboard, mouse } from "../../support/hands.ts";
import { arrive, says } from "../../support/journeys.ts";

describeInBrowser("profiles", () => {
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

  const dropBox = { name: "drop-box", kind: "sftp", directory: "/data/acme", idle: "30m" };
  const profiles = async () => (await client.call("GET", "/profiles")).body.data.items;

  describe.each([
    ["a mouse", mouse],
    ["the keyboard alone", keyboard],
  ] as const)("with %s", (_, handsOf) => {
    test("one is made of each kind, each said in sentences", async () => {
      const { page } = admin;
      const hands = handsOf(page);
      await page.goto(PAGES.settings);
      await hands.press("link", "Profiles");
      await arrive(page, "Profiles");
      await says(page, "There is no profile");
      await hands.press("button", "Make a profile …");
      await hands.type("Name", "drop-box");
      // What the service refuses it says, and the dialog stays.
      await hands.press("button", "Make the profile");
      await says(page, "A profile of the kind sftp needs directory");
      await hands.type("Directory", "/data/acme");
      await hands.choose("Files", "may only be read");
      await hands.type("Most silence", "30m");
      await hands.type("Sessions for each connection", "many");
      await hands.press("button", "Make the profile");
      await says(page, /max_sessions/);
      await hands.type("Sessions for each connection", "2");
      await says(page, "May read files in /data/acme, nothing else.");
      await hands.press("button", "Make the profile");
      await says(page, "The profile drop-box is made.");
      await says(page, "Sessions end after 30 minutes of silence.");
      await says(page, "At most 2 sessions for each connection.");

      await hands.press("button", "Make a profile …");
      await hands.choose("Kind", "connections only");
      await hands.type("Name", "to-db");
      await hands.type("Targets", "db1.example.org:5432\nlocalhost:5432");
      await hands.choose("Keys", "security keys only, with touch and PIN");
      await hands.press("button", "Make the profile");
      await says(page, "The profile to-db is made.");
      await says(page, "May open connections to db1.example.org:5432 and localhost:5432, nothing else.");

      await hands.press("button", "Make a profile …");
      await hands.choose("Kind", "a shell");
      await hands.type("Name", "no-forwarding");
      await hands.type("Forwarding of connections", "no");
      await hands.press("button", "Make the profile");
      await says(page, "The profile no-forwarding is made.");
      await says(page, "May log in and run programs, and forward no connections.");
      expect(await profiles()).toMatchObject([
        { name: "drop-box", directory: "/data/acme", read_only: true, idle: "30m", max_sessions: 2 },
        { name: "no-forwarding", kind: "shell", forwarding: false },
        { name: "to-db", targets: ["db1.example.org:5432", "localhost:5432"], second_factor: "verified" },
      ]);
    });

    test("a change says whose sessions end; one that is used is not deleted, and one that is not is", async () => {
      const { page } = admin;
      const hands = handsOf(page);
      await add("/profiles", dropBox);
      await add("/users", { username: "jensen", email: "jensen@example.org", profile: "drop-box" });
      await page.goto(PAGES.profiles);
      await says(page, "1 user has it.");
      await hands.press("button", "Change … drop-box");
      await hands.choose("Files", "may only be read");
      await says(page, "Who has the profile drop-box may read files in /data/acme, nothing else.");
      await says(page, /^Every session and process of 1 account|^Nobody who has it is logged in/);
      await hands.press("button", "Save");
      await says(page, "The profile drop-box was changed.");
      await says(page, "May read files in /data/acme, nothing else.");
      expect(await profiles()).toMatchObject([{ read_only: true, idle: "30m" }]);

      await hands.press("button", "Delete … drop-box");
      await says(page, "The profile drop-box is in use by 1 user; give them another first.");
      expect(await page.getByRole("button", { name: "Delete the profile" }).count()).toBe(0);
      await hands.press("button", "Cancel");

      await add("/profiles", { ...dropBox, name: "spare" });
      await page.reload();
      await atRest(page);
      await hands.press("button", "Delete … spare");
      await says(page, "Nobody has it, so no account changes.");
      await hands.press("button", "Delete the profile");
      await says(page, "The profile spare was deleted.");
      expect(await profiles()).toHaveLength(1);
    });
  });
});
