import { describe, expect, test } from "bun:test";
import { adminAddressRemoved, adminAddressSet, adminInvited } from "../../../src/domain/mail/admin-messages.ts";
import { ADMIN_ROLES } from "../../../src/shared/product/statuses.ts";
import { DAY } from "../../../src/shared/time/clock.ts";

const SITE = {
  baseUrl: "https://uam.example.org",
  host: "login.example.org",
  port: 22,
  contact: "it@example.org",
  console: true,
};
const TOKEN = "bm90IGEgdG9rZW4sIGp1c3QgYW4gZXhhbXBsZSBvZjE";
const AT = new Date("2026-11-20T08:00:00.000Z");

describe("adminInvited()", () => {
  test("has the link with the token behind the #, or the request to send where there are no pages", () => {
    const { subject, text, html } = adminInvited(SITE, {
      ...{ username: "alice", role: "reviewer", token: TOKEN, ttl: 3 * DAY, by: "root-admin" },
    });
    expect(subject).toBe("Become an administrator of login.example.org");
    expect(text).toContain(`https://uam.example.org/reset#${TOKEN}\n`);
    expect(html).toContain(`href="https://uam.example.org/reset#${TOKEN}"`);
    expect(text).not.toContain("POST ");
    const without = adminInvited(
      { ...SITE, console: false },
      { username: "alice", role: "reviewer", token: TOKEN, ttl: 3 * DAY, by: "root-admin" },
    );
    expect(without.text).toContain("POST https://uam.example.org/api/v1/auth/admin/reset\n");
    expect(without.text).not.toContain("/reset#");
    expect(text).toContain("valid for 72 hours");
    expect(text.replace(/\s+/g, " ")).toContain("As its reviewer you may decide about applications for access.");
    expect(text.replace(/\s+/g, " ")).toContain("your username is alice");
  });

  test.each([...ADMIN_ROLES])("says what an %s may do", (role) => {
    const { text } = adminInvited(SITE, { username: "alice", role, token: TOKEN, ttl: DAY, by: "root" });
    expect(text.replace(/\s+/g, " ")).toMatch(new RegExp(`As its ${role} you may \\w+`));
  });
});

describe("mails about an administrator's address", () => {
  test("say to both who changed it and when", () => {
    const change = { username: "alice", at: AT, by: "root-admin" };
    for (const { text } of [adminAddressRemoved(SITE, change), adminAddressSet(SITE, change)]) {
      expect(text).toMatch(/^ +When: +20 November 2026, 08:00 UTC$/m);
      expect(text).toMatch(/^ +Changed by: +root-admin$/m);
      expect(text).toContain("it@example.org");
    }
  });

  test("stay on their lines, whatever the operator at the shell is called", () => {
    const hostile = "root\r\nBcc: all@example.org\u202e<b>";
    const { subject, text, html } = adminAddressSet(SITE, { username: hostile, at: AT, by: hostile });
    expect(subject).not.toMatch(/[\r\n\u202e]/);
    expect(text).not.toMatch(/^Bcc:/m);
    expect(html).not.toContain("<b>");
  });
});
