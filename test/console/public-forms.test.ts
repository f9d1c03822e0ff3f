/** What the public forms find wrong before anything is sent: never what the service would take, and each thing that it would not. */

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { faultsOf, leftOf, refusedField, sentOf } from "../../src/console/pages/public/application.ts";
import { passwordFault } from "../../src/console/pages/public/new-password.ts";
import {
  MAX_FULL_NAME,
  MAX_PURPOSE,
  MAX_SUPERVISOR,
  parseEmail,
  parseText,
  parseUsername,
} from "../../src/domain/accounts/username.ts";
import { checkPassword } from "../../src/domain/auth/administrators/passwords.ts";
import { MAX_HOURS_WISH } from "../../src/shared/text/person.ts";

const GOOD = {
  username: "alice",
  email: "alice@example.org",
  full_name: "",
  supervisor: "",
  sponsor_email: "",
  purpose: "",
  hours_wish: "",
};

function isTaken(parse: () => void): boolean {
  try {
    parse();
    return true;
  } catch {
    return false;
  }
}

function sentenceOf(parse: () => void): string {
  try {
    parse();
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
}

describe("an application", () => {
  test("is sent as the service wants it", () => {
    const typed = {
      username: " Alice ",
      email: " a@b.org\n",
      full_name: " A\tLi ",
      supervisor: " Bo  Li ",
      sponsor_email: " bo@b.org ",
      purpose: "One\r\ntwo\tthree\u2028four ",
      hours_wish: " Tue\n8 to 18",
    };
    expect(faultsOf(typed)).toEqual({});
    expect(sentOf(typed)).toEqual({
      username: "alice",
      email: "a@b.org",
      full_name: "A Li",
      supervisor: "Bo Li",
      sponsor_email: "bo@b.org",
      purpose: "One two three four",
      hours_wish: "Tue 8 to 18",
    });
  });

  test("names each field that is wrong", () => {
    const names = { username: "", full_name: "\u200B", supervisor: "x".repeat(129) };
    const wrong = { ...names, email: "", sponsor_email: "bo", purpose: "\u202Eabc", hours_wish: "\u202Eabc" };
    expect(Object.keys(faultsOf(wrong))).toEqual([
      ...["username", "email", "full_name", "supervisor", "sponsor_email", "purpose", "hours_wish"],
    ]);
    expect(faultsOf({ ...GOOD, username: "ext_alice" }).username).toContain("ext_");
    expect(faultsOf({ ...GOOD, purpose: "\u2800\u200B" }).purpose).toBeDefined();
    expect(faultsOf({ ...GOOD, purpose: "\uD800" }).purpose).toBeDefined();
  });

  test("counts characters as the service does", () => {
    expect(leftOf("")).toBe(MAX_PURPOSE);
    expect(leftOf("👍".repeat(10))).toBe(MAX_PURPOSE - 10);
    expect(faultsOf({ ...GOOD, purpose: "👍".repeat(MAX_PURPOSE) })).toEqual({});
    expect(faultsOf({ ...GOOD, purpose: "👍".repeat(MAX_PURPOSE + 1) }).purpose).toBeDefined();
  });

  test("shows at its field what the service finds wrong all the same", () => {
    const refused = { username: "A", email: "x", full_name: "\u202E", supervisor: "\u202E", purpose: "\u202E" };
    const parsers = {
      username: () => parseUsername(refused.username),
      email: () => parseEmail(refused.email),
      full_name: () => parseText("full name", refused.full_name, MAX_FULL_NAME),
      supervisor: () => parseText("supervisor", refused.supervisor, MAX_SUPERVISOR),
      purpose: () => parseText("purpose", refused.purpose, MAX_PURPOSE),
    };
    const wished = sentenceOf(() => parseText("hours", "\u202E", MAX_HOURS_WISH));
    expect(refusedField(wished)).toEqual({ hours_wish: `${wished}.` });
    for (const [name, parse] of Object.entries(parsers)) {
      const sentence = sentenceOf(parse);
      expect(refusedField(sentence)).toEqual({ [name]: `${sentence}.` });
    }
    expect(refusedField("Too many applications are waiting")).toBeUndefined();
  });

  test("is right here exactly if the service takes what is sent", () => {
    const unit = fc.oneof(
      fc.constantFrom("a", "-", "_", "@", ".", "é", "e\u0301", "\u202E", "\u200B", "\n", " "),
      fc.string(),
    );
    const text = fc.array(unit, { maxLength: 40 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(
        fc.record({
          username: text,
          email: text,
          full_name: text,
          supervisor: text,
          sponsor_email: text,
          purpose: text,
          hours_wish: text,
        }),
        (typed) => {
          const faults = faultsOf(typed);
          const sent = sentOf(typed);
          expect(faults.username === undefined).toBe(isTaken(() => parseUsername(sent.username)));
          expect(faults.email === undefined).toBe(isTaken(() => parseEmail(sent.email)));
          expect(faults.full_name === undefined).toBe(isTaken(() => parseText("", sent.full_name, MAX_FULL_NAME)));
          expect(faults.supervisor === undefined).toBe(isTaken(() => parseText("", sent.supervisor, MAX_SUPERVISOR)));
          expect(faults.hours_wish === undefined).toBe(isTaken(() => parseText("", sent.hours_wish, MAX_HOURS_WISH)));
          const { sponsor_email: sponsor } = sent;
          expect(faults.sponsor_email === undefined).toBe(sponsor === "" || isTaken(() => parseEmail(sponsor)));
          expect(faults.purpose === undefined).toBe(isTaken(() => parseText("", sent.purpose, MAX_PURPOSE)));
        },
      ),
      { numRuns: 1000 },
    );
  });
});

test("a password's length is measured as the service does", () => {
  for (const length of [0, 1, 14, 15, 255, 256, 257]) {
    const letters = Array.from({ length }, (_, index) => String.fromCodePoint(0x3a0 + index));
    const password = `e\u0301${letters.join("")}`.slice(0, length === 0 ? 0 : length + 1);
    expect(passwordFault(password) === undefined).toBe(isTaken(() => checkPassword(password, "")));
  }
});
