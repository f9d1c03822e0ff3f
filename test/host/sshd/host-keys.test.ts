import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { shownServerKey } from "../../../src/domain/mail/site.ts";
import { createHostKeys } from "../../../src/host/sshd/host-keys.ts";
import type { ServerKey } from "../../../src/protocol/host.ts";
import { needs } from "../../support/tools.ts";

let directory: string;
/** As `ssh-keygen -l` prints them, by type. */
const shown = new Map<string, string>();
const stored = new Map<string, ServerKey>();

const hasSsh = needs("ssh-keygen");

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "uam-host-keys-"));
  if (!hasSsh) return;
  for (const [type, ...options] of [["rsa", "-b", "2048"], ["ecdsa"], ["ed25519"]] as const) {
    const path = join(directory, `ssh_host_${type}_key`);
    const made = spawnSync("ssh-keygen", ["-q", "-t", type, ...options, "-N", "", "-C", "root@host", "-f", path]);
    if (made.status !== 0) throw new Error(String(made.stderr));
    // 256 SHA256:… root@host (ED25519)
    const [, fingerprint = "", , name] = spawnSync("ssh-keygen", ["-l", "-f", path])
      .stdout.toString()
      .trim()
      .split(" ");
    shown.set(type, `${fingerprint} ${name}`);
    const [algorithm = "", base64 = ""] = readFileSync(`${path}.pub`, "utf8").split(" ");
    stored.set(type, { type: algorithm, base64, fingerprint });
  }
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const refuses = async () => ({ exitCode: 255, stdout: "", stderr: "sshd: no hostkeys available -- exiting." });
const keys = (...types: readonly string[]) => types.flatMap((type) => stored.get(type) ?? []);

describe.if(hasSsh)("createHostKeys()", () => {
  test("reads the default files if sshd does not answer, in clients' order of preference", async () => {
    expect(await createHostKeys(undefined, refuses, directory)()).toEqual(keys("ed25519", "ecdsa", "rsa"));
  });

  test("reads the keys that the real sshd names, by private or public key, and nothing else", async () => {
    const elsewhere = join(directory, "elsewhere");
    mkdirSync(elsewhere, { recursive: true });
    const sshdConfig = join(elsewhere, "sshd_config");
    writeFileSync(sshdConfig, `HostKey ${directory}/ssh_host_rsa_key\nHostKey ${directory}/ssh_host_ed25519_key\n`);
    expect(await createHostKeys({ sshdConfig })()).toEqual(keys("ed25519", "rsa"));
    const agent = async () => ({ exitCode: 0, stdout: `hostkey ${directory}/ssh_host_ecdsa_key.pub\n`, stderr: "" });
    expect(await createHostKeys(undefined, agent)()).toEqual(keys("ecdsa"));
  });

  test("are shown as ssh-keygen shows them", async () => {
    const read = await createHostKeys(undefined, refuses, directory)();
    expect(read.map(shownServerKey)).toEqual(["ed25519", "ecdsa", "rsa"].map((type) => shown.get(type) ?? ""));
  });

  test("asks sshd once, and reads the keys each time", async () => {
    let asked = 0;
    const path = join(directory, "changing_key");
    const publicOf = (type: string) => spawnSync("cat", [join(directory, `ssh_host_${type}_key.pub`)]).stdout;
    const read = createHostKeys(undefined, async () => {
      asked++;
      return { exitCode: 0, stdout: `hostkey ${path}\n`, stderr: "" };
    });
    expect(await read()).toEqual([]);
    for (const type of ["rsa", "ed25519"]) {
      writeFileSync(`${path}.pub`, publicOf(type));
      expect(await read()).toEqual(keys(type));
    }
    expect(asked).toBe(1);
  });

  test("returns no key if there is none, or if the file contains something else", async () => {
    expect(await createHostKeys(undefined, refuses, join(directory, "missing"))()).toEqual([]);
    const odd = join(directory, "odd");
    mkdirSync(odd);
    writeFileSync(join(odd, "ssh_host_ed25519_key.pub"), "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n");
    expect(await createHostKeys(undefined, refuses, odd)()).toEqual([]);
    const failing = () => Promise.reject(new Error("this host has no sshd"));
    expect(await createHostKeys(undefined, failing, directory)()).toHaveLength(3);
  });
});
