/** The page behind a sponsor's link: opening it decides nothing, and a sponsor who never saw it finds the button. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import type { Browser, Page } from "playwright-core";
import { submitApplication } from "../../src/domain/approvals/approvals.ts";
import { startReview } from "../../src/domain/reviews/start.ts";
import { createUser } from "../../src/domain/users/users.ts";
import { DAY, shift } from "../../src/shared/time/clock.ts";
import { approvals, outbox, users } from "../../src/store/schema.ts";
import { axeFinds } from "./support/axe.ts";
import { describeInBrowser, expectNoFaults, openPage, soon } from "./support/browser.ts";
import { openBrowser } from "./support/chromium.ts";
import { type ConsoleApp, openConsoleApp } from "./support/console-app.ts";

describeInBrowser("the page of a question", () => {
  let system: ConsoleApp;
  let browser: Browser;
  beforeAll(async () => {
    [system, browser] = await Promise.all([openConsoleApp(), openBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await system?.close();
  });

  async function linkTo(email: string): Promise<string> {
    const mails = await system.db.select().from(outbox).orderBy(outbox.id);
    const text = mails.filter(({ recipient }) => recipient === email).at(-1)?.text ?? "";
    return `/decide#${/\/decide#(\S+)/.exec(text)?.[1]}`;
  }

  const answers = async () => (await system.db.select().from(approvals)).map((row) => row.sponsorAnswer);
  const picture = async (page: Page, name: string) => {
    const folder = process.env.UAM_TEST_PICTURES;
    if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
  };

  /** In both schemes. */
  async function expectAccessible(page: Page): Promise<void> {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await axeFinds(page)).toEqual([]);
    }
  }

  test("says who is asked and what is known, decides nothing when opened, and takes one answer by keyboard", async () => {
    const person = { username: "alice", email: "alice@example.org", fullName: "Alice Andersson" };
    await submitApplication(system.system, {
      ...person,
      purpose: "Maintenance of the build servers",
      sponsorEmail: "bo@example.com",
    });
    const link = await linkTo("bo@example.com");
    const watched = await openPage(browser, system.origin);
    const { page } = watched;
    await page.setViewportSize({ width: 320, height: 640 });
    await page.goto(link);
    await page.getByText("bo@example.com, do you answer for this person").waitFor();
    expect(page.url()).not.toContain("#");
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
    expect(await answers()).toEqual(["asked"]);
    await picture(page, "vouch-phone");
    await expectAccessible(page);
    for (const button of await page.getByRole("main").getByRole("button").all()) {
      expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(44);
    }
    // What there is to press is there for whoever has read the name.
    const main = page.getByRole("main");
    await soon(async () =>
      expect(await main.getByRole("button").allInnerTexts()).toEqual([
        "I answer for alice",
        "I do not answer for alice",
      ]),
    );
    await soon(async () =>
      expect(await page.getByRole("banner").getByRole("link", { name: "Log in" }).count()).toBe(0),
    );
    await page.getByText("Add a reason").press("Enter");
    await page.getByLabel(/^Reason/).fill("He is ours");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByText("You answer for alice.").waitFor();
    expect(await answers()).toEqual(["vouched"]);
    await picture(page, "vouched-phone");
    expectNoFaults(watched);
    await watched.close();
    const again = await openPage(browser, system.origin);
    await again.page.goto(link);
    await again.page.getByText("You answer for alice.").waitFor();
    await again.page.getByRole("heading", { level: 1, name: "You have answered" }).waitFor();
    await soon(async () => expect(await again.page.getByRole("main").getByRole("button").count()).toBe(0));
    await again.close();
  });

  test("takes in a review that somebody needs it until a day, and says when it ends", async () => {
    const sponsorEmail = "ulla@example.com";
    const { id } = await createUser(system.system, { username: "dora", email: "dora@example.org", sponsorEmail });
    await createUser(system.system, { username: "emil", email: "emil@example.org", sponsorEmail });
    await createUser(system.system, { username: "finn", email: "finn@example.org", sponsorEmail });
    await startReview(system.system, { scope: { sponsor: sponsorEmail }, dueDays: 14, unanswered: "disable" });
    const watched = await openPage(browser, system.origin);
    const { page } = watched;
    await page.clock.setFixedTime(system.clock.now());
    await page.setViewportSize({ width: 320, height: 640 });
    await page.goto(await linkTo(sponsorEmail));
    const dora = page.getByRole("region", { name: "dora" });
    await dora.getByText("Only until a day").press("Enter");
    const send = dora.getByRole("button", { name: "dora needs it until then" });
    await send.press("Enter");
    await dora.getByText("Choose a day.").waitFor();
    await expectAccessible(page);
    await picture(page, "shorten-phone");
    const day = shift(system.clock.now(), 7 * DAY)
      .toISOString()
      .slice(0, 10);
    await dora.getByLabel("Last day").fill(day);
    await send.press("Enter");
    await dora.getByText("dora keeps the access for a shorter time.").waitFor();
    await dora.getByText("It ends").waitFor();
    const [stored] = await system.db.select().from(users).where(eq(users.id, id));
    // The end of the day where the sponsor is, in Berlin.
    expect(stored?.expireAt.toISOString()).toBe(`${day}T22:59:00.000Z`);
    await expectAccessible(page);
    await picture(page, "shortened-phone");
    // Whoever is answered for is folded, and the page does not say that it can be closed.
    await dora.getByText("You are still asked about 2 people on this page.").waitFor();
    await soon(async () => expect(await dora.getByText("dora@example.org").isVisible()).toBe(false));
    await dora.getByText("What was known").click();
    await dora.getByText("dora@example.org").waitFor();
    const emil = page.getByRole("region", { name: "emil" });
    await soon(async () => expect(await emil.getByText("local", { exact: true }).count()).toBe(0));
    // Two taps end an access, and one keeps it.
    await soon(async () =>
      expect(await emil.getByRole("button").filter({ visible: true }).allInnerTexts()).toEqual(["emil still needs it"]),
    );
    await emil.getByText("End the access …").click();
    await emil.getByText("Keys stop working and sessions are closed at once.").waitFor();
    await picture(page, "end-phone");
    await emil.getByRole("button", { name: "End the access of emil now" }).click();
    await emil.getByText("You ended the access of emil.").waitFor();
    await emil.getByText("You are still asked about 1 person on this page.").waitFor();
    const finn = page.getByRole("region", { name: "finn" });
    await finn.getByRole("button", { name: "finn still needs it" }).click();
    await finn.getByText("finn keeps the access; its end does not change.").waitFor();
    await finn.getByText("That is all: you can close this page.").waitFor();
    await page.getByText("Thank you, that is all.").waitFor();
    await page.getByRole("heading", { level: 1, name: "You have answered" }).waitFor();
    await soon(async () => expect(await page.getByText("You are still asked").count()).toBe(0));
    expectNoFaults(watched);
    await watched.close();
  });

  test("ends the access of somebody who left; a dead link says so", async () => {
    const email = "eva@example.com";
    await createUser(system.system, { username: "carl", email: "carl@example.org", sponsorEmail: email });
    const link = await linkTo(email);
    const watched = await openPage(browser, system.origin);
    const { page } = watched;
    await page.goto(link);
    await picture(page, "end");
    await page.getByRole("button", { name: /no longer with us/ }).click();
    await page.getByText("You ended the access of carl.").waitFor();
    await picture(page, "ended");
    await expectAccessible(page);
    expectNoFaults(watched);
    await watched.close();
    const dead = await openPage(browser, system.origin);
    await dead.page.emulateMedia({ colorScheme: "dark" });
    await dead.page.goto(`/decide#${"a".repeat(43)}`);
    await dead.page.getByText("The link is wrong or too old").waitFor();
    await picture(dead.page, "dead-dark");
    await dead.close();
  });
});
