import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { PATHS } from "./hot-paths.ts";
import { lost, RECORDED } from "./recorded.ts";

/** Only Bun, without which no benchmark starts. */
const BARE = { PATH: "/nonexistent" };

function bench(args: readonly string[], env: Record<string, string> = BARE) {
  const program = join(import.meta.dir, "run.ts");
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { env, encoding: "utf8" });
  return { status, stdout, stderr };
}

describe("bun run bench", () => {
  test("--help names every benchmark", () => {
    const { status, stdout, stderr } = bench(["--help"]);
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toStartWith("Usage: bun run bench [NAME...]");
    expect(stdout).toContain("requests, key-changes, start, size, flood");
    expect(stdout).toMatch(/By name only[^\n]*\n {2}guard\n/);
    expect(stdout).toMatch(/which can:\n {14}hot-paths, fleet-single\n/);
  });

  test("says in a sentence what is missing, and how to get it, before it measures anything", () => {
    const { status, stdout, stderr } = bench(["start", "export"]);
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("wrk is missing. wrk makes the load: apt-get install wrk\n");
    expect(stderr).toContain("psql is missing. ");
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(bench([]).stderr).toContain("wrk is missing. ");
  });

  test("wrong use is a sentence and the usage, with exit code 2", () => {
    const mistakes = {
      frob: 'There is no benchmark "frob".',
      "--rows=0": "BENCH_ROWS is not a whole number",
      "--frob": "'--frob'",
      "--against=HEAD append": "append cannot compare two commits.",
    };
    for (const [argument, sentence] of Object.entries(mistakes)) {
      const { status, stdout, stderr } = bench(argument.split(" "));
      expect([argument, status, stdout]).toEqual([argument, 2, ""]);
      expect(stderr).toContain(sentence);
      expect(stderr).toContain("\n\nUsage: bun run bench");
      expect(stderr).not.toMatch(/^\s+at /m);
    }
  });

  test("a commit that there is not is a sentence, before anything is built", () => {
    // Checks of what is installed come first: on a machine without wrk they are what is said.
    const { status, stderr } = bench(["--against", "no-such-commit"], { PATH: process.env.PATH ?? "" });
    expect(stderr).toMatch(/^There is no commit "no-such-commit" in this repository\.|is missing\. /);
    expect([1, 2]).toContain(Number(status));
    expect(bench(["--against", "HEAD"]).stderr).toContain("git is missing. ");
  });

  test("a reader that stops reading is no failure", () => {
    const command = `'${process.execPath}' '${join(import.meta.dir, "run.ts")}' --help | true`;
    const { stderr } = spawnSync("/bin/sh", ["-c", command], { env: { PATH: "/bin:/usr/bin" }, encoding: "utf8" });
    expect(stderr).toBe("");
  });
});

describe("lost()", () => {
  test("tolerates a fifth of the recorded ratio, and no more", () => {
    for (const path of PATHS) {
      const at = (share: number) => lost({ path, ratios: [RECORDED[path] * share] });
      expect([path, at(1.5), at(1), at(0.81)]).toEqual([path, undefined, undefined, undefined]);
      expect(at(0.79)).toStartWith(`${path}: the floor takes `);
      expect(lost({ path, ratios: [Number.NaN] })).toStartWith(path);
    }
  });
});
