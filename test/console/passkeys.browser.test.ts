/** Passkeys and authenticator apps through the console, with the browser's own virtual authenticator. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { Secret, TOTP } from "otpauth";
import type { Browser, CDPSession, Page } from "playwright-core";
import { addAdmin } from "../../src/domain/auth/administrators/add-admin.ts";
import { PAGES } from "../../src/shared/product/pages.ts";
import { ADMIN_PASSWORD } from "../support/app.ts";
import { describeInBrowser, expectNoFaults, focusedName, openPage, soon, type WatchedPage } from "./support/browser.ts";
import { openBrowser } from "./support/chromium.ts";
import { type ConsoleApp, openConsoleApp } from "./support/console-app.ts";
import { mouse } from "./support/hands.ts";
import { logOut } from "./support/journeys.ts";

/** A page of somebody with an authenticator of their own. */
interface Visitor extends WatchedPage {
  readonly username: string;
  readonly cdp: CDPSession;
  readonly authenticator: string;
}

let browser: Browser;
let count = 0;

async function visit(system: ConsoleApp, username = `visitor-${++count}`): Promise<Visitor> {
  const watched = await openPage(browser, system.origin);
  await watched.page.clock.setFixedTime(system.clock.now());
  if (username === `visitor-${count}`) {
    await addAdmin(system.system, username, `${username}@example.org`, ADMIN_PASSWORD);
  }
  const cdp = await watched.page.context().newCDPSession(watched.page);
  await cdp.send("WebAuthn.enable");
  const { authenticatorId: authenticator } = await cdp.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      ...{ protocol: "ctap2", transport: "internal", hasResidentKey: true },
      ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
  return { ...watched, username, cdp, authenticator };
}

async function typePassword({ page, username }: Visitor): Promise<void> {
  const { press, type } = mouse(page);
  await page.goto(`${PAGES.login}?as=admin`);
  await type("Username", username);
  await type("Password", ADMIN_PASSWORD);
  await press("button", "Log in");
}

async function loggedIn(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1, name: "Dashboard" }).waitFor();
}

async function addPasskey(page: Page, name: string): Promise<void> {
  const { press, type } = mouse(page);
  await page.goto(PAGES.account);
  await press("button", "Add a passkey");
  await type("Name", name);
  await type("Present password", ADMIN_PASSWORD);
  await press("button", "Add the passkey");
  await page.getByText(`The passkey ${name} is added.`).waitFor();
}

async function lastWay(system: ConsoleApp) {
  const { detail, result } = await system.lastAudit("auth.admin_login");
  return [result, detail.way];
}

