/** From the first page about hosts to a key that is taken away on one: with a mouse, and with the keyboard alone. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { settleChanges } from "../../src/domain/hosts/confirmation.ts";
import { hostGroupPage, hostPage, PAGES, userPage } from "../../src/shared/product/pages.ts";
import { SECOND } from "../../src/shared/time/clock.ts";
import { admins } from "../../src/store/schema-auth.ts";
import type { TestAgent } from "../support/agent.ts";
import { ADMIN_PASSWORD } from "../support/app.ts";
import { joinedAgent, newAgent } from "../support/fleet.ts";
import { HANG } from "../support/hang.ts";
import { freshKey } from "../support/keys.ts";
import { atRest, describeInBrowser, expectNoFaults, soon, type WatchedPage } from "./support/browser.ts";
import { openBrowser } from "./support/chromium.ts";
import { type ConsoleApp, openConsoleApp, openSignedIn } from "./support/console-app.ts";
import { type Hands, keyboard, mouse } from "./support/hands.ts";
import { arrive, go, revokeKey, says } from "./support/journeys.ts";

describeInBrowser("hosts", () => {
  let system: ConsoleApp;
  let browser: Browser;
  let userId: number;
  let admin: WatchedPage;
  let user: WatchedPage;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    system = await openConsoleApp({ UAM_FLEET_WAIT: "1s" });
    const { id, client } = await system.user("alice");
    userId = id;
    for (const name of ["laptop", "desktop"]) {
      const { status } = await client.call("POST", "/me/keys", { name, public_key: freshKey() });
      expect(status).toBe(201);
    }
    admin = await openSignedIn(browser, system, "admin");
    user = await openSignedIn(browser, system, { user: "alice" });
  });
  afterEach(async () => {
    for (const watched of [admin, user]) {
      expectNoFaults(watched);
      await watched.close();
    }
    await system.close();
  });

  test("with a single one nothing is shown of them but a way to add the first", async () => {
    const asked: string[] = [];
    for (const { page } of [admin, user]) page.on("request", (request) => void asked.push(request.url()));
    await admin.page.goto(PAGES.dashboard);
    await admin.page.getByRole("link", { name: "Manage accounts on further hosts as well" }).waitFor();
    await atRest(admin.page);
    await soon(async () => expect(await admin.page.getByRole("link", { name: "Hosts", exact: true }).count()).toBe(0));
    await soon(async () => expect(await admin.page.getByText("Hosts by state").count()).toBe(0));
    await admin.page.goto(userPage(userId));
    await atRest(admin.page);
    await soon(async () => expect(await admin.page.getByRole("heading", { name: "Hosts" }).count()).toBe(0));
    await user.page.goto(PAGES.connect);
    await atRest(user.page);
    await soon(async () => expect(await user.page.getByText("Your hosts").count()).toBe(0));
    await soon(async () => expect(await user.page.getByRole("heading", { name: "The command" }).count()).toBe(1));
    // Their pages are files that nobody loads.
    expect(asked.filter((url) => url.includes("/host-groups"))).toEqual([]);
  });

  test.each([
    ["operator", true],
    ["auditor", true],
    ["reviewer", false],
  ] as const)("as %s nobody changes anything of them", async (role, isShown) => {
    await joinedAgent(system, "web7");
    await system.db.update(admins).set({ role });
    const { page } = admin;
    for (const [path, text] of [
      [PAGES.hosts, "There are 2 hosts."],
      [hostPage(2), "Nothing is wrong with this host."],
      [PAGES.hostGroups, "get it"],
      [hostGroupPage(1), "get this group"],
    ] as const) {
      await page.goto(path);
      if (isShown) await says(page, text);
      else await arrive(page, "Your role does not include this page");
      if (isShown) await says(page, "you can look at everything here, but change nothing.");
      await soon(async () => expect(await page.getByRole("main").getByRole("button").count()).toBe(0));
    }
    await page.goto(PAGES.dashboard);
    await arrive(page, "Dashboard");
    await atRest(page);
    await soon(async () =>
      expect(await page.getByRole("link", { name: "Hosts", exact: true }).count()).toBe(isShown ? 1 : 0),
    );
  });

  describe.each([
    ["a mouse", mouse],
    ["the keyboard alone", keyboard],
  ] as const)("with %s", (_, handsOf) => {
    test("one is added, given to a user, and a key that is revoked says where that is true", async () => {
      const [hands, own] = [handsOf(admin.page), handsOf(user.page)];
      const agent = await addHost(hands, "web7");
      await makeGroup(hands, "web", "web7");
      await giveGroup(hands, "web", "alice can log in on web7, as ext_alice.");
      const row = admin.page.getByRole("row", { name: /^web7/ });
      await row.getByText("pending").waitFor();
      await agent.state();
      await agent.report();
      await row.getByText("applied").waitFor();
      await hands.press("link", "web7");
      await hands.press("link", "web7");
      const there = admin.page.getByRole("row", { name: /^alice/ });
      await there.getByText("the group web").waitFor();
      await there.getByText("applied").waitFor();
      await hands.press("link", "alice");
      await arrive(admin.page, "alice");

      await user.page.goto(PAGES.me);
      const { host } = system.services.policy.site;
      await says(user.page, `That is ${host}. You also have an account on 1 other host`);
      await go(own, "Connect", "Connect to the host");
      await says(user.page, "Your hosts");
      await user.page.getByRole("region", { name: `Command that connects to ${host}` }).waitFor();
      await soon(async () => expect(await user.page.getByText("local", { exact: true }).count()).toBe(0));
      const command = user.page.getByRole("region", { name: "Command that connects to web7" });
      await soon(async () => expect(await command.textContent()).toContain("ssh ext_alice@web1.example.org"));
      await own.press("link", "Everything about connecting to web7");
      await user.page.getByRole("heading", { name: "Connecting to web7" }).waitFor();

      // Its agent says nothing: the lease is what is certain.
      await revokeKey(own, "laptop");
      await says(user.page, /True on 0 of 1 further host; on web7 by \d\d:\d\d at the latest\./);

      await agent.state();
      await agent.report();
      // As long as a busy machine's agent needs to confirm it.
      Object.assign(system.services.policy, { fleetWait: HANG });
      const stop = run(agent);
      await hands.press("button", "Disable …");
      await says(admin.page, "alice can no longer log in.");
      await hands.press("button", "Disable");
      await says(admin.page, "alice was disabled. It is true on every host.");
      await stop();
      Object.assign(system.services.policy, { fleetWait: SECOND });

      await lockHost(hands, "web7");
      await retireHost(hands, "web7");
    });
  });

  test("one that is taken from a user says until when the user may still get in", async () => {
    const agent = await joinedAgent(system, "web7");
    await agent.state();
    await agent.report();
    const hands = mouse(admin.page);
    const { page } = admin;
    await page.goto(userPage(userId));
    await hands.press("button", "Change hosts …");
    await hands.press("checkbox", "default");
    await says(page, "Give at least one host or group.");
    await hands.type("Hosts by name", "local");
    await says(page, "ext_alice is removed from web7, with everything in its home directory.");
    await confirm(page, hands, "Save");
    await says(page, /What was taken away: True on 0 of 1 further host; on web7 by \d\d:\d\d at the latest\./);
    const row = page.getByRole("row", { name: /^web7 being removed/ });
    await row.getByText(/lets the user in until \d\d:\d\d/).waitFor();
    await agent.state();
    await agent.report();
    // As each minute.
    await settleChanges(system.services);
    await row.waitFor({ state: "detached" });
  });

  /** Adds a host whose agent joins by the line that the page shows. */
  async function addHost(hands: Hands, name: string): Promise<TestAgent> {
    const { page, press, type } = hands;
    await page.goto(PAGES.dashboard);
    await press("link", "Manage accounts on further hosts as well");
    await arrive(page, "Hosts");
    await press("button", "Add a host");
    await type("Name", name);
    await type("Present password", ADMIN_PASSWORD);
    await press("button", "Make the line");
    await says(page, `Waiting for ${name} to join …`);
    const line = await page.getByRole("region", { name: `Command that joins ${name}` }).textContent();
    const [, token = ""] = /^uam agent join 'http:\S+ (uamj_\S+) SHA256:\S+'$/.exec(line ?? "") ?? [];
    const agent = newAgent(system, "what-it-calls-itself");
    expect((await agent.enrol(token)).status).toBe(201);
    await agent.state();
    await says(page, `${name} has joined.`);
    await soon(async () => expect(await page.getByText(token).count()).toBe(0));
    await press("link", `Look at ${name}`);
    await arrive(page, name);
    return agent;
  }

  async function makeGroup(hands: Hands, name: string, host: string): Promise<void> {
    const { page, press, type } = hands;
    await go(hands, "Hosts");
    await press("link", "Groups of hosts");
    await arrive(page, "Groups of hosts");
    await press("button", "Make a group");
    await type("Name", name);
    await type("Lease of its hosts", "1h");
    await press("button", "Make the group");
    await press("link", `Look at ${name}`);
    await arrive(page, name);
    await press("button", "Add hosts …");
    await type("Hosts", host);
    await says(page, `No account is added on ${host}.`);
    await confirm(page, hands, "Add");
    await says(page, `1 host was added to ${name}.`);
  }

  async function giveGroup(hands: Hands, group: string, effect: string): Promise<void> {
    const { page, press } = hands;
    await go(hands, "Users");
    await press("link", "alice");
    await arrive(page, "alice");
    await press("button", "Change hosts …");
    await press("checkbox", group);
    await says(page, effect);
    await confirm(page, hands, "Save");
    await says(page, /^The hosts of alice were changed/);
  }

  async function lockHost(hands: Hands, name: string): Promise<void> {
    const { page, press } = hands;
    await go(hands, "Hosts");
    await press("link", name);
    await arrive(page, name);
    for (const [act, button, done] of [
      ["Lock …", "Lock the host", `${name} is locked.`],
      ["Unlock …", "Unlock the host", `${name} is unlocked.`],
    ] as const) {
      await press("button", act);
      await says(page, "What will happen");
      await press("button", button);
      await says(page, done);
    }
  }

  async function retireHost(hands: Hands, name: string): Promise<void> {
    const { page, press, type } = hands;
    await press("button", "Retire …");
    await says(page, `${name} is forgotten once its agent has confirmed that.`);
    await type(`Type ${name} to retire this host`, "something else");
    await press("button", "Retire the host");
    await says(page, `This is not the name. Type ${name}.`);
    await type(`Type ${name} to retire this host`, name);
    await press("button", "Retire the host");
    await says(page, new RegExp(`^${name} is being retired`));
  }
});

/** Presses what confirms a dialog, once it has shown what will happen. */
async function confirm(page: Page, { press }: Hands, name: string): Promise<void> {
  await page.locator("dialog button[type=submit]:not([aria-disabled])").waitFor();
  await press("button", name);
}

/** Does as an agent does, until it is told to stop. */
function run(agent: TestAgent): () => Promise<void> {
  let isStopped = false;
  const running = (async () => {
    while (!isStopped) {
      const before = agent.cursor;
      await agent.state(1);
      if (agent.cursor !== before) await agent.report();
    }
  })();
  return async () => {
    isStopped = true;
    await running;
  };
}
