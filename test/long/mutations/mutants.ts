/** Small faults that somebody could make in a line of `src`. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import type { Random } from "../closings/random.ts";

export interface Mutant {
  /** Below src. */
  readonly path: string;
  readonly line: number;
  readonly what: string;
  readonly before: string;
  readonly after: string;
}

interface Operator {
  readonly what: string;
  readonly pattern: RegExp;
  readonly replace: string | ((...groups: string[]) => string);
}

/** What gives or takes access, and says who did what. */
const SECURITY =
  /^(agent|protocol|host|domain\/(accounts|auth|keys|hosts|wire|recovery|operation|lifecycle|users|audit|tokens|approvals)|server\/(api|web|agent)|store\/protect|shared\/(net\/client-address|work\/bounded|time\/lease|product\/ssh-key))/;
/** Texts, pages and tables, whose faults other tests find: pictures, spelling, generated documents. */
const LEFT_OUT = /(^console\/|\.generated\.|^build\/|\.d\.ts$)/;

const FLIPS: Readonly<Record<string, string>> = {
  "===": "!==",
  "!==": "===",
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "&&": "||",
  "||": "&&",
};

const OPERATORS: readonly Operator[] = [
  { what: "comparison flipped", pattern: / (===|!==|<=|>=) /, replace: (_, sign = "") => ` ${FLIPS[sign]} ` },
  { what: "bound moved", pattern: / (<|>) (?=[\w(.]+[ ;)]|\d)/, replace: (_, sign = "") => ` ${FLIPS[sign]} ` },
  { what: "and for or", pattern: / (&&|\|\|) /, replace: (_, sign = "") => ` ${FLIPS[sign]} ` },
  { what: "default dropped", pattern: /(\S+) \?\? [\w.[\](){}"']+(?=[;,)])/, replace: "$1" },
  { what: "default always", pattern: /([\w.()]+) \?\? (?=[\w.[\](){}"']+[;,)])/, replace: "" },
  { what: "negation dropped", pattern: /([( ])!(?=[\w(])/, replace: "$1" },
  { what: "constant returned", pattern: /return (true|false);/, replace: (_, value) => `return ${value !== "true"};` },
  { what: "statement dropped", pattern: /^(\s+)(await )?[\w.]+\((?:[^()]|\([^()]*\))*\);$/, replace: "$1" },
  { what: "early return dropped", pattern: /^(\s+)if \(.*\) (return|continue|throw)\b.*;$/, replace: "$1" },
];

/** All of them, in the order of files and lines. */
export function allMutants(source: string): readonly Mutant[] {
  const paths = [...new Glob("**/*.ts").scanSync({ cwd: source })].filter((path) => !LEFT_OUT.test(path)).sort();
  return paths.flatMap((path) => mutantsIn(path, readFileSync(join(source, path), "utf8")));
}

/** Those of one file: each operator at the first place of each line where it fits; comments and imports are no places. */
export function mutantsIn(path: string, text: string): readonly Mutant[] {
  return text.split("\n").flatMap((before, index) => {
    if (/^\s*(\/\/|\/?\*|import |export \{|\} from )/.test(before)) return [];
    return OPERATORS.flatMap(({ what, pattern, replace }): readonly Mutant[] => {
      const after = before.replace(pattern, replace as string);
      return after === before ? [] : [{ path, line: index + 1, what, before, after }];
    });
  });
}

/** So many different ones, files that matter for security twice as likely: with the same seed and the same source the same. */
export function drawn(mutants: readonly Mutant[], random: Random, count: number): readonly Mutant[] {
  const left = mutants.flatMap((mutant) => (SECURITY.test(mutant.path) ? [mutant, mutant] : [mutant]));
  const chosen = new Set<Mutant>();
  while (chosen.size < Math.min(count, mutants.length)) chosen.add(random.pick(left));
  return [...chosen];
}
