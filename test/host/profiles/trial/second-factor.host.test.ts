/** Profiles whose second factor is verified, by a real sshd: which keys count, and that nothing goes round them. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { renderBlocks, renderUnprofiled } from "../../../../src/host/profiles/sshd-blocks.ts";
import {
  type Authenticator,
  PRESENT,
  startAuthenticator,
  VERIFIED,
} from "../../../../src/host/profiles/trial/authenticator.ts";
import { ALIAS, startClient, writeClientConfig } from "../../../../src/host/profiles/trial/client.ts";
import { FILES } from "../../../../src/host/profiles/trial/files.ts";
import { isAsSaid, tryProfile } from "../../../../src/host/profiles/trial/trial.ts";
import { describeOnHost } from "../../../support/host-account.ts";
import { PROGRAM, prepareLab } from "./lab.ts";

/** Each holds a key of its own; all of them are in the accounts' files. */
const SAYING = { "touched, with its PIN": PRESENT | VERIFIED, touched: PRESENT, "its PIN only": VERIFIED, nothing: 0 };
const OTHER_KINDS = ["ed25519", "ecdsa", "rsa"] as const;

describeOnHost("a second factor that is verified", () => {
  const secondFactor = "verified";
  const lab = prepareLab(
    (directory) => [
      { name: "shell", kind: "shell", secondFactor },
      { name: "sftp", kind: "sftp", directory, secondFactor },
      { name: "forward", kind: "forward", targets: ["127.0.0.1:9"], secondFactor },
      { name: "command", kind: "command", command: PROGRAM, secondFactor },
      { name: "without", kind: "shell", secondFactor: "none" },
    ],
    (profiles) => `${renderBlocks(profiles.map((profile) => ({ profile, isShut: false })))}${renderUnprofiled()}`,
  );
  const keys: Record<string, { readonly path: string; readonly agent?: string }> = {};
  const authenticators: Authenticator[] = [];

  beforeAll(async () => {
    const directory = mkdtempSync(join(lab().base, "doors/sk-"));
    for (const [name, flags] of Object.entries(SAYING)) {
      const agent = join(directory, `agent-${flags}`);
      const authenticator = await startAuthenticator(agent, flags);
      authenticators.push(authenticator);
      const path = join(directory, `key-${flags}`);
      writeFileSync(`${path}.pub`, `${authenticator.type} ${authenticator.base64}\n`);
      keys[name] = { path, agent };
    }
    for (const kind of OTHER_KINDS) {
      const path = join(directory, kind);
      spawnSync("/usr/bin/ssh-keygen", ["-q", "-t", kind, "-N", "", "-f", path]);
      keys[kind] = { path };
    }
    const all = Object.values(keys).map(({ path }) => readFileSync(`${path}.pub`, "utf8"));
    for (const { user } of lab().members) writeFileSync(join(lab().base, "keys", user), all.join(""));
  });
  afterAll(() => {
    for (const authenticator of authenticators) authenticator.close();
  });

  /** Whether sshd took the account's word, having been offered these keys, in that order. */
  async function isLetIn(index: number, names: readonly string[], ...options: readonly string[]): Promise<boolean> {
    const member = lab().members[index];
    const [first] = names.map((name) => keys[name]);
    if (member === undefined || first === undefined) throw new Error("no such account or key");
    const agent = names.map((name) => keys[name]?.agent).find((socket) => socket !== undefined);
    const config = writeClientConfig({ ...lab().door(member), keyPath: first.path, agent });
    const more = names.slice(1).flatMap((name) => ["-o", `IdentityFile=${keys[name]?.path}`]);
    const client = startClient("ssh", ["-F", config, "-v", ...more, ...options, "-N", ALIAS], { stays: true });
    await client.until(/Authenticated to /);
    client.stop();
    return client.said().stderr.includes("Authenticated to ");
  }

  test("only a security key that was touched, with its PIN, lets in", async () => {
    for (const index of [0, 1, 2, 3]) {
      const seen: Record<string, boolean> = {};
      for (const name of Object.keys(keys)) seen[name] = await isLetIn(index, [name]);
      expect([index, seen]).toEqual([
        index,
        {
          ...{ "touched, with its PIN": true, touched: false, "its PIN only": false, nothing: false },
          ...{ ed25519: false, ecdsa: false, rsa: false },
        },
      ]);
    }
  });

  test("without the profile's second factor each of them would", async () => {
    const seen = [];
    for (const name of ["touched, with its PIN", "touched", "ed25519", "rsa"]) seen.push(await isLetIn(4, [name]));
    expect(seen).toEqual([true, true, true, true]);
    // sshd itself asks for the touch, whatever the profile says.
    expect([await isLetIn(4, ["its PIN only"]), await isLetIn(4, ["nothing"])]).toEqual([false, false]);
  });

  test("in no order of keys and methods is it skipped", async () => {
    const methods = ["publickey", "none", "password", "keyboard-interactive", "hostbased"];
    const orders = methods.map((_, first) => [...methods.slice(first), ...methods.slice(0, first)].join(","));
    const weak = [
      ["ed25519", "touched"],
      ["touched", "rsa", "ecdsa"],
      ["nothing", "ed25519"],
    ];
    const seen = [];
    for (const preferred of orders)
      for (const names of weak) seen.push(await isLetIn(0, names, "-o", `PreferredAuthentications=${preferred}`));
    expect(seen).toEqual(seen.map(() => false));
    expect(seen.length).toBe(15);
    expect(await isLetIn(0, ["ed25519", "touched, with its PIN"])).toBe(true);
  });

  test("tryProfile() tries such a profile with a key in software", async () => {
    const [, sftp] = lab().members;
    const { path, agent } = keys["touched, with its PIN"] ?? {};
    if (sftp === undefined || path === undefined) throw new Error("no such account or key");
    const rows = await tryProfile({ ...lab().door(sftp), keyPath: path, agent }, sftp.profile, sftp, FILES);
    expect(rows.filter((row) => isAsSaid(row) !== true)).toEqual([]);
  });
});