describeInBrowser("passkeys in the console", () => {
  let system: ConsoleApp;
  beforeAll(async () => {
    [system, browser] = await Promise.all([openConsoleApp({}, "localhost"), openBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await system?.close();
  });

  test("one is added, named, used for the whole login, renamed and removed", async () => {
    const visitor = await visit(system);
    const { page } = visitor;
    const { press, type } = mouse(page);
    await typePassword(visitor);
    await loggedIn(page);
    await addPasskey(page, "Laptop");
    const row = page.getByRole("row").filter({ hasText: "Laptop" });
    await soon(async () => expect(await row.textContent()).toContain("never"));
    await logOut(mouse(page));

    await page.goto(`${PAGES.login}?as=admin`);
    await press("button", "Log in with a passkey");
    await loggedIn(page);
    expect(await lastWay(system)).toEqual(["success", "passkey"]);
    await page.goto(PAGES.account);
    await row.waitFor();
    await soon(async () => expect(await row.textContent()).not.toContain("never"));

    await press("button", "Rename Laptop");
    await type("Name", "Blue key");
    await press("button", "Save the name");
    await page.getByText("The passkey is called Blue key now.").waitFor();
    // What the device already has is not made again, and another one can be confirmed with it.
    await press("button", "Add a passkey");
    await type("Name", "Another");
    await press("button", "Confirm with a passkey instead");
    await page.getByText("This device has one of your passkeys already.").waitFor();
    await press("button", "Cancel");

    await press("button", "Remove Blue key");
    await press("button", "Remove it");
    await page.getByText("Type your current password.").waitFor();
    await type("Present password", "not this one");
    await press("button", "Remove it");
    await page.getByText("This is not your current password.").waitFor();
    await press("button", "Confirm with a passkey instead");
    await page.getByText("The passkey Blue key is removed.").waitFor();
    await page.getByText("You have no passkey yet.").waitFor();
    await logOut(mouse(page));
    await typePassword(visitor);
    await loggedIn(page);
    expect(await lastWay(system)).toEqual(["success", "password"]);
    expectNoFaults(visitor);
    await visitor.close();
  });

  test("a password leads to the second step, which a passkey takes", async () => {
    const visitor = await visit(system);
    const { page } = visitor;
    await typePassword(visitor);
    await loggedIn(page);
    await addPasskey(page, "Phone");
    await logOut(mouse(page));
    await typePassword(visitor);
    await page.locator("#content").getByText(`The password is right, ${visitor.username}. One more step:`).waitFor();
    await soon(async () => expect(await page.getByLabel("Code from your authenticator app").count()).toBe(0));
    // It takes the focus once it is painted.
    await soon(async () => expect(await focusedName(page)).toBe("Use your passkey"));
    await mouse(page).press("button", "Start again");
    await mouse(page).press("button", "Log in");
    await mouse(page).press("button", "Use your passkey");
    await loggedIn(page);
    expect(await lastWay(system)).toEqual(["success", "password+passkey"]);
    expectNoFaults(visitor);
    await visitor.close();
  });

  test("somebody whom the device does not know gets no further, and is told", async () => {
    const visitor = await visit(system);
    const { page, cdp, authenticator: authenticatorId } = visitor;
    await typePassword(visitor);
    await loggedIn(page);
    await addPasskey(page, "Laptop");
    await logOut(mouse(page));
    await cdp.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false });
    await page.goto(`${PAGES.login}?as=admin`);
    await mouse(page).press("button", "Log in with a passkey");
    await page.getByRole("alert").filter({ hasText: "No passkey was used" }).waitFor({ timeout: 60_000 });
    await visitor.close();
  });

  test("a passkey that is gone here is refused like any other", async () => {
    const visitor = await visit(system);
    const { page } = visitor;
    await typePassword(visitor);
    await loggedIn(page);
    await addPasskey(page, "Laptop");
    await system.alter("delete from passkeys");
    await logOut(mouse(page));
    await page.goto(`${PAGES.login}?as=admin`);
    await mouse(page).press("button", "Log in with a passkey");
    await page.getByText("The passkey was not accepted. It may have been removed here").waitFor();
    await visitor.close();
  });

  test("an authenticator app is set up by its picture or its text, and its code is the second step", async () => {
    const visitor = await visit(system);
    const { page } = visitor;
    const { press, type } = mouse(page);
    await typePassword(visitor);
    await loggedIn(page);
    await page.goto(PAGES.account);
    await press("button", "Set up an app");
    await press("button", "Go on");
    await page.getByText("Type your current password.").waitFor();
    await type("Present password", ADMIN_PASSWORD);
    await press("button", "Go on");
    const picture = page.getByRole("img", { name: "The secret for your app, as a picture to scan" });
    expect(
      await picture.evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth)),
    ).toBeGreaterThan(20);
    const secret = (await page.getByRole("region", { name: "The secret for your app" }).textContent()) ?? "";
    const app = new TOTP({ secret: Secret.fromBase32(secret) });
    const code = () => app.generate({ timestamp: system.clock.now().getTime() });
    await type("Code that the app shows", "12345");
    await press("button", "Set it up");
    await page.getByText("Type the six digits that the app shows.").waitFor();
    await type("Code that the app shows", code());
    await press("button", "Set it up");
    await page.getByText("The app is set up.").waitFor();
    await logOut(mouse(page));

    await typePassword(visitor);
    await page.locator("#content").getByText("One more step:").waitFor();
    await soon(async () => expect(await page.getByRole("button", { name: "Use your passkey" }).count()).toBe(0));
    await type("Code from your authenticator app", code());
    await press("button", "Log in");
    await page.getByText("This code is wrong, or was used already.").waitFor();
    system.clock.advance(30_000);
    await type("Code from your authenticator app", code());
    await press("button", "Log in");
    await loggedIn(page);
    expect(await lastWay(system)).toEqual(["success", "password+totp"]);
    await page.goto(PAGES.account);
    await press("button", "Remove the app");
    await type("Present password", ADMIN_PASSWORD);
    await press("button", "Remove it");
    await page.getByText("The authenticator app is removed.").waitFor();
    expectNoFaults(visitor);
    await visitor.close();
  });

  test("an owner sees who has a second factor, and ends somebody's sessions", async () => {
    const [visitor, owner] = [await visit(system), await visit(system)];
    await typePassword(visitor);
    await loggedIn(visitor.page);
    await addPasskey(visitor.page, "Laptop");
    await typePassword(owner);
    await loggedIn(owner.page);
    await owner.page.goto(PAGES.admins);
    const row = owner.page.getByRole("row").filter({ hasText: visitor.username });
    await row.getByText("Passkey", { exact: true }).waitFor();
    await mouse(owner.page).press("button", `End sessions of ${visitor.username}`);
    await mouse(owner.page).press("button", "End the sessions");
    await owner.page.getByText(`1 session of ${visitor.username} ended.`).waitFor();
    await visitor.page.goto(PAGES.users);
    await visitor.page.getByRole("heading", { level: 1, name: "Your session has ended" }).waitFor();
    for (const one of [visitor, owner]) {
      expectNoFaults(one);
      await one.close();
    }
  });

  test("where one is asked of everybody, the first login leads to setting it up, and nothing else is open", async () => {
    const strict = await openConsoleApp({ UAM_ADMIN_LOGIN: "passkey" }, "localhost");
    const visitor = await visit(strict);
    const { page } = visitor;
    await typePassword(visitor);
    await page.getByText("Add a passkey first").waitFor();
    await soon(async () => expect(await page.getByRole("link", { name: "Users", exact: true }).count()).toBe(0));
    await page.goto(PAGES.users);
    await page.getByRole("heading", { level: 1, name: "One step first" }).waitFor();
    await addPasskey(page, "Laptop");
    await page.getByText("Add a passkey first").waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Users", exact: true }).waitFor();
    await mouse(page).press("button", "Remove Laptop");
    await mouse(page).type("Present password", ADMIN_PASSWORD);
    await mouse(page).press("button", "Remove it");
    await page.getByText("This is your last passkey").waitFor();
    await mouse(page).press("button", "Cancel");
    await logOut(mouse(page));
    await typePassword(visitor);
    await page.getByText("this service lets administrators in with a passkey only").waitFor();
    await mouse(page).press("button", "Log in with a passkey");
    await loggedIn(page);
    expectNoFaults(visitor);
    await visitor.close();
    await strict.close();
  });
});
