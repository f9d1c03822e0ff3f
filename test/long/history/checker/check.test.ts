/** The checker finds each wrong history, shows it by its shortest part, and has nothing against the right one beside it. */

import { describe, expect, test } from "bun:test";
import type { Line } from "../format.ts";
import { check } from "./check.ts";
import { ALICE, linesOf, login, ok, revoke, START } from "./written.ts";
import { CASES } from "./wrong.ts";

describe("check()", () => {
  test.each(CASES.map((each) => [each.about, each] as const))("%s", (_, { rule, wrong, right, shortest }) => {
    const found = check(linesOf(wrong));
    expect(found.map((violation) => violation.rule)).toEqual([rule]);
    const [{ witness } = { witness: [] }] = found;
    expect(witness.filter(({ e }) => e === "invoke")).toHaveLength(shortest);
    // It shows the same by itself, and nothing of it can be left out.
    expect(check(witness).map((violation) => violation.rule)).toContain(rule);
    for (const each of witness.filter(({ e }) => e === "invoke")) {
      const rest = witness.filter((line) => line.e === "start" || !("n" in each) || line.n !== each.n);
      expect(check(rest).map((violation) => violation.rule)).not.toContain(rule);
    }
    expect(check(linesOf(right))).toEqual([]);
  });

  test("knows wrong histories of at least 30 kinds", () => {
    expect(CASES.length).toBeGreaterThanOrEqual(30);
  });

  const invoke = { e: "invoke", n: 1, t: 10, process: "p", do: "backup" } as const;
  const end = { e: "ok", n: 1, t: 20 } as const;
  test.each<[string, readonly Line[]]>([
    ["an end without a beginning", [end]],
    ["two ends", [invoke, end, end]],
    ["one number twice", [invoke, end, { ...invoke, t: 30 }]],
    ["time that goes back", [invoke, { ...end, t: 5 }]],
    ["a process that does two things at once", [invoke, { ...invoke, n: 2 }, end]],
    ["a host that there is not", [{ ...invoke, do: "cut", host: "h3" }]],
    ["two first lines", [START]],
  ])("refuses %s", (_, lines) => {
    expect(check([START, ...lines]).map(({ rule }) => rule)).toEqual(["malformed"]);
  });

  test("throws for what is no history", () => {
    expect(() => check([])).toThrow("The first line is not that of a history");
  });

  test("takes time in proportion to the logins, and shows the first findings of a rule only", () => {
    const logins = Array.from({ length: 20_000 }, (_, index) => ok(400 + index, 401 + index, login("h1")));
    const found = check(linesOf([...ALICE, ok(200, 300, revoke()), ...logins]));
    expect(found).toHaveLength(20_000);
    expect(found.map(({ witness }) => witness.length).slice(0, 5)).toEqual([9, 9, 9, 3, 3]);
  });
});
