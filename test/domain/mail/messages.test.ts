import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { accessAllowed } from "../../../src/domain/mail/access-messages.ts";
import {
  accountEnabled,
  accountExtended,
  addressRemoved,
  addressSet,
  expiryReminder,
} from "../../../src/domain/mail/account-messages.ts";
import { type Letter, line } from "../../../src/domain/mail/letter.ts";
import {
  accountCreated,
  adminReset,
  applicationApproved,
  applicationReceived,
  applicationRejected,
  keyAdded,
  oneTimeCode,
} from "../../../src/domain/mail/messages.ts";
import { reviewStarted } from "../../../src/domain/mail/review-messages.ts";
import type { SiteWithKeys } from "../../../src/domain/mail/site.ts";
import type { HostProfile } from "../../../src/protocol/profile.ts";
import { faultOf } from "../../../src/server/mail/mail.ts";
import { isPage } from "../../../src/shared/product/pages.ts";
import { END, HOST_KEY, LETTERS, linksOf, NOW, SITE, WITHOUT_PAGES } from "../../support/letters.ts";

const BOTH = [
  ["with pages", SITE],
  ["without pages", WITHOUT_PAGES],
] as const;
const everyMessage = (value: string, site = SITE): readonly Letter[] => LETTERS.map(({ make }) => make(site, value));

