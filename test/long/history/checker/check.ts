/** What is wrong in a history, and for each finding the shortest part of the history that shows it. */

import type { Line } from "../format.ts";
import { type History, readHistory } from "./history.ts";
import { type Finding, judge, RULES, type Rule } from "./judge.ts";

export interface Violation {
  readonly rule: Rule;
  /** What the rule says, and what happened. */
  readonly says: string;
  /** Lines of the history, which alone still show it: without any of its deeds they do not. */
  readonly witness: readonly Line[];
}

/** Of one rule, so many get a witness: whoever has seen these has seen the fault. */
const SHOWN = 3;

/** All violations of the model, none if the history is one that the model allows. Throws for what is no history of this version. */
export function check(lines: readonly Line[]): readonly Violation[] {
  const history = readHistory(lines);
  const first = lines.filter(({ e }) => e === "start");
  const byNumber = Map.groupBy(lines, (line) => (line.e === "start" ? 0 : line.n));
  const shown = new Map<Rule, number>();
  return judge(history).map((finding) => {
    const times = shown.get(finding.rule) ?? 0;
    shown.set(finding.rule, times + 1);
    const kept = times < SHOWN ? shortest(history, finding) : new Set([finding.n]);
    const witness = [...kept].sort((one, other) => one - other).flatMap((n) => byNumber.get(n) ?? []);
    const inOrder = witness.toSorted((one, other) => timeOf(one) - timeOf(other));
    return { rule: finding.rule, says: saying(history, finding), witness: [...first, ...inOrder] };
  });
}

/** A violation as people read it: what it says, then a line for each of its witness. */
export function textOf({ rule, says, witness }: Violation): string {
  return [`${rule}: ${says}`, ...witness.map((line) => `    ${JSON.stringify(line)}`)].join("\n");
}

function saying({ malformed }: History, { rule, n }: Finding): string {
  return rule === "malformed" ? malformed.slice(0, 5).join("; ") : `${n}: ${RULES[rule]}`;
}

function timeOf(line: Line): number {
  return line.e === "start" ? 0 : line.t;
}

/** The numbers of deeds that show the finding, none of which can be left out. */
function shortest(history: History, finding: Finding): ReadonlySet<number> {
  if (finding.rule === "malformed") return new Set();
  const { deeds } = history;
  const cause = deeds.find(({ n }) => n === finding.n);
  if (cause === undefined) return new Set([finding.n]);
  const shows = (kept: readonly number[]) => {
    const set = new Set(kept);
    const part = { ...history, deeds: deeds.filter(({ n }) => set.has(n)) };
    return judge(part).some(({ rule, n }) => rule === finding.rule && n === finding.n);
  };
  const isAbout = (deed: (typeof deeds)[number]) =>
    deed.do !== "login" &&
    (("user" in deed && "user" in cause && deed.user === cause.user) ||
      ("host" in deed && "host" in cause && deed.host === cause.host) ||
      !("user" in deed || "host" in deed));
  const named = [...new Set([...finding.because, finding.n])];
  const about = [...new Set([...deeds.filter(isAbout).map(({ n }) => n), ...named])].sort((a, b) => a - b);
  const all = deeds.filter(({ invoked }) => invoked <= cause.ended).map(({ n }) => n);
  const first = [named, about, all].find(shows);
  return new Set(first === undefined ? [finding.n] : reduced(first, shows));
}

/** Leaves out ever smaller pieces, as long as the rest still shows it (delta debugging), until none can be left out. */
function reduced(all: readonly number[], shows: (kept: readonly number[]) => boolean): readonly number[] {
  let kept = [...all];
  for (let size = Math.ceil(kept.length / 2); size >= 1; ) {
    const before = kept.length;
    for (let at = 0; at < kept.length; ) {
      const rest = [...kept.slice(0, at), ...kept.slice(at + size)];
      if (shows(rest)) kept = rest;
      else at += size;
    }
    if (size > 1) size = Math.ceil(size / 2);
    else if (kept.length === before) break;
  }
  return kept;
}
