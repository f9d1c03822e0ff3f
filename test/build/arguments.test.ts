import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { readRelease } from "../../src/build/arguments.ts";
import { PROJECT } from "../../src/build/packages.ts";
import { VERSION } from "../../src/shared/version.ts";

function run(program: string, args: readonly string[], variables: Record<string, string> = {}) {
  const env = { PATH: "/usr/bin:/bin", ...variables };
  const argv = [join(PROJECT, program), ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, { env, encoding: "utf8" });
  return { status, stdout, stderr };
}

describe.each([
  ["build", "src/build/build.ts"],
  ["deb", "src/build/deb.ts"],
])("bun run %s", (name, program) => {
  test("--help prints the usage", () => {
    for (const flag of ["--help", "-h"]) {
      const { status, stdout, stderr } = run(program, [flag]);
      expect([status, stderr]).toEqual([0, ""]);
      expect(stdout).toStartWith(`Usage: bun run ${name} [--arch ARCH] [--version X]`);
      expect(stdout).toContain("  --version X ");
    }
  });

  test("wrong use is a sentence and the usage, with exit code 2", () => {
    const mistakes = [["--arch", "sparc"], ["--version", "new"], ["--version"], ["--frob"], ["something"]];
    for (const args of mistakes) {
      const { status, stdout, stderr } = run(program, args);
      expect([args, status, stdout]).toEqual([args, 2, ""]);
      expect(stderr).toContain(`\n\nUsage: bun run ${name} `);
      expect(stderr).not.toMatch(/^\s+at /m);
    }
    expect(run(program, ["--arch", "sparc"]).stderr).toStartWith(
      'There are no binaries for "sparc", only for x64 and arm64.\n',
    );
  });
});

describe("bun run deb", () => {
  test("refuses an invalid maintainer before it builds anything", () => {
    const { status, stderr } = run("src/build/deb.ts", [], { DEBEMAIL: "nobody" });
    expect([status, stderr]).toEqual([2, expect.stringContaining("correct DEBFULLNAME and DEBEMAIL.\n\nUsage:")]);
  });
});

describe("readRelease()", () => {
  test("takes the version of package.json by default", () => {
    expect(readRelease({}).version).toBe(VERSION);
    for (const version of ["1.2.3", "1.2.3~rc1", "0.3.0+git20261122"])
      expect(readRelease({ version }).version).toBe(version);
    for (const version of ["v1", "1.0-1", "1 0", "1.0\nDepends: x", ""]) {
      expect(() => readRelease({ version })).toThrow("is not a version such as");
    }
  });
});
