/** The host's problems as reported to the service: bounded, the worst first. */

import { type HostProblem, MAX_PROBLEMS, MAX_TEXT, PROBLEM_KINDS } from "../protocol/fleet.ts";
import type { Drift } from "../protocol/host.ts";
import { type AccountRecord, keyOf } from "./records.ts";

/** The problem of a difference; those that the record has itself are left to it. */
export function problemOf({ account, kind, problem, repaired }: Drift): HostProblem {
  const text = clipped(repaired ? `${problem}; it was repaired` : problem);
  switch (kind) {
    case "missing":
      return { account, kind: "missing", text };
    case "foreign":
      return { account, kind: "conflict", text };
    case "failed":
      // A problem without an account was not refused to anybody.
      return { account, kind: account === "" ? "finding" : "refused", text };
    case "key_refused":
      return { account, kind: "refused", text };
    case "stray":
      // A lasting problem is found again each minute, in other words.
      return { account: "", kind: repaired ? "drift" : "finding", text };
    case "trash":
      return { account: "", kind: "finding", text };
    default:
      return { account, kind: "drift", text };
  }
}

/** Those of accounts that had no such problem before. */
export function newProblems(before: readonly AccountRecord[], after: readonly AccountRecord[]): readonly HostProblem[] {
  const known = new Set(before.map((record) => `${keyOf(record)} ${record.problem?.text}`));
  return after.flatMap((record) => {
    const { name, problem } = record;
    return problem === undefined || known.has(`${keyOf(record)} ${problem.text}`)
      ? []
      : [{ account: name, ...problem }];
  });
}

/** Something about the host itself. */
export function findingOf(text: string): HostProblem {
  return { account: "", kind: "finding", text: clipped(text) };
}

/** All of them, sorted by how much they matter; `whole` is false where not all that was refused can be named. */
export function problemList(
  records: readonly AccountRecord[],
  others: readonly HostProblem[],
): { readonly problems: readonly HostProblem[]; readonly whole: boolean } {
  const own = records.flatMap(({ name, problem }) =>
    problem === undefined ? [] : [{ account: name, kind: problem.kind, text: clipped(problem.text) }],
  );
  const known = new Set(own.map(({ account, kind }) => `${kind} ${account}`));
  const all = [...own, ...others.filter(({ account, kind }) => account === "" || !known.has(`${kind} ${account}`))];
  const sorted = all.toSorted((a, b) => rank(a) - rank(b) || (a.account < b.account ? -1 : 1));
  if (sorted.length <= MAX_PROBLEMS) return { problems: sorted, whole: true };
  const shown = sorted.slice(0, MAX_PROBLEMS - 1);
  const left = sorted.slice(MAX_PROBLEMS - 1);
  const more: HostProblem = { account: "", kind: "finding", text: `${left.length} more problems` };
  return { problems: [...shown, more], whole: !left.some(({ kind }) => kind === "refused") };
}

const ORDER: readonly HostProblem["kind"][] = ["refused", ...PROBLEM_KINDS.filter((kind) => kind !== "refused")];

function rank({ kind }: HostProblem): number {
  return ORDER.indexOf(kind);
}

function clipped(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1)}…`.replace(/[\uD800-\uDBFF]…$/, "…");
}