describe("messages", () => {
  test("every function that makes a letter is in the table of letters", async () => {
    const directory = join(import.meta.dir, "../../../src/domain/mail");
    const made: string[] = [];
    for (const file of readdirSync(directory).filter((name) => name.endsWith("messages.ts")))
      made.push(...Object.keys(await import(join(directory, file))));
    expect([...new Set(LETTERS.map(({ name }) => name.split(",")[0] ?? ""))].sort()).toEqual(made.sort());
  });

  test.each(BOTH)("%s: every message has a subject on one line, a text and the same as HTML", (_what, site) => {
    for (const { subject, text, html } of everyMessage("alice", site)) {
      expect(subject).toMatch(/^[\x20-\x7e]{10,150}$/);
      expect(text).toMatch(/^\S/);
      expect(text).toEndWith("\n");
      expect(text).not.toMatch(/\n\n\n|undefined|null|NaN|\[object|Invalid Date/);
      expect(words(plainOf(html))).toEqual([...words(subject), ...words(text)].join(" ").split(" "));
    }
  });

  test.each(BOTH)("%s: every message loads nothing", (_what, site) => {
    for (const { html } of everyMessage("https://evil.example/?x=1", site))
      expect(html).not.toMatch(/<(img|script|link|iframe|object|style|form|svg)|src=|@import|url\(/i);
  });

  describe.each(BOTH)("%s", (_what, site) => {
    test.each(LETTERS.map((letter) => [letter.name, letter] as const))(
      "%s links where it should, in both parts, and keeps what is secret in the fragment",
      (_name, letter) => {
        for (const value of ["alice", "https://evil.example/?x=1", '\ud800 a.b#c/../%41"<\u202e&']) {
          const { text, html } = letter.make(site, value);
          const expected = linksOf(letter, site, line(value)).map((link) => SITE.baseUrl + link);
          const targets = [...html.matchAll(/href="([^"]*)"/g)].map(([, target]) => unescaped(target ?? ""));
          expect(targets).toEqual(expected);
          // On a line of their own, whole: a terminal or a reader of text finds the end of each.
          expect(text.split("\n").filter((row) => row.startsWith(`  ${SITE.baseUrl}`))).toEqual(
            expected.map((link) => `  ${link}`),
          );
          for (const link of expected) {
            const url = new URL(link);
            expect(url.href).toBe(url.pathname === "/" && !link.endsWith("/") ? `${link}/` : link);
            if (site.console) expect(isPage(url.pathname)).toBe(true);
            expect(url.pathname + url.search).not.toMatch(/alice|evil|%41/);
          }
        }
      },
    );
  });

  test("no value breaks out of the HTML", () => {
    const attacks = [
      `"><script>alert(1)</script>`,
      "<img src=x onerror=alert(1)>",
      "&lt;b&gt;",
      "' onmouseover='x",
      "javascript:alert(1)",
    ];
    // What a link has behind "#" may differ, up to the quotation mark.
    const tags = ({ html }: Letter): string =>
      (html.replace(/(href="[^"#]*#)[^"]*/g, "$1").match(/<\/?[a-z!][^>]*>/gi) ?? []).join("");
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

test("messages to sponsors, who know no host by its name, say who offers the service", () => {
  for (const { name, to, make } of LETTERS.filter(({ to }) => to === "sponsor")) {
    const text = plain(make({ ...SITE, brand: "Nordlys Energy" }, "bob").text);
    expect({ name, to, says: text.includes("login.example.org (Nordlys Energy)") }).toEqual({ name, to, says: true });
    expect(plain(make(SITE, "bob").text)).not.toContain("login.example.org (");
  }
});

describe("messages to users", () => {
  const all = (contact: string | undefined) =>
    [SITE, WITHOUT_PAGES].flatMap((site) =>
      LETTERS.filter(({ to }) => to === "user" || to === "supervisor").map(({ make }) =>
        make({ ...site, contact }, "bob"),
      ),
    );

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
    const user = { username: "bob", expireAt: END, status: "active", profiles: null } as const;
    const key = { name: "laptop", type: "ssh-ed25519", fingerprint: "SHA256:x" };
    for (const connectable of [
      accountCreated,
      applicationApproved,
      accountEnabled,
      accountExtended,
      (site: SiteWithKeys) => keyAdded(site, user, key),
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

  test("an end that was typed as a date is that date, in UTC", () => {
    for (const end of ["2027-06-30T23:59:59.999Z", "2027-07-01T00:00:00.000Z"]) {
      const user = { username: "bob", expireAt: new Date(end), status: "active", profiles: null } as const;
      const { subject, text } = accountExtended(SITE, user);
      expect(subject).toEndWith("now lasts until 30 June 2027");
      expect(plain(text)).toContain("Until: 30 June 2027, end of the day in UTC");
    }
  });

  test("a user who is extended while disabled is told so, and not how to connect", () => {
    const { text } = accountExtended(SITE, { username: "bob", expireAt: END, status: "disabled", profiles: null });
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
    const { subject, text, html } = oneTimeCode(SITE, { username: "alice", oneTime: "01234567", ttl: 600_000 });
    expect(text).toContain("\n    01234567\n");
    expect(text).toContain("valid for 10 minutes and works once");
    expect(html).toContain(">01234567</pre>");
    expect(subject).not.toContain("01234567");
  });
});

describe("adminReset", () => {
  const reset = { username: "root", token: "tok_123", ttl: 1_800_000 };

  test("adminReset() leads to the page that has the token, and shows the token", () => {
    const { text } = adminReset(SITE, reset);
    expect(text).toContain("\n  https://uam.example.org/reset#tok_123\n");
    expect(text).toContain("\n    tok_123\n");
    expect(plain(text)).toContain("works once, within 30 minutes.");
    expect(text).not.toContain("/api/v1");
  });

  test("adminReset() shows the token and where it goes if there are no pages", () => {
    const { text } = adminReset(WITHOUT_PAGES, reset);
    expect(text).toContain("\n    tok_123\n");
    expect(text).toContain("valid for 30 minutes");
    expect(text).toContain(
      'POST https://uam.example.org/api/v1/auth/admin/reset\n    {"token": "…", "new_password": "…"}',
    );
  });
});

describe("reviews", () => {
  test("administrators answer on the page or, where there are no pages, by a command that there is", () => {
    const review = { id: 7, scope: "all", dueAt: END, disables: true, total: 3 };
    expect(reviewStarted(SITE, review).text).toContain("\n  https://uam.example.org/admin/reviews/7\n");
    expect(reviewStarted(WITHOUT_PAGES, review).text).toContain("\n    uam review answer 7 keep USERNAME\n");
  });
});

describe("applications", () => {
  test.each(BOTH)("%s: applicationReceived() tells the administrators everything that was written", (_what, site) => {
    const application = { id: 7, username: "bob", email: "bob@x.org", supervisor: "", purpose: "a & b" };
    const { text } = applicationReceived(site, application);
    const facts = ["Username:    bob", "E-mail:      bob@x.org", "Supervisor:  -", "Purpose:     a & b"];
    for (const part of facts) expect(text).toContain(part);
    expect(text.includes("/approvals/7/review")).toBe(!site.console);
  });

  test("applicationApproved() shows the commands for curl only if there are no pages", () => {
    const user = { username: "bob", expireAt: END, profiles: null };
    expect(applicationApproved(SITE, user).text).not.toMatch(/curl|\/api\/v1/);
    expect(applicationApproved(WITHOUT_PAGES, user).text.match(/^ {4}curl /gm)).toHaveLength(4);
  });

  test("applicationApproved() says how to log in, upload a key and connect, and until when", () => {
    const { text } = applicationApproved(SITE, { username: "bob", expireAt: END, profiles: null });
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

/** Without the colon that the text has where the HTML has a button. */
function words(text: string): string[] {
  return text
    .split(/\s+/)
    .map((word) => word.replace(/:$/, ""))
    .filter((word) => word !== "");
}

function plainOf(html: string): string {
  return unescaped(html.replace(/<[^>]*>/g, " "));
}

function unescaped(html: string): string {
  const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
  return html.replace(/&(amp|lt|gt|quot|#39);/g, (_all, name: string) => entities[name] ?? "");
}

test.each(BOTH)("%s: who needs a security key is told how to make one", (_what, site) => {
  const user = { username: "alice", expireAt: END, profiles: null };
  const profile = { name: "files", kind: "sftp", directory: "/data/acme" } as const;
  const textFor = (secondFactor: "none" | "verified") =>
    accountCreated(site, { ...user, profiles: [{ ...profile, secondFactor }] }).text;
  expect(textFor("verified")).toContain("ssh-keygen -t ed25519-sk -O verify-required");
  expect(textFor("none")).not.toContain("-sk");
  const strict = { ...profile, secondFactor: "verified", attestation: "required" } as const;
  const proven = accountCreated(site, { ...user, profiles: [strict] }).text;
  expect(proven.replace(/\s+/g, " ")).toContain("get the challenge there, and make the key with the command");
  expect(proven).not.toContain("ssh-keygen -t");
  expect(accountCreated(site, user).text).toContain("ssh-keygen -t ed25519\n");
});

test("whoever may not log in to a shell is told the command for what they may do", () => {
  const user = { username: "bob", expireAt: END, status: "active" } as const;
  const letters = (...profiles: readonly HostProfile[]) =>
    [accountCreated, applicationApproved, accountEnabled, accountExtended, addressSetNow, keyAddedNow, allowedNow].map(
      (make) => make({ ...SITE, port: 2222 }, { ...user, profiles }).text,
    );
  const files = { name: "files", kind: "sftp", directory: "/data/acme", secondFactor: "none" } as const;
  for (const text of letters(files)) {
    expect(text).toContain("\n    sftp -P 2222 ext_bob@login.example.org\n");
    expect(text).not.toContain(" ssh -p");
  }
  const targets = ["db1.example.org:5432", "web1:80"];
  const tunnel = { name: "tunnel", kind: "forward", targets, secondFactor: "none" } as const;
  for (const text of letters(tunnel)) {
    expect(text).toContain(
      "\n    ssh -N -L 5432:db1.example.org:5432 -p 2222 ext_bob@login.example.org\n    ssh -N -L 8080:web1:80 -p 2222 ext_bob@login.example.org\n",
    );
    expect(plain(text)).toContain("your programs reach its target on your own computer");
  }
  // The narrower of two counts, and of two that cannot be compared none.
  const shell = { name: "all", kind: "shell", forwarding: true, secondFactor: "none" } as const;
  for (const text of letters(shell, files)) expect(text).toContain("sftp -P 2222");
  for (const text of letters(tunnel, files)) expect(text).toContain("\n    ssh -p 2222 ext_bob@login.example.org\n");
});

type Told = Parameters<typeof accountExtended>[1];
const addressSetNow = (site: SiteWithKeys, user: Told) => addressSet(site, user, { at: NOW });
const keyAddedNow = (site: SiteWithKeys, user: Told) =>
  keyAdded(site, user, { name: "laptop", type: "ssh-ed25519", fingerprint: "SHA256:x" });
const allowedNow = (site: SiteWithKeys, user: Told) => accessAllowed(site, user, { until: END, hosts: null });
