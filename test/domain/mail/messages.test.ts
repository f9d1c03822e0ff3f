import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  accountDeleted,
  accountDisabled,
  accountEnabled,
  accountExtended,
  addressRemoved,
  addressSet,
  expired,
  expiryReminder,
} from "../../../src/domain/mail/account-messages.ts";
import { accessOwed, keyCameBack } from "../../../src/domain/mail/host-messages.ts";
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
  keyAdded,
  keyRemoved,
  oneTimeCode,
} from "../../../src/domain/mail/messages.ts";
import {
  extensionRejected,
  extensionRequested,
  lockedByOwner,
  lockedByYou,
  requestsReceived,
} from "../../../src/domain/mail/request-messages.ts";
import { faultOf } from "../../../src/server/mail/mail.ts";

const HOST_KEY = `SHA256:${"k".repeat(43)} (ED25519)`;
const SITE = {
  baseUrl: "https://uam.example.org",
  host: "login.example.org",
  port: 22,
  contact: undefined,
  hostKeys: [HOST_KEY],
};
const NOW = new Date("2026-11-20T08:00:00.000Z");
const END = new Date("2027-02-18T08:00:00.000Z");
const TEN_MINUTES = 600_000;

/** Every message to a user, with one value wherever a stranger's text can be. */
function messagesToUsers(value: string, site = SITE): readonly Letter[] {
  const user = { username: value, expireAt: END, status: "active" } as const;
  const disabled = { ...user, status: "disabled" } as const;
  const key = { name: value, type: value, fingerprint: value };
  return [
    oneTimeCode(site, { username: value, oneTime: value, ttl: TEN_MINUTES }),
    applicationApproved(site, user),
    applicationApprovedLater(site, user),
    applicationRejected(site, { username: value, reason: value }),
    accountCreated(site, user),
    accountExtended(site, user),
    accountExtended(site, disabled),
    accountEnabled(site, user),
    accountDisabled(site, user, { at: NOW }),
    accountDisabled(site, user, { at: NOW, reason: value }),
    accountDeleted(site, user, { at: NOW }),
    addressRemoved(site, user, { at: NOW }),
    addressSet(site, user, { at: NOW }),
    addressSet(site, disabled, { at: NOW }),
    expiryReminder(site, user, { now: NOW, to: "user" }),
    expiryReminder(site, disabled, { now: NOW, to: "user" }),
    expiryReminder(site, user, { now: NOW, to: "supervisor" }),
    expired(site, user, END),
    keyAdded(site, user, key),
    keyRemoved(site, user, key),
    lockedByYou(site, user, { at: NOW, from: value, owed: [] }),
    extensionRejected(site, { username: value, reason: value, expireAt: END }),
    extensionRejected(site, { username: value, reason: value, expireAt: undefined }),
  ];
}

const asRequest = <T>(application: T, index: number) => ({ ...application, days: index === 0 ? null : 30 });

