import { describe, expect, test } from "bun:test";
import { problemList } from "../../src/agent/problems.ts";
import { type HostProblem, MAX_PROBLEMS, PROBLEM_KINDS } from "../../src/protocol/fleet.ts";

const problem = (kind: HostProblem["kind"], account = "ext_a"): HostProblem => ({ account, kind, text: "x" });

describe("problemList()", () => {
  test("what was refused comes first, the other kinds in their order, and within a kind by account", () => {
    const kinds = ["finding", "drift", "missing", "refused", "conflict"] as const;
    const { problems } = problemList(
      [],
      kinds.flatMap((kind) => [problem(kind, "ext_b"), problem(kind)]),
    );
    const order = ["refused", ...PROBLEM_KINDS.filter((kind) => kind !== "refused")];
    expect(problems.map(({ kind, account }) => `${kind} ${account}`)).toEqual(
      order.flatMap((kind) => [`${kind} ext_a`, `${kind} ext_b`]),
    );
  });

  test("where there are too many, what matters least is left out and counted; it says whether a refusal is among that", () => {
    const many = (kind: HostProblem["kind"], count: number) =>
      Array.from({ length: count }, (_, index) => problem(kind, `ext_${String(index).padStart(4, "0")}`));
    const some = problemList([], [...many("drift", MAX_PROBLEMS), problem("refused")]);
    expect([some.whole, some.problems.length, some.problems[0]?.kind]).toEqual([true, MAX_PROBLEMS, "refused"]);
    expect(some.problems.at(-1)).toEqual({ account: "", kind: "finding", text: "2 more problems" });
    expect(problemList([], many("refused", MAX_PROBLEMS + 1)).whole).toBe(false);
    expect(problemList([], many("refused", MAX_PROBLEMS))).toMatchObject({
      whole: true,
      problems: { length: MAX_PROBLEMS },
    });
  });
});
