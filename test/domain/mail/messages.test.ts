import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Letter } from "../../../src/domain/mail/letter.ts";
import {
  accountCreated,
  adminReset,
  applicationApproved,
  applicationApprovedLater,
  applicationArrived,
  applicationReceived,
  applicationRejected,
  applicationsReceived,
  auditHead,
  clockJump,
  expired,
  expiryReminder,
  keyAdded,
  keyRemoved,
  oneTimeCode,
} from "../../../src/domain/mail/messages.ts";
import { faultOf } from "../../../src/server/mail/mail.ts";

const SITE = { baseUrl: "https://uam.example.org", host: "login.example.org" };
const NOW = new Date("2026-11-20T08:00:00.000Z");
const END = new Date("2027-02-18T08:00:00.000Z");
const TEN_MINUTES = 600_000;

/** Every message, with one value wherever a stranger's text can be. */
function everyMessage(value: string): readonly Letter[] {
  const user = { username: value, expireAt: END };
  const application = { username: value, email: value, supervisor: value, purpose: value };
  const key = { name: value, type: value, fingerprint: value };
  return [
    oneTimeCode(SITE, { username: value, oneTime: value, ttl: TEN_MINUTES }),
    adminReset(SITE, { username: value, token: value, ttl: TEN_MINUTES }),
    applicationReceived(SITE, { ...application, id: 7 }),
    applicationsReceived(SITE, { total: 3, items: [application, application] }),
    applicationArrived(SITE, { username: value }),
    applicationApproved(SITE, user),
    applicationApprovedLater(SITE, user),
    applicationRejected(SITE, { username: value, reason: value }),
    accountCreated(SITE, user),
    expiryReminder(SITE, user, { now: NOW, to: "user" }),
    expiryReminder(SITE, user, { now: NOW, to: "supervisor" }),
    expired(SITE, user, END),
    keyAdded(SITE, value, key),
    keyRemoved(SITE, value, key),
    clockJump(SITE, { from: NOW, to: END, resumesAt: END }),
    auditHead(SITE, { at: NOW, count: 12, head: value }),
  ];
}

describe("messages", () => {
  test("every message has a subject on one line, a text and the same as HTML", () => {
    for (const { subject, text, html } of everyMessage("alice")) {
      expect(subject).toMatch(/^[\x20-\x7e]{10,150}$/);
      expect(text).toMatch(/^\S/);
      expect(text).toEndWith("\n");
      expect(text).not.toMatch(/\n\n\n|undefined|null|NaN|\[object|Invalid Date/);
      expect(words(plainOf(html))).toEqual([...words(subject), ...words(text)].join(" ").split(" "));
    }
  });

  test("every message loads nothing and links nowhere but to the service", () => {
    for (const { html } of everyMessage("https://evil.example/?x=1")) {
      expect(html).not.toMatch(/<(img|script|link|iframe|object|style|form|svg)|src=|@import|url\(/i);
      for (const [, target] of html.matchAll(/href="([^"]*)"/g)) expect(target).toStartWith(SITE.baseUrl);
    }
  });

  test("no value breaks out of the HTML", () => {
    const attacks = [
      `"><script>alert(1)</script>`,
      "<img src=x onerror=alert(1)>",
      "&lt;b&gt;",
      "' onmouseover='x",
      "javascript:alert(1)",
    ];
    const tags = (letter: Letter): string => (letter.html.match(/<\/?[a-z!][^>]*>/gi) ?? []).join("");
    const plain = everyMessage("alice").map(tags);
    for (const attack of attacks) expect(everyMessage(attack).map(tags)).toEqual(plain);
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), (value) => {
        expect(everyMessage(value).map(tags)).toEqual(plain);
      }),
    );
  });

  test("no value adds a line or ends a header", () => {
    const lines = everyMessage("x").map(({ text }) => text.split("\n").length);
    const evil = "x\r\nBcc: all@example.org\u2028\u2029\u0085\u0000\u001b[2J\u202e";
    for (const [index, { subject, text, html }] of everyMessage(evil).entries()) {
      expect(subject).not.toMatch(/[\p{Cc}\u2028\u2029\u202e]/u);
      expect(text).not.toMatch(/[^\P{Cc}\n]|[\u2028\u2029\u202e]/u);
      expect(html).not.toMatch(/[^\P{Cc}\n]|[\u2028\u2029\u202e]/u);
      // Longer text may wrap once more, but a value never makes a line of its own.
      expect(text.split("\n").length - (lines[index] ?? 0)).toBeLessThan(3);
      expect(faultOf({ to: "a@example.org", subject, text, html })).toBeUndefined();
    }
  });

  test("a long value makes a long line, not a long subject", () => {
    expect(
      applicationReceived(SITE, { id: 1, username: "a".repeat(1000), email: "", supervisor: "", purpose: "" }).subject
        .length,
    ).toBe(150);
  });
});