/** The same for every message. */
function everyMessage(value: string): readonly Letter[] {
  const application = { username: value, email: value, supervisor: value, purpose: value };
  return [
    ...messagesToUsers(value),
    adminReset(SITE, { username: value, token: value, ttl: TEN_MINUTES }),
    applicationReceived(SITE, { ...application, id: 7 }),
    applicationsReceived(SITE, { total: 3, items: [application, application] }),
    applicationArrived(SITE, { username: value }),
    clockJump(SITE, { from: NOW, to: END, resumesAt: END }),
    auditHead(SITE, { at: NOW, count: 12, head: value }),
    accessOwed(SITE, { username: value, owed: [value, value] }),
    keyCameBack(SITE, { username: value, disabled: false }),
    keyCameBack(SITE, { username: value, disabled: true }),
    lockedByOwner(SITE, { username: value, email: value }, { at: NOW, from: value, owed: [] }),
    lockedByOwner(SITE, { username: value, email: value }, { at: NOW, from: "", owed: [value, value] }),
    extensionRequested(SITE, { ...application, id: 7, days: 30 }),
    requestsReceived(SITE, { total: 3, extensions: 1, items: [application, application].map(asRequest) }),
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

describe("messages to users", () => {
  const all = (contact: string | undefined) => messagesToUsers("bob", { ...SITE, contact } as typeof SITE);

  test("all name whom to ask", () => {
    for (const { text } of all(undefined))
      expect(plain(text)).toContain("Ask the administrators of login.example.org.");
    for (const { text } of all("help@example.org")) expect(plain(text)).toContain("? Write to help@example.org.");
    for (const { text } of all("Call the desk, extension 12."))
      expect(plain(text)).toContain("? Call the desk, extension 12.");
  });

  test("all begin with the user's name and a capital letter, and stay within 78 columns", () => {
    for (const { text } of all("help@example.org")) {
      expect(text).toMatch(/^Hello( bob)?,\n\n[A-Z]/);
      for (const line of text.split("\n")) {
        if (!/^ {2,4}\S+ \S+$|^ {4}/.test(line)) expect(line.length).toBeLessThanOrEqual(78);
      }
    }
  });

  test("whoever gets access, or gets it back or for longer, is told how to connect, which host keys to expect, and until when", () => {
    const user = { username: "bob", expireAt: END, status: "active" } as const;
    const key = { name: "laptop", type: "ssh-ed25519", fingerprint: "SHA256:x" };
    for (const connectable of [
      accountCreated,
      applicationApproved,
      accountEnabled,
      accountExtended,
      (site: typeof SITE) => keyAdded(site, user, key),
    ]) {
      const { text } = connectable(SITE, user);
      expect(text).toContain("\n    ssh ext_bob@login.example.org\n");
      expect(text).toContain(`\n    ${HOST_KEY}\n`);
      expect(text).toContain("18 February 2027, 08:00 UTC");
      expect(connectable({ ...SITE, port: 2222 }, user).text).toContain(
        "\n    ssh -p 2222 ext_bob@login.example.org\n",
      );
      // Fingerprints are not mentioned where none is known.
      expect(connectable({ ...SITE, hostKeys: [] }, user).text).not.toContain("of the host's key");
    }
  });

  test("a user who is extended while disabled is told so, and not how to connect", () => {
    const { text } = accountExtended(SITE, { username: "bob", expireAt: END, status: "disabled" });
    expect(plain(text)).toContain("currently disabled");
    expect(text).not.toContain("ssh ext_bob@");
  });

  test("addressRemoved() names neither the new address nor how to log in", () => {
    const user = { username: "bob", expireAt: END, email: "new@example.org" };
    expect(addressRemoved(SITE, user, { at: NOW }).text).not.toMatch(/new@example|ssh /);
  });
});

describe("oneTimeCode", () => {
  test("oneTimeCode() shows the code on a line of its own, how long it is valid, and nothing of it in the subject", () => {
    const { subject, text, html } = oneTimeCode(SITE, { username: "alice", oneTime: "01234567", ttl: TEN_MINUTES });
    expect(text).toContain("\n    01234567\n");
    expect(text).toContain("valid for 10 minutes and works once");
    expect(html).toContain(">01234567</pre>");
    expect(subject).not.toContain("01234567");
  });
});

describe("adminReset", () => {
  test("adminReset() shows the token and where it goes", () => {
    const { text } = adminReset(SITE, { username: "root", token: "tok_123", ttl: 1_800_000 });
    expect(text).toContain("\n    tok_123\n");
    expect(text).toContain("valid for 30 minutes");
    expect(text).toContain(
      'POST https://uam.example.org/api/v1/auth/admin/reset\n    {"token": "…", "new_password": "…"}',
    );
  });
});

describe("applications", () => {
  test("applicationReceived() tells the administrators everything that was written", () => {
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
    const { subject, text } = expiryReminder(
      SITE,
      { username: "bob", expireAt: END, status: "active" },
      { now, to: "user" },
    );
    expect(subject).toBe(`Your access to login.example.org ${expected}`);
    expect(text).toContain("Until:       18 February 2027, 08:00 UTC");
  });

  test("expiryReminder() tells a supervisor whose access it is", () => {
    const { subject } = expiryReminder(
      SITE,
      { username: "bob", expireAt: END, status: "active" },
      { now: NOW, to: "supervisor" },
    );
    expect(subject).toBe("The access of bob to login.example.org ends in 90 days");
  });
});

/** On one line, for sentences that may be wrapped. */
function plain(text: string): string {
  return text.replace(/\s+/g, " ");
}

function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

function plainOf(html: string): string {
  const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
  return html.replace(/<[^>]*>/g, " ").replace(/&(amp|lt|gt|quot|#39);/g, (_all, name: string) => entities[name] ?? "");
}
