import { describe, expect, test } from "bun:test";
import { isLike } from "../../src/console/like.ts";

describe("isLike", () => {
  test.each([
    ["status", "status"],
    ["Status", "status"],
    ["user-id", "user_id"],
    ["stauts", "status"],
    ["statu", "status"],
    ["statuss", "status"],
    ["stetus", "status"],
    ["tatus", "status"],
    ["lgoin", "login"],
    ["logni", "login"],
  ])("isLike() takes %s for %s", (given, known) => {
    expect([isLike(given, known), isLike(known, given)]).toEqual([true, true]);
  });

  test.each([
    ["stages", "status"],
    ["sort", "status"],
    ["", "status"],
    ["utm_source", "status"],
    ["statusstatus", "status"],
  ])("isLike() does not take %s for %s", (given, known) => {
    expect([isLike(given, known), isLike(known, given)]).toEqual([false, false]);
  });
});
