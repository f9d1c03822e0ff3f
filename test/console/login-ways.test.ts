/** Which login is shown, what a mailed link fills in, and where a login leads: never to another site. */

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  codeOf,
  loginUrl,
  mailedCode,
  mailedName,
  nameOf,
  nextOf,
  wayOf,
} from "../../src/console/pages/public/login/ways.ts";
import { isPage } from "../../src/shared/product/pages.ts";

describe("which login", () => {
  const cases = [
    [{}, null, "user"],
    [{}, "admin", "admin"],
    [{}, "user", "user"],
    [{}, "something", "user"],
    [{ as: "admin" }, "user", "admin"],
    [{ as: "user" }, "admin", "user"],
    [{ as: "root" }, "admin", "admin"],
    [{ step: "code" }, "admin", "user"],
    [{ next: "/admin/users?q=a" }, "user", "admin"],
    [{ next: "/me/keys" }, "admin", "user"],
    [{ next: "/me/keys", as: "admin" }, null, "admin"],
    [{ next: "//evil.example/admin" }, "user", "user"],
    [{ next: "/apply" }, "admin", "admin"],
  ] as const;
  for (const [query, remembered, way] of cases) {
    test(`${JSON.stringify(query)} after ${remembered} is ${way}`, () => {
      expect(wayOf(query, remembered)).toBe(way);
    });
  }

  test("another address of the login leads to the same page", () => {
    expect(loginUrl({ as: "user", step: "code" }, { next: "/me/keys?a=b&c" })).toBe(
      "/login?as=user&step=code&next=%2Fme%2Fkeys%3Fa%3Db%26c",
    );
    expect(loginUrl({ as: "admin" }, {})).toBe("/login?as=admin");
  });
});

describe("where a login leads", () => {
  test("to the page that was asked for, with its query", () => {
    expect(nextOf("/me/keys", "user")).toBe("/me/keys");
    expect(nextOf("/admin/users/7?tab=keys&x=%2F", "admin")).toBe("/admin/users/7?tab=keys&x=%2F");
    expect(nextOf("/admin/../me", "user")).toBe("/me");
  });

  const refused = [
    undefined,
    "",
    "me",
    "/login",
    "/apply",
    "/nope",
    "/men",
    "/admin/users/alice",
    "//evil.example",
    "//evil.example/admin",
    "///evil.example/me",
    "/\\evil.example/me",
    "\\/evil.example/me",
    "/\t/evil.example/me",
    "/\n/evil.example/me",
    "\t//evil.example/me",
    " //evil.example/me",
    "/.//evil.example/me",
    "/..//evil.example/me",
    "/%2F/evil.example/me",
    "https://evil.example/me",
    "https:/me",
    "https:me",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)//me",
    "data:text/html,<script>alert(1)</script>",
    "blob:https://evil.example/me",
    "http://console.invalid:81/me",
    "/@evil.example",
    "/me@evil.example",
    "/me:80@evil.example/",
    "\u0000/me",
    "/\uFF0Fevil.example/me",
  ];
  for (const next of refused) {
    test(`${JSON.stringify(next)} is the kind's first page`, () => {
      expect(nextOf(next, "user")).toBe("/me");
      expect(nextOf(next, "admin")).toBe("/admin");
    });
  }

  test("a page for the other kind is none for this one", () => {
    expect(nextOf("/admin/users", "user")).toBe("/me");
    expect(nextOf("/me/keys", "admin")).toBe("/admin");
  });

  test("whatever is asked for: on this site, a page, and for this kind", () => {
    const part = fc.constantFrom(
      "/",
      "//",
      "\\",
      "me",
      "admin",
      "..",
      ".",
      "evil.example",
      "https:",
      "@",
      "%2f",
      "\t",
      "?",
      "#",
    );
    const address = fc.oneof(
      fc.webUrl(),
      fc.string(),
      fc.array(part).map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(address, fc.constantFrom("admin", "user"), (next, kind) => {
        const target = new URL(nextOf(next, kind), "https://uam.example");
        expect(target.origin).toBe("https://uam.example");
        expect(isPage(target.pathname)).toBe(true);
        expect(target.pathname.startsWith(kind === "admin" ? "/admin" : "/me")).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("a mailed link", () => {
  test("has name and code", () => {
    expect(mailedCode("#alice.12345678")).toEqual({ name: "alice", code: "12345678" });
    expect(mailedCode("#ext_alice-b.00000001")).toEqual({ name: "alice-b", code: "00000001" });
    expect(mailedCode("#alice.1234%205678")).toEqual({ name: "alice", code: "12345678" });
  });

  test("that was cut off has the name", () => {
    expect(mailedCode("#alice.1234")).toEqual({ name: "alice", code: "" });
    expect(mailedCode("#alice.")).toEqual({ name: "alice", code: "" });
  });

  for (const other of [
    "",
    "#",
    "#content",
    "#.12345678",
    "#a b.12345678",
    "#%E0%A4%A.1",
    "#<b>.12345678",
    `#${"a".repeat(99)}.1`,
  ]) {
    test(`is not ${other}`, () => {
      expect(mailedCode(other)).toBeUndefined();
    });
  }
});

test("a mailed link without a code brings the name along", () => {
  expect(mailedName("#alice")).toBe("alice");
  expect(mailedName("#ext_alice-b")).toBe("alice-b");
  for (const other of ["", "#", "#content", "#alice.12345678", "#alice.", "#a b", "#%E0%A4%A", "#<b>"]) {
    expect(mailedName(other)).toBeUndefined();
  }
});

test("a name is what somebody means by it", () => {
  expect(nameOf(" Alice ")).toBe("alice");
  expect(nameOf("ext_alice")).toBe("alice");
  expect(nameOf("EXT_alice")).toBe("alice");
  for (const none of ["", " ", "a b", "alice@example.org", "-a", "ältere", "a".repeat(29)]) {
    expect(nameOf(none)).toBeUndefined();
  }
});

test("a code is eight digits, however they are grouped", () => {
  for (const typed of ["12345678", " 1234 5678\n", "1234-5678", "12‑34–56—78", "1 2 3 4 5 6 7 8"]) {
    expect(codeOf(typed)).toBe("12345678");
  }
  for (const none of ["", "1234567", "123456789", "1234567a", "１２３４５６７８"]) expect(codeOf(none)).toBeUndefined();
});
