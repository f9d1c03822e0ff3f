import { describe, expect, test } from "bun:test";
import { accountCreated } from "../../../src/domain/mail/messages.ts";
import { END, SITE, WITHOUT_PAGES } from "../../support/letters.ts";

describe("the welcome of users who do not have access at any hour", () => {
  const user = { username: "alice", expireAt: END, profiles: null };
  const welcome = (more: Partial<Parameters<typeof accountCreated>[1]>, site = SITE): string =>
    accountCreated(site, { ...user, ...more }).text.replace(/\s+/g, " ");

  test("says the start and the hours, in the zone of the hours", () => {
    const hours = "mon-fri 08:00-18:00 Europe/Berlin";
    const startsAt = new Date("2026-07-01T06:00:00Z");
    const text = welcome({ hours, startsAt, companyHours: "sat 09:00-12:00 UTC" });
    expect(text).toContain(`Starts: 1 July 2026, 08:00 Europe/Berlin Hours: ${hours} And within: sat 09:00-12:00 UTC`);
    expect(text).toContain("Before the start, no key lets you in. Your keys let you in only within these hours;");
    expect(text).toContain("at their end your sessions end.");
    expect(welcome({ hours, hoursEnd: "logins" })).toContain("what is open at their end may go on.");
    expect(welcome({ companyHours: hours, startsAt })).toContain(`08:00 Europe/Berlin Hours: ${hours}`);
    expect(welcome({ startsAt })).toContain("Starts: 1 July 2026, 06:00 UTC Before the start");
  });

  test("says the start in UTC where the zone is not known any more", () => {
    const text = welcome({ hours: "mon 08:00-09:00 Mars/Olympus", startsAt: END });
    expect(text).toContain("Starts: 18 February 2027, 08:00 UTC Hours: mon 08:00-09:00 Mars/Olympus");
  });

  test.each([
    ["self", "if you have just logged in."],
    ["sponsor", "Your sponsor gets a mail"],
    ["review", "An administrator decides"],
  ] as const)("says how to ask, where access is on request by the rule %s", (requestRule, sentence) => {
    const text = welcome({ requestRule, requestHours: 4 });
    expect(text).toContain("3. Ask for access, each time before you connect: for 4 hours at most.");
    expect(text).toContain(sentence);
    expect(text).toContain("4. Connect:");
    const byHand = welcome({ requestRule, requestHours: 1, hours: "mon 08:00-09:00 UTC" }, WITHOUT_PAGES);
    expect(byHand).toContain("before you connect, within your hours: for 1 hour at most.");
    expect(byHand).toContain(`POST ${SITE.baseUrl}/api/v1/me/access {"hours": 1, "reason": "…"}`);
  });

  test("says nothing of it to the others", () => {
    for (const text of [welcome({}), welcome({ hours: null, companyHours: null, startsAt: null, requestRule: null })]) {
      expect(text).not.toMatch(/hours|Starts|Ask for access/);
      expect(text).toContain("3. Connect:");
    }
  });
});
