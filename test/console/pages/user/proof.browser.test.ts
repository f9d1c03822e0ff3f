/** A security key whose make has to be proven, on the page about one's keys: a challenge, a command, and two files. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { createProfile } from "../../../../src/domain/profiles/profiles.ts";
import { updateUser } from "../../../../src/domain/users/update.ts";
import { PAGES, userPage } from "../../../../src/shared/product/pages.ts";
import { makeAttestedKey, makeAuthority } from "../../../support/attestation.ts";
import { axeFinds } from "../../support/axe.ts";
import { atRest, describeInBrowser, expectNoFaults, soon, type WatchedPage } from "../../support/browser.ts";
import { openBrowser } from "../../support/chromium.ts";
import { type ConsoleApp, openConsoleApp, openSignedIn } from "../../support/console-app.ts";
import { says } from "../../support/journeys.ts";

describeInBrowser("a key whose make has to be proven", () => {
  const maker = makeAuthority("Soft Keys Root CA");
  let browser: Browser;
  let system: ConsoleApp;
  let watched: WatchedPage;
  let page: Page;
  let id: number;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    system = await openConsoleApp();
    Object.assign(system.services, { attestationIssuers: () => [maker.certificate] });
    id = (await system.user("wendy")).id;
    const strong = { kind: "shell", secondFactor: "verified", attestation: "required" } as const;
    await createProfile(system.system, { name: "proven", ...strong });
    await updateUser(system.system, id, { profile: "proven" });
    watched = await openSignedIn(browser, system, { user: "wendy" });
    page = watched.page;
    await page.goto(PAGES.keys);
    await atRest(page);
  });
  afterEach(async () => {
    expectNoFaults(watched);
    await watched.close();
    await system.close();
  });

  const file = (name: string, buffer: Buffer) => ({ name, buffer, mimeType: "application/octet-stream" });
  const choose = (...files: ReturnType<typeof file>[]) =>
    page.getByLabel("Choose uam-attestation", { exact: true }).and(page.locator("input")).setInputFiles(files);

  /** Gets the challenge as the page saves it. */
  async function challenge(): Promise<Buffer> {
    await page.getByRole("button", { name: "Get a challenge" }).click();
    const saved = page.waitForEvent("download");
    await page.getByRole("link", { name: "Save the file uam-challenge" }).click();
    const download = await saved;
    expect(download.suggestedFilename()).toBe("uam-challenge");
    return readFileSync(await download.path());
  }

  test("is added with the challenge of this page, at the width of a phone, and shows its make", async () => {
    await page.setViewportSize({ width: 320, height: 640 });
    await says(page, "Its make has to be proven when it is added.");
    await soon(async () => expect(await page.getByText("How to make a key").count()).toBe(0));
    const signed = await challenge();
    await says(page, "-O write-attestation=uam-attestation");
    const { publicKey, statement } = makeAttestedKey(maker, signed);
    await choose(file("uam-attestation", statement));
    await says(page, "Read: uam-attestation");
    await page.getByLabel("Public key").fill(publicKey);
    await says(page, "the key itself and the two files are sent");
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    expect(await axeFinds(page)).toEqual([]);
    await page.getByRole("button", { name: "Add this key" }).click();
    await says(page, "was added");
    await says(page, "Make proven: CN=Soft Key 5, OU=Authenticator Attestation, O=Soft Keys AB, C=SE");
    const admin = await openSignedIn(browser, system, "admin");
    await admin.page.goto(userPage(id));
    await says(admin.page, "AAGUID 73bb0cd4-e502-49b8-9c6f-b59445bf720b");
    expectNoFaults(admin);
    await admin.close();
  });

  test("is added with both files after the page was left, and what is missing or wrong is said", async () => {
    const signed = await challenge();
    await page.reload();
    await atRest(page);
    const { publicKey, statement } = makeAttestedKey(maker, signed);
    await choose(file("uam-attestation", statement));
    await says(page, "These are not the files");
    await page.getByLabel("Public key").fill(publicKey);
    await page.getByRole("button", { name: "Add this key" }).click();
    await says(page, "takes only security keys whose make is proven");
    await choose(file("uam-attestation", makeAttestedKey(maker, signed).statement), file("uam-challenge", signed));
    await page.getByRole("button", { name: "Add this key" }).click();
    await says(page, "it is for another key");
    await choose(file("uam-challenge", signed), file("uam-attestation", statement));
    await says(page, "Read: uam-challenge, uam-attestation");
    await page.getByRole("button", { name: "Add this key" }).click();
    await says(page, "was added");
  });
});
