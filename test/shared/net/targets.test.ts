import { describe, expect, test } from "bun:test";
import { MAX_TARGETS, parseTargets } from "../../../src/shared/net/targets.ts";

describe("parseTargets()", () => {
  test("has one form for each target, each once", () => {
    const given = [
      "DB1.example.org:5432",
      "db1.example.org:5432",
      "192.0.2.7:22",
      "[2001:DB8:0::7]:443",
      "localhost:80",
    ];
    expect(parseTargets(given)).toEqual(["db1.example.org:5432", "192.0.2.7:22", "[2001:db8::7]:443", "localhost:80"]);
  });

  test("refuses what sshd would read as anything else, naming it", () => {
    const wrong = [
      "*:22",
      "db1:*",
      "any",
      "none",
      "db1",
      "db1:0",
      "db1:65536",
      "db1:022",
      "a b:1",
      "db1:1 permitopen",
      ":22",
    ];
    const more = [
      "2001:db8::7:443",
      "[fe80::1%eth0]:22",
      "[db1]:22",
      "256.0.0.1:22",
      "127.1:22",
      "0x7f.1:22",
      "a..b:1",
      "-a:1",
      "é:1",
    ];
    for (const text of [...wrong, ...more, 'a":1', "a%:1", "a\n:1"]) {
      expect(() => parseTargets(["db1:1", text])).toThrow(JSON.stringify(text));
    }
    expect(() => parseTargets(Array.from({ length: MAX_TARGETS + 1 }, (_, at) => `h${at}:1`))).toThrow(
      "More than 100 targets",
    );
  });
});
