import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { findCommand } from "../../../src/host/command.ts";
import { testFileCommands } from "../../../src/host/execute/command-self-test.ts";

const top = mkdtempSync(join(tmpdir(), "uam-test-self-test-"));
afterAll(() => rmSync(top, { recursive: true, force: true }));

/** The host's programs, but for one that is this script. */
function withProgram(name: string, script: string): (path: string) => string | undefined {
  const program = join(mkdtempSync(join(top, "bin-")), name);
  writeFileSync(program, `#!/bin/sh\n${script}\n`);
  chmodSync(program, 0o755);
  return (path) => (basename(path) === name ? program : findCommand(path));
}

describe("testFileCommands", () => {
  test("testFileCommands() finds nothing wrong with this host's programs, and leaves nothing behind", async () => {
    const base = join(top, "good");
    mkdirSync(base);
    expect(await testFileCommands({ base })).toEqual({});
    expect(readdirSync(base)).toEqual([]);
  });

  test.each([
    // uutils 0.0.30 has no -T.
    [
      "install",
      `case " $* " in *" -T "*) echo "error: unexpected argument '-T' found" >&2; exit 1;; esac`,
      "write a file",
    ],
    // uutils 0.12.0 fails over an existing file when its input has no name.
    [
      "install",
      'for last; do :; done; [ -e "$last" ] && { echo "cannot remove" >&2; exit 1; }; exec /usr/bin/install "$@"',
      "replace a file",
    ],
    ["install", 'for last; do :; done; cat >"$last"; chmod 0600 "$last"', "replace a link"],
    ["chmod", "exit 0", "give the owner of a home access"],
    ["stat", "echo 'no such format'", "say what a path is"],
    ["dd", "exit 0", "read a file"],
    ["find", "exit 1", "remove an owner's files"],
    ["rm", "exit 0", "remove a file"],
  ])("testFileCommands() names %s that does something else", async (name, script, does) => {
    const { fault, untried } = await testFileCommands({ base: top, locate: withProgram(name, script) });
    expect(untried).toBeUndefined();
    expect(fault?.finding).toMatch(new RegExp(`/${name} \\(.*\\) does not ${does}.* as sudo mode needs it`));
    expect(fault?.remedy).toContain("direct mode");
  });

  test("testFileCommands() names a program that is missing, and says when it could try nothing", async () => {
    const locate = (path: string) => (path === "/usr/bin/dd" ? undefined : findCommand(path));
    expect((await testFileCommands({ base: top, locate })).fault).toEqual({
      finding: "This host has no /usr/bin/dd",
      remedy: "install it",
    });
    const nowhere = await testFileCommands({ base: join(top, "missing") });
    expect(nowhere).toEqual({ untried: expect.stringContaining("ENOENT") });
  });
});
