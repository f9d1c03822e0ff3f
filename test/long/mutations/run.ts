/**
 * Small faults drawn at random in `src`, each tried by the tests that name its file: one that none of them finds is printed.
 * `bun run test:long mutations [--seed N] [--count N] [--minutes N] [--at N]`; `--at` begins with the Nth of the seed. Exit code 1 if any survived.
 */

import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { Glob } from "bun";
import { createRandom } from "../closings/random.ts";
import { allMutants, drawn, type Mutant } from "./mutants.ts";

const PROJECT = join(import.meta.dir, "../../..");
const COPIED = [
  "src",
  "test",
  "drizzle",
  "docs",
  "package.json",
  "tsconfig.json",
  "bunfig.toml",
  "redocly.yaml",
  "README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "Containerfile",
];
/** Fewer tell as much, in less time. */
const MOST_TESTS = 12;
/** A mutant that makes a test hang is found. */
const PATIENCE = 240_000;

/** `unjudged`: the test that failed does so without the mutant, too. */
type Outcome = "found" | "SURVIVED" | "no test" | "unjudged";

interface Trial {
  readonly outcome: Outcome;
  /** The first test that failed, or how it ended without one. */
  readonly by: string;
}

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    count: { type: "string", default: "100" },
    minutes: { type: "string", default: "240" },
    at: { type: "string", default: "0" },
  },
});
const begin = performance.now();
const seed = Number(values.seed);
const source = join(PROJECT, "src");
const mutants = drawn(allMutants(source), createRandom(seed), Number(values.count)).slice(Number(values.at));
const copy = mkdtempSync(join(tmpdir(), "uam-mutations-"));
const counts: Record<Outcome, number> = { found: 0, SURVIVED: 0, "no test": 0, unjudged: 0 };
/** Why a test file fails as it is, by its path; undefined if it does not. */
const failures = new Map<string, string | undefined>();
try {
  for (const name of COPIED) cpSync(join(PROJECT, name), join(copy, name), { recursive: true });
  symlinkSync(join(PROJECT, "node_modules"), join(copy, "node_modules"));
  console.log(`seed ${seed}: ${mutants.length} mutants`);
  for (const mutant of mutants) {
    if (performance.now() - begin > Number(values.minutes) * 60_000) break;
    const { outcome, by } = tried(mutant);
    counts[outcome]++;
    console.log(`${outcome.padEnd(8)} src/${mutant.path}:${mutant.line} ${mutant.what}; ${by}`);
    if (outcome !== "found") console.log(`         - ${mutant.before.trim()}\n         + ${mutant.after.trim()}`);
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
const minutes = ((performance.now() - begin) / 60_000).toFixed(1);
console.log(`${JSON.stringify(counts)} in ${minutes} minutes; the same again: --seed ${seed} --count ${values.count}`);
process.exitCode = counts.SURVIVED > 0 ? 1 : 0;

/** First without what takes long: most are found by that. */
function tried(mutant: Mutant): Trial {
  const tests = testsOf(mutant.path);
  if (tests.length === 0) return { outcome: "no test", by: "" };
  const file = join(copy, "src", mutant.path);
  const whole = readFileSync(file, "utf8");
  const lines = whole.split("\n");
  lines[mutant.line - 1] = mutant.after;
  writeFileSync(file, lines.join("\n"));
  let failure: Failure | undefined;
  try {
    failure = failureOf(tests, { UAM_TEST_QUICK: "1" }) ?? failureOf(tests, {});
    const error = failure === undefined ? typeError() : undefined;
    if (error !== undefined) return { outcome: "found", by: error };
  } finally {
    writeFileSync(file, whole);
  }
  if (failure === undefined) return { outcome: "SURVIVED", by: tests.join(" ") };
  const usual = failure.file === undefined ? undefined : usualFailure(failure.file);
  return usual === undefined ? { outcome: "found", by: failure.by } : { outcome: "unjudged", by: usual };
}

/** What fails in that file without any mutant: then its failure says nothing about one. */
function usualFailure(file: string): string | undefined {
  if (!failures.has(file)) failures.set(file, failureOf([file], {})?.by);
  return failures.get(file);
}

/** What no test finds may be nothing that could be committed. */
function typeError(): string | undefined {
  const tsc = join(copy, "node_modules/.bin/tsc");
  const { status, stdout } = spawnSync(tsc, ["--noEmit"], { cwd: copy, encoding: "utf8" });
  return status === 0 ? undefined : (stdout.split("\n")[0] ?? "tsc");
}

interface Failure {
  /** The first test that failed, or how it ended without one. */
  readonly by: string;
  /** Whose test it is; undefined if it ended without one. */
  readonly file: string | undefined;
}

function failureOf(tests: readonly string[], environment: Readonly<Record<string, string>>): Failure | undefined {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["test", "--timeout", "60000", "--bail", ...tests], {
    cwd: copy,
    env: { ...process.env, ...environment },
    encoding: "utf8",
    maxBuffer: 1 << 28,
    timeout: PATIENCE,
    killSignal: "SIGKILL",
  });
  if (status === 0) return undefined;
  const said = `${stdout}\n${stderr}`;
  const by = /^\(fail\) .*/m.exec(said)?.[0];
  if (by === undefined) return { by: `it ended with ${status}`, file: undefined };
  const before = said.slice(0, said.indexOf(by));
  const file = [...before.matchAll(/^(test\/\S+\.test\.ts):$/gm)].at(-1)?.[1];
  return { by, file: file === undefined ? undefined : `./${file}` };
}

/** Those that import the file, or are called as it is; else all of the directory that mirrors its own. None that needs a host or a browser. */
function testsOf(path: string): readonly string[] {
  const all = [...new Glob("test/**/*.test.ts").scanSync({ cwd: copy })]
    .filter((test) => !/\.(host|browser)\.test\.ts$|^test\/(long|debian|bench)\//.test(test))
    .sort();
  const own = `test/${path.replace(/\.ts$/, ".test.ts")}`;
  const names = all.filter((test) => test === own || readFileSync(join(copy, test), "utf8").includes(`src/${path}"`));
  const beside = all.filter((test) => dirname(test) === join("test", dirname(path)));
  const named = names.length > 0 ? names : beside;
  // A test of the same name first: it is most likely to find it.
  const isClose = (test: string) => basename(test).startsWith(basename(path, ".ts"));
  return [...named.filter(isClose), ...named.filter((test) => !isClose(test))]
    .slice(0, MOST_TESTS)
    .map((test) => `./${test}`);
}
