import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { needs } from "../support/tools.ts";

// Each step starts processes.
setDefaultTimeout(60_000);

const directory = mkdtempSync(join(tmpdir(), "uam-completion-"));
const environment = { PATH: `${directory}:/usr/bin:/bin`, HOME: directory };

beforeAll(() => {
  const program = join(import.meta.dir, "../../src/main.ts");
  writeFileSync(join(directory, "uam"), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
  chmodSync(join(directory, "uam"), 0o755);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function run(shell: string, script: string): string {
  const { status, stdout, stderr } = spawnSync(shell, ["-c", script], { env: environment, encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
  return stdout;
}

describe("uam completion bash", () => {
  /** What bash offers for the last of the words. */
  function complete(...words: readonly string[]): readonly string[] {
    const quoted = words.map((word) => `'${word}'`).join(" ");
    const line = words.join(" ");
    const script = `set -e
      source <(uam completion bash)
      COMP_WORDS=(${quoted}) COMP_CWORD=${words.length - 1} COMP_LINE='${line}' COMP_POINT=${line.length}
      complete -p uam >/dev/null
      _uam uam '${words.at(-1)}' '${words.at(-2)}' || true
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    return run("/bin/bash", script)
      .split("\n")
      .map((word) => word.trim())
      .filter((word) => word !== "");
  }

  test("offers commands, subcommands, options and their values", () => {
    expect(complete("uam", "us")).toEqual(["user"]);
    expect(complete("uam", "")).toContain("healthcheck");
    expect(complete("uam", "user", "")).toEqual(
      expect.arrayContaining(["list", "show", "create", "update", "disable", "enable", "extend", "delete"]),
    );
    expect(complete("uam", "user", "list", "--st")).toEqual(["--status"]);
    expect(complete("uam", "user", "list", "--status", "d")).toEqual(["disabled"]);
    expect(complete("uam", "audit", "list", "--action", "key.re")).toEqual(["key.rename", "key.revoke"]);
  });
});

describe("uam completion zsh", () => {
  test.if(needs("zsh"))("loads, and offers subcommands", () => {
    // zsh completes only at its line editor; a stand-in for compadd and _describe shows what would be offered.
    const script = `
      autoload -U compinit && compinit -D
      source <(uam completion zsh)
      print -r -- "function: \${+functions[_uam]} \${_comps[uam]}"
      _describe() { local name; for name in "\${@}"; do [[ -n "\${(P)name}" ]] 2>/dev/null && print -rl -- "\${(P@)name}"; done }
      compadd() { print -rl -- "$@" }
      words=(uam user '') CURRENT=3
      _uam 2>/dev/null || true`;
    const output = run("zsh", script);
    expect(output).toContain("function: 1 _uam");
    for (const word of ["list", "show", "disable"]) expect(output).toMatch(new RegExp(`^${word}\\b`, "m"));
  });
});
