/** Single sign-on in a real browser, with a real provider. */

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import type { Browser } from "playwright-core";
import { sessions } from "../../src/store/schema-auth.ts";
import { ADMIN_PASSWORD } from "../support/app.ts";
import { startProvider, type TestProvider } from "../support/oidc-provider.ts";
import { meetClock, ssoVariables } from "../support/sso-browser.ts";
import { describeInBrowser, openPage, soon, type WatchedPage } from "./support/browser.ts";
import { openBrowser } from "./support/chromium.ts";
import { type ConsoleApp, openConsoleApp, openSignedIn } from "./support/console-app.ts";

describeInBrowser("single sign-on", () => {
  let system: ConsoleApp;
  let browser: Browser;
  let provider: TestProvider;
  beforeAll(async () => {
    provider = await startProvider("http://127.0.0.1/not-yet");
    const variables = ssoVariables(provider.issuer, { UAM_OIDC_NAME: "Example Corp" });
    [system, browser] = await Promise.all([openConsoleApp(variables), openBrowser()]);
    await provider.rotate(`${system.origin}/api/v1/auth/oidc/callback`);
  });
  beforeEach(() => meetClock(system));
  afterAll(async () => {
    await browser?.close();
    await system?.close();
    await provider?.close();
  });

  /** Nothing went wrong, and nothing was asked elsewhere but at the provider. */
  function expectOnlyProvider({ faults }: WatchedPage): void {
    expect(faults.filter((fault) => !fault.startsWith(`request to ${provider.issuer}/`))).toEqual([]);
  }

  const ENTER = { name: "Log in with Example Corp" };

  test("logs in and leads to the page that was asked for", async () => {
    const claims = { preferred_username: "ann", email: "ann@example.org", groups: ["uam-owners"] };
    provider.wishes.person = { subject: "ann-1", claims };
    const watched = await openPage(browser, system.origin);
    const { page } = watched;
    await page.goto("/login?next=%2Fadmin%2Faudit");
    await page.getByRole("button", ENTER).click();
    await page.waitForURL(`${system.origin}/admin/audit`);
    await page.getByRole("heading", { level: 1, name: /audit/i }).waitFor();
    await page.getByText("ann").first().waitFor();
    // Logged in for good: the next visit needs no login, and the address of the way back is not in the history.
    await page.goto("/admin");
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/admin");
    // Their role is the provider's to say.
    await page.goto("/admin/admins");
    await page.getByText("by single sign-on").waitFor();
    await page.getByRole("button", { name: "Change ann" }).click();
    await page.getByText("Their role comes from single sign-on").waitFor();
    await soon(async () => expect(await page.getByRole("dialog").getByLabel("Role").count()).toBe(0));
    expectOnlyProvider(watched);
    await watched.close();
  });

  test("does not let in again who was removed, until an owner says so on the page", async () => {
    const claims = { preferred_username: "cleo", email: "cleo@example.org", groups: ["uam-owners"] };
    provider.wishes.person = { subject: "cleo-1", claims };
    const own = await openPage(browser, system.origin);
    const enter = async () => {
      await own.page.goto("/login?as=admin&next=%2Fadmin");
      await own.page.getByRole("button", ENTER).click();
    };
    await enter();
    await own.page.waitForURL(`${system.origin}/admin`);
    const watched = await openSignedIn(browser, system, "admin");
    const { page } = watched;
    await page.goto("/admin/admins");
    await page.getByRole("button", { name: "Remove cleo" }).click();
    await page.getByLabel("Type cleo to confirm").fill("cleo");
    await page.getByRole("button", { name: "Remove for good" }).click();
    await page.getByRole("heading", { name: "Removed, and not let in again" }).waitFor();
    await enter();
    await own.page.getByRole("alert").waitFor();
    expect(new URL(own.page.url()).pathname).toBe("/login");
    await page.getByRole("button", { name: "Let in again: cleo" }).click();
    await page.getByLabel("Present password").fill(ADMIN_PASSWORD);
    await page.getByRole("dialog").getByRole("button", { name: "Let them in again" }).click();
    await page.getByText("cleo may come in again by single sign-on.").waitFor();
    await page.getByRole("heading", { name: "Removed, and not let in again" }).waitFor({ state: "detached" });
    await enter();
    await own.page.waitForURL(`${system.origin}/admin`);
    for (const each of [own, watched]) {
      expectOnlyProvider(each);
      await each.close();
    }
  });

  test("confirms what needs it, of who has no password here, for five minutes", async () => {
    const claims = { preferred_username: "dora", email: "dora@example.org", groups: ["uam-owners"] };
    provider.wishes.person = { subject: "dora-1", claims };
    const watched = await openPage(browser, system.origin);
    const { page } = watched;
    const make = async (name: string) => {
      await page.goto("/admin/tokens");
      await page.getByRole("button", { name: "Make a token" }).click();
      await page.getByText("You have no password and no passkey here").waitFor();
      await soon(async () => expect(await page.getByLabel("Present password").count()).toBe(0));
      await page.getByLabel("Name").fill(name);
      await page.getByRole("button", { name: "Make the token" }).click();
    };
    await page.goto("/login?as=admin&next=%2Fadmin");
    await page.getByRole("button", ENTER).click();
    await page.waitForURL(`${system.origin}/admin`);
    await make("first");
    await page.getByRole("button", { name: "I have stored it" }).click();
    await system.db
      .update(sessions)
      .set({ createdAt: new Date(0) })
      .where(eq(sessions.username, "dora"));
    await make("second");
    await page.getByText("Log in at the provider again").waitFor();
    await page.getByRole("button", { name: "Log in there again" }).click();
    await page.waitForURL(`${system.origin}/admin/tokens`);
    await make("second");
    await page.getByRole("button", { name: "I have stored it" }).click();
    expectOnlyProvider(watched);
    await watched.close();
  });

  test("says why it did not work, in our own words, and can be tried again", async () => {
    provider.wishes.person = undefined;
    const watched = await openPage(browser, system.origin);
    const { page } = watched;
    await page.goto("/login?as=admin");
    await page.getByRole("button", ENTER).click();
    const alert = page.getByRole("alert");
    await alert.getByText("The provider did not let you in, or you did not agree there.").waitFor();
    provider.wishes.person = { subject: "ben-1", claims: { email: "ben@example.org", groups: ["cooks"] } };
    await page.getByRole("button", ENTER).click();
    await alert.getByText(/groups or roles give you none here/).waitFor();
    await soon(async () => expect(await page.getByLabel("Password").count()).toBeGreaterThan(0));
    expectOnlyProvider(watched);
    await watched.close();
  });

  test("takes no word of the address for more than it is", async () => {
    const watched = await openPage(browser, system.origin);
    const { page } = watched;
    for (const word of ["done", "constructor", "<b>x</b>", "__proto__"]) {
      await page.goto(`/login?as=admin&sso=${encodeURIComponent(word)}&next=https://evil.example`);
      await page.getByRole("button", ENTER).waitFor();
      await soon(async () => expect(await page.getByRole("alert").count()).toBe(0));
      expect(new URL(page.url()).pathname).toBe("/login");
    }
    expectOnlyProvider(watched);
    await watched.close();
  });
});
