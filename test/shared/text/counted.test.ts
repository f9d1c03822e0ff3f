import { expect, test } from "bun:test";
import { counted, namedUpTo } from "../../../src/shared/text/counted.ts";

test("a number with its noun", () => {
  expect([counted(1, "user"), counted(2, "user"), counted(0, "user")]).toEqual(["1 user", "2 users", "0 users"]);
});

test("names, the first of many, and how many more there are", () => {
  const names = ["web1", "web2", "web3"];
  expect([2, 3, 4].map((most) => namedUpTo(most, names))).toEqual([
    "web1, web2 and 1 more",
    "web1, web2, web3",
    "web1, web2, web3",
  ]);
  expect(namedUpTo(2, [])).toBe("");
});
