import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { readConfig } from "../../../src/config/config.ts";
import { submitApplication } from "../../../src/domain/approvals/approvals.ts";
import { uploadKey } from "../../../src/domain/keys/keys.ts";
import { bunRuntime } from "../../../src/runtime/bun.ts";
import { openServices } from "../../../src/server/compose.ts";
import { silentLog } from "../../../src/shared/log.ts";
import { databaseDirectory } from "../../support/directory.ts";
import { HANG } from "../../support/hang.ts";
import { freshKey } from "../../support/keys.ts";
import { describeSlow } from "../../support/thorough.ts";
import { needs } from "../../support/tools.ts";

// Each step starts processes.
setDefaultTimeout(180_000);

const directory = databaseDirectory("uam-completion-");
const environment = { PATH: `${directory}:/usr/bin:/bin`, HOME: directory, UAM_DATA_DIR: join(directory, "data") };

beforeAll(() => {
  const program = join(import.meta.dir, "../../../src/main.ts");
  writeFileSync(join(directory, "uam"), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
  chmodSync(join(directory, "uam"), 0o755);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Stores two users, a key of the second, an administrator and an application. */
async function fill(): Promise<void> {
  const lines = ["user create alice --email a@example.org", "user create bob --email b@example.org"];
  for (const line of [...lines, "admin add chief --email c@example.org"]) run("/bin/sh", `uam ${line} >/dev/null 2>&1`);
  const { services, close } = await openServices(
    readConfig(environment, { isRoot: true, currentDirectory: "/" }),
    silentLog,
    { lifetime: "command", machine: bunRuntime },
  );
  const context = { ...services, actor: { type: "user", name: "bob", ip: "" }, requestId: "" } as const;
  await uploadKey(context, 2, { name: "$(reboot)", publicKey: freshKey() });
  await submitApplication(context, { username: "cem", email: "c@example.org", purpose: "x" });
  await close();
}

function run(shell: string, script: string, more: Record<string, string> = {}): string {
  const env = { ...environment, ...more };
  const { status, stdout, stderr } = spawnSync(shell, ["-c", script], { env, encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
  return stdout;
}

describeSlow("uam completion bash", () => {
  /** What bash offers for the last of the words. */
  function complete(...words: readonly string[]): readonly string[] {
    return completeIn({}, words);
  }

  function completeIn(more: Record<string, string>, words: readonly string[]): readonly string[] {
    const quoted = words.map((word) => `'${word}'`).join(" ");
    const line = words.join(" ");
    const script = `set -e
      source <(uam completion bash)
      COMP_WORDS=(${quoted}) COMP_CWORD=${words.length - 1} COMP_LINE='${line}' COMP_POINT=${line.length}
      complete -p uam >/dev/null
      _uam uam '${words.at(-1)}' '${words.at(-2)}' || true
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    return run("/bin/bash", script, more)
      .split("\n")
      .map((word) => word.trim())
      .filter((word) => word !== "");
  }

  /** The same for what is stored, of which a machine that is busy may offer nothing: it is asked again until it does. */
  function offered(...words: readonly string[]): readonly string[] {
    const end = performance.now() + HANG;
    for (;;) {
      const names = complete(...words);
      if (names.length > 0 || performance.now() > end) return names;
    }
  }

  test("offers commands, subcommands, options and their values", () => {
    expect(complete("uam", "us")).toEqual(["user"]);
    expect(complete("uam", "")).toContain("healthcheck");
    expect(complete("uam", "mail", "")).toContain("test");
    expect(complete("uam", "user", "")).toEqual(
      expect.arrayContaining(["list", "show", "create", "update", "disable", "enable", "extend", "delete"]),
    );
    expect(complete("uam", "user", "list", "--st")).toEqual(["--status"]);
    expect(complete("uam", "user", "list", "--status", "d")).toEqual(["disabled"]);
    expect(complete("uam", "audit", "list", "--action", "key.re")).toEqual(["key.rename", "key.revoke"]);
    expect(complete("uam", "setting", "set", "policy.d")).toEqual(["policy.default_ttl"]);
  });

  test("offers users, keys, administrators and pending applications, as they are stored", async () => {
    // Without a database there are no names to offer, and none is created.
    expect(complete("uam", "user", "show", "a")).toEqual([]);
    expect(existsSync(environment.UAM_DATA_DIR)).toBe(false);
    await fill();
    expect(offered("uam", "user", "show", "a")).toEqual(["alice"]);
    expect(offered("uam", "user", "extend", "--days", "3", "")).toEqual(expect.arrayContaining(["alice", "bob"]));
    expect(offered("uam", "user", "delete", "alice", "b")).toEqual(["bob"]);
    expect(complete("uam", "user", "disable", "--st")).toEqual(["--status"]);
    expect(offered("uam", "lock", "ext_")).toEqual(["ext_alice", "ext_bob"]);
    expect(offered("uam", "key", "revoke", "b")).toEqual(["bob"]);
    for (const user of ["bob", "ext_bob", "2"]) expect(offered("uam", "key", "revoke", user, "1")).toEqual(["1"]);
    expect(complete("uam", "key", "revoke", "alice", "1")).toEqual([]);
    expect(offered("uam", "admin", "passwd", "c")).toEqual(["chief"]);
    expect(offered("uam", "approval", "approve", "1")).toEqual(["1"]);
    expect(complete("uam", "user", "show", "alice", "b")).toEqual([]);
    expect(complete("uam", "user", "show", "%")).toEqual([]);
  });

  test("offers and prints nothing if the database does not answer", () => {
    const gone = { UAM_DATABASE_URL: "postgres://uam@127.0.0.1:1/uam" };
    expect(completeIn(gone, ["uam", "user", "show", "a"])).toEqual([]);
    expect(completeIn({ UAM_LISTEN: "nowhere" }, ["uam", "user", "show", "a"])).toEqual([]);
    expect(completeIn(gone, ["uam", "user", "list", "--st"])).toEqual(["--status"]);
  });
});

describeSlow("uam completion zsh", () => {
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
