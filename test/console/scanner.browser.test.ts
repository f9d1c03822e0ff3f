/** A mail scanner that opens every link, by GET, by HEAD and in a browser with its scripts, twice: nothing is decided by that. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { submitApplication } from "../../src/domain/approvals/approvals.ts";
import { startReview } from "../../src/domain/reviews/start.ts";
import { createUser } from "../../src/domain/users/users.ts";
import { approvals, outbox, users } from "../../src/store/schema.ts";
import { audit } from "../../src/store/schema-audit.ts";
import { questions } from "../../src/store/schema-auth.ts";
import { reviewItems } from "../../src/store/schema-reviews.ts";
import { atRest, describeInBrowser, openPage } from "./support/browser.ts";
import { openBrowser } from "./support/chromium.ts";
import { type ConsoleApp, openConsoleApp } from "./support/console-app.ts";

/** Users, of each of whom two questions are asked; `bun run test:long scanner` has 406. */
const EACH = Number(process.env.UAM_TEST_SCANNED ?? 2);
/** Applications: no more than 200 may wait at once. */
const APPLICANTS = Math.min(EACH, 190);

describeInBrowser("a mail scanner", () => {
  let system: ConsoleApp;
  let browser: Browser;
  beforeAll(async () => {
    [system, browser] = await Promise.all([openConsoleApp(), openBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await system?.close();
  });

  async function askAll(): Promise<readonly string[]> {
    for (let n = 0; n < EACH; n++) {
      const [applicant, user] = [`applicant-${n}`, `user-${n}`];
      const purpose = "Builds";
      const application = { username: applicant, email: `${applicant}@example.org`, purpose };
      if (n < APPLICANTS) {
        await submitApplication(system.system, { ...application, sponsorEmail: `${applicant}@example.com` });
      }
      await createUser(system.system, {
        ...{ username: user, email: `${user}@example.org`, purpose },
        sponsorEmail: `${user}@example.com`,
      });
    }
    await startReview(system.system, { scope: "all", dueDays: 14, unanswered: "disable" });
    const mails = await system.db.select().from(outbox);
    return mails.flatMap(({ text }) => /\/decide#([\w-]{43})/.exec(text)?.[0] ?? []);
  }

  /** Everything that an answer changes. */
  async function stored(): Promise<unknown> {
    const { db } = system;
    const [asked, people, items, links] = await Promise.all([
      db.select({ id: approvals.id, answer: approvals.sponsorAnswer }).from(approvals).orderBy(approvals.id),
      db.select({ id: users.id, status: users.status, end: users.expireAt }).from(users).orderBy(users.id),
      db.select({ id: reviewItems.userId, answer: reviewItems.answer }).from(reviewItems).orderBy(reviewItems.userId),
      db
        .select({ id: questions.id, at: questions.answeredAt, end: questions.expiresAt })
        .from(questions)
        .orderBy(questions.id),
    ]);
    return { asked, people, items, links, records: await db.$count(audit) };
  }

  test(
    "that opens every link twice decides nothing",
    async () => {
      const links = await askAll();
      expect(links).toHaveLength(2 * EACH + APPLICANTS);
      const before = await stored();
      for (const link of [...links, ...links]) {
        for (const method of ["GET", "HEAD"])
          expect((await fetch(`${system.origin}${link}`, { method })).status).toBe(200);
        const { page, close } = await openPage(browser, system.origin);
        await page.goto(link);
        await page.getByText("example.com,").first().waitFor();
        await atRest(page);
        await close();
      }
      expect(await stored()).toEqual(before);
    },
    EACH * 60_000,
  );
});
