/** A token as it is typed on its page. */

import { describe, expect, test } from "bun:test";
import { isTokenName, networksIn, tokenDays } from "../../src/console/pages/admin/tokens/wanted.ts";
import { includesRole } from "../../src/shared/product/role-order.ts";
import { ADMIN_ROLES } from "../../src/shared/product/statuses.ts";

test("tokenDays() takes 1 to 366", () => {
  expect(["1", " 90 ", "366", "007"].map(tokenDays)).toEqual([1, 90, 366, 7]);
  expect(["", "0", "367", "-1", "1.5", "1e2", "9999", "ninety"].map(tokenDays)).toEqual(Array(8).fill(undefined));
});

test("isTokenName() counts characters as people do", () => {
  expect(["x", "é".repeat(64), "😀".repeat(64)].every(isTokenName)).toBe(true);
  expect(["", "  ", "x".repeat(65)].some(isTokenName)).toBe(false);
});

test("networksIn() takes one a line, or with commas between them", () => {
  expect(networksIn(" 192.0.2.0/24\r\n2001:db8::/32,10.0.0.0/8 ; ")).toEqual([
    "192.0.2.0/24",
    "2001:db8::/32",
    "10.0.0.0/8",
  ]);
  expect(networksIn(" \n")).toEqual([]);
});

describe("includesRole()", () => {
  test.each([
    ["owner", "owner operator reviewer auditor"],
    ["operator", "operator reviewer"],
    ["reviewer", "reviewer"],
    ["auditor", "auditor"],
  ] as const)("%s includes %s", (own, included) => {
    expect(ADMIN_ROLES.filter((role) => includesRole(own, role)).join(" ")).toBe(included);
  });
});
