/** Profiles in the console: made, changed and deleted, with a mouse and with the keyboard alone; and chosen, wherever somebody gets one. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { hostGroupPage, hostPage, PAGES, userPage } from "../../../../src/shared/product/pages.ts";
import type { Client } from "../../../support/app.ts";
import { insertHost } from "../../../support/host-rows.ts";
import { atRest, describeInBrowser, expectNoFaults, soon, type WatchedPage } from "../../support/browser.ts";
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
      await soon(async () => expect(await page.getByRole("button", { name: "Delete the profile" }).count()).toBe(0));
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

  test("a user gets one, another and none: it is said before what ends, and the page says what they may do", async () => {
    const { page } = admin;
    const hands = keyboard(page);
    const id = await add("/users", { username: "jensen", email: "jensen@example.org" });
    await page.goto(userPage(id));
    await atRest(page);
    await soon(async () => expect(await page.getByRole("button", { name: "Profile …" }).count()).toBe(0));
    await add("/profiles", dropBox);
    await add("/profiles", { ...dropBox, name: "look-only", read_only: true });
    await page.reload();
    await hands.press("button", "Profile …");
    await hands.choose("Profile", "drop-box");
    await says(page, "jensen may copy files to and from /data/acme, nothing else.");
    await says(page, /^Every session and process of ext_jensen ends/);
    await hands.press("button", "Save");
    await says(page, "jensen has the profile drop-box now.");
    await says(page, "May copy files to and from /data/acme, nothing else.");
    const profileNow = async () => (await client.call("GET", `/users/${id}`)).body.data.profile;
    expect(await profileNow()).toBe("drop-box");
    await hands.press("button", "Profile …");
    await hands.choose("Profile", "None: what the hosts let any account do");
    await says(page, "Nothing that is open ends.");
    await hands.press("button", "Save");
    await says(page, "jensen has no profile now.");
    expect(await profileNow()).toBeNull();
  });

  test("it is chosen for a new user, for whom an application lets in, and for a group of hosts", async () => {
    const { page } = admin;
    const hands = keyboard(page);
    await add("/profiles", dropBox);
    await page.goto(PAGES.users);
    await hands.press("button", "Create a user …");
    await hands.type("Username", "jensen");
    await hands.type("E-mail", "jensen@example.org");
    await hands.choose("Profile", "drop-box");
    await says(page, "Sessions end after 30 minutes of silence.");
    await hands.press("button", "Create the user");
    await says(page, /^jensen (?:was|is) created/);

    const applied = { username: "kira", email: "kira@example.org", supervisor: "Bo", purpose: "To copy files" };
    expect((await system.anonymous().call("POST", "/approvals", applied)).status).toBe(201);
    await page.goto(PAGES.applications);
    await hands.press("button", "Approve … kira");
    await hands.choose("Profile", "drop-box");
    await says(page, "May copy files to and from /data/acme, nothing else.");
    await hands.press("button", "Approve");
    await says(page, "kira: approved, and the account is created.");
    const { items } = (await client.call("GET", "/users?sort=username")).body.data;
    expect(items.map(({ username, profile }: Record<string, string>) => `${username} ${profile}`)).toEqual([
      "jensen drop-box",
      "kira drop-box",
    ]);

    await page.goto(PAGES.hostGroups);
    await hands.press("button", "Make a group");
    await hands.type("Name", "mirrors");
    await hands.choose("Profile", "drop-box");
    await hands.press("button", "Make the group");
    await says(page, "The group mirrors is made.");
    const group = (await client.call("GET", "/host-groups")).body.data.items.find(
      ({ name }: { name: string }) => name === "mirrors",
    );
    expect(group.profile).toBe("drop-box");
    await page.goto(hostGroupPage(group.id));
    await says(page, "May copy files to and from /data/acme, nothing else.");
    await hands.press("button", "Change …");
    await hands.choose("Profile", "None: what the hosts let any account do");
    await says(page, "What will happen");
    await hands.press("button", "Save");
    await says(page, "The group mirrors was changed.");
    expect((await client.call("GET", `/host-groups/${group.id}`)).body.data.profile).toBeNull();
  });

  test("a host says which it holds, and why not", async () => {
    const { page } = admin;
    const profiles = [
      { name: "drop-box", state: "problem", problem: "/data/acme is not root's" },
      { name: "to-db", state: "applied", problem: "" },
    ];
    const { id } = await insertHost(system, "web1", { profiles: JSON.stringify(profiles) });
    await page.goto(hostPage(id));
    await says(page, "Profiles on this host");
    const table = page.getByRole("table", { name: "Profiles on this host" });
    await soon(async () =>
      expect(await table.getByRole("row").allInnerTexts()).toEqual([
        expect.stringMatching(/^Profile\s+State$/),
        expect.stringMatching(/^drop-box\s+not held\s+\/data\/acme is not root's$/),
        expect.stringMatching(/^to-db\s+held$/),
      ]),
    );
  });

  test("users are told what their account may do, the command for it, and which key it takes", async () => {
    await add("/profiles", { name: "drop-box", kind: "sftp", directory: "/data/acme" });
    const targets = ["db1.example.org:5432", "web:80"];
    await add("/profiles", { name: "to-both", kind: "forward", targets, second_factor: "verified" });
    const { id } = await system.user("kira");
    const give = async (profile: string) =>
      expect((await client.call("PATCH", `/users/${id}`, { profile })).status).toBe(200);
    const user = await openSignedIn(browser, system, { user: "kira" });
    const { page } = user;
    const commands = () => page.getByRole("region", { name: /^Command that connects/ }).allInnerTexts();

    await give("drop-box");
    await page.goto(PAGES.connect);
    await says(page, "Your account may copy files to and from /data/acme, nothing else.");
    expect(await commands()).toEqual([expect.stringMatching(/^sftp .*ext_kira@/), expect.stringMatching(/^sftp -i ~/)]);
    await soon(async () => expect(await page.getByText("PuTTY on Windows").count()).toBe(0));
    await page.goto(PAGES.keys);
    await atRest(page);
    await soon(async () => expect(await page.getByText("Only security keys count").count()).toBe(0));
    await says(page, "Windows with PuTTY (PuTTYgen)");

    await give("to-both");
    await page.goto(PAGES.connect);
    await says(page, "Your account may open connections to db1.example.org:5432 and web:80, nothing else.");
    expect(await commands()).toEqual([
      expect.stringMatching(/^ssh -N -L 5432:db1.example.org:5432 .*ext_kira@/),
      expect.stringMatching(/^ssh -N -L 8080:web:80 .*ext_kira@/),
      expect.stringMatching(/^ssh -i ~.* -N -L 5432:/),
    ]);
    await page.goto(PAGES.keys);
    await says(page, "Only security keys count");
    await says(page, "ssh-keygen -t ed25519-sk -O verify-required");
    await says(page, "cat ~/.ssh/id_ed25519_sk.pub");
    await soon(async () => expect(await page.getByText("PuTTYgen").count()).toBe(0));
    expectNoFaults(user);
    await user.close();
  });
});
