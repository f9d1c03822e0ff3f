import { describe, expect, test } from "bun:test";
import { nearMiss } from "../../../src/shared/text/near-miss.ts";
import { processorTime } from "../../support/hang.ts";

const FIELDS = ["username", "email", "supervisor", "purpose", "ttl_days", "status", "page", "page_size"];

describe("nearMiss()", () => {
  test.each([
    ["Email", "email"],
    ["TTL-Days", "ttl_days"],
    ["ttlDays", "ttl_days"],
    ["pageSize", "page_size"],
  ])("%p is %p but for case, _ and -", (name, meant) => {
    expect(nearMiss(name, FIELDS)).toBe(meant);
  });

  test.each([
    ["mail", "email"],
    ["emails", "email"],
    ["emial", "email"],
    ["emaol", "email"],
    ["stauts", "status"],
    ["sttaus_", "status"],
    ["statsu", "status"],
    ["purpsoe", "purpose"],
    ["supervsr", "supervisor"],
    ["ttl_dyas", "ttl_days"],
    ["usrnam", "username"],
    ["pages", "page"],
  ])("%p is %p with few typos", (name, meant) => {
    expect(nearMiss(name, FIELDS)).toBe(meant);
  });

  test.each([
    ["ttl", "ttl_days"],
    ["ttl_", "ttl_days"],
    ["sup", "supervisor"],
    ["user", "username"],
    ["Stat", "status"],
  ])("%p is the beginning of %p", (name, meant) => {
    expect(nearMiss(name, FIELDS)).toBe(meant);
  });

  test.each([
    ["comment"],
    ["tt"],
    [""],
    ["_"],
    ["emal_address"],
    ["stxuxs"],
    ["mial"],
    ["usernames_of_all"],
    ["__proto__"],
    ["😀"],
  ])("%p looks like none of them", (name) => {
    expect(nearMiss(name, FIELDS)).toBeUndefined();
  });

  test("a known name is not a near miss, however near another is", () => {
    expect(nearMiss("page", FIELDS)).toBeUndefined();
    expect(nearMiss("page_size", FIELDS)).toBeUndefined();
  });

  test("the nearest is meant, then the first", () => {
    expect(nearMiss("create", ["created", "create_user"])).toBe("created");
    expect(nearMiss("tine", ["time", "line"])).toBe("time");
  });

  test("a name of any length is checked in no time", async () => {
    const spent = await processorTime(() => expect(nearMiss("x".repeat(60_000), FIELDS)).toBeUndefined());
    expect(spent).toBeLessThan(100);
  });
});