describe("oneTimeCode", () => {
  test("oneTimeCode() shows the code on a line of its own, how long it is good, and nothing of it in the subject", () => {
    const { subject, text, html } = oneTimeCode(SITE, { username: "alice", oneTime: "01234567", ttl: TEN_MINUTES });
    expect(text).toContain("\n    01234567\n");
    expect(text).toContain("good for 10 minutes and works once");
    expect(html).toContain(">01234567</pre>");
    expect(subject).not.toContain("01234567");
  });
});

describe("adminReset", () => {
  test("adminReset() shows the token and where it goes", () => {
    const { text } = adminReset(SITE, { username: "root", token: "tok_123", ttl: 1_800_000 });
    expect(text).toContain("\n    tok_123\n");
    expect(text).toContain("good for 30 minutes");
    expect(text).toContain(
      'POST https://uam.example.org/api/v1/auth/admin/reset\n    {"token": "…", "new_password": "…"}',
    );
  });
});

describe("applications", () => {
  test("applicationReceived() tells the administrators all that was written", () => {
    const { text } = applicationReceived(SITE, {
      id: 7,
      username: "bob",
      email: "bob@x.org",
      supervisor: "",
      purpose: "a & b",
    });
    for (const part of [
      "Username:    bob",
      "E-mail:      bob@x.org",
      "Supervisor:  -",
      "Purpose:     a & b",
      "/approvals/7/review",
    ]) {
      expect(text).toContain(part);
    }
  });

  test("applicationApproved() says how to log in, upload a key and connect, and until when", () => {
    const { text } = applicationApproved(SITE, { username: "bob", expireAt: END });
    for (const part of [
      "ssh ext_bob@login.example.org",
      "https://uam.example.org",
      "ssh-keygen -t ed25519",
      ".pub",
      "18 February 2027",
    ]) {
      expect(text).toContain(part);
    }
  });

  test("applicationRejected() gives the reason", () => {
    expect(applicationRejected(SITE, { username: "bob", reason: "No project named" }).text).toContain(
      "Reason:      No project named",
    );
  });
});

describe("expiryReminder", () => {
  test.each([
    [14, "ends in 14 days"],
    [7, "ends in 7 days"],
    [1, "ends within a day"],
  ])("expiryReminder() %d days ahead says so", (days, expected) => {
    const now = new Date(END.getTime() - days * 86_400_000 + 30_000);
    const { subject, text } = expiryReminder(SITE, { username: "bob", expireAt: END }, { now, to: "user" });
    expect(subject).toBe(`Your access to login.example.org ${expected}`);
    expect(text.replace(/\s+/g, " ")).toContain("ends on 18 February 2027, 08:00 UTC");
  });

  test("expiryReminder() tells a supervisor whose access it is", () => {
    const { subject } = expiryReminder(SITE, { username: "bob", expireAt: END }, { now: NOW, to: "supervisor" });
    expect(subject).toBe("The access of bob to login.example.org ends in 90 days");
  });
});

function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

function plainOf(html: string): string {
  const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
  return html.replace(/<[^>]*>/g, " ").replace(/&(amp|lt|gt|quot|#39);/g, (_all, name: string) => entities[name] ?? "");
}
