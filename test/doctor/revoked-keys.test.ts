/** Every state of the file of revoked keys, as the doctor judges it and as a real sshd reads it. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkRevokedKeys } from "../../src/doctor/revoked-keys.ts";
import { REVOKED_KEYS } from "../../src/install/sshd-drop-in.ts";
import { describeOnHost } from "../support/host-account.ts";
import { startSshd, type TestSshd } from "../support/sshd.ts";
import { needs } from "../support/tools.ts";

const directory = mkdtempSync(join(tmpdir(), "uam-revoked-keys-"));
const path = join(directory, "revoked");
const owner = process.getuid?.() ?? 0;
const hasProgram = needs("ssh-keygen");
const other = hasProgram ? makeKey("other") : "";
const certificate = hasProgram ? makeCertificate() : "";

afterAll(() => rmSync(directory, { recursive: true, force: true }));

function keygen(...args: readonly string[]): void {
  const { status, stderr } = spawnSync("ssh-keygen", ["-q", ...args], { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
}

function makeKey(name: string): string {
  keygen("-t", "ed25519", "-N", "", "-C", "a comment", "-f", join(directory, name));
  return readFileSync(join(directory, `${name}.pub`), "utf8").trim();
}

function makeCertificate(): string {
  makeKey("authority");
  keygen("-s", join(directory, "authority"), "-I", "id", "-n", "root", join(directory, "other.pub"));
  return readFileSync(join(directory, "other-cert.pub"), "utf8").trim();
}

function makeList(change: () => void = () => {}): () => void {
  return () => {
    keygen("-k", "-f", path, join(directory, "other.pub"));
    change();
  };
}

const text = (content: string) => () => writeFileSync(path, content);

/** What creates the file, and the end of the sentence about it; undefined if sshd can use it. */
const STATES: Readonly<Record<string, readonly [make: () => void, fault: string | undefined]>> = {
  missing: [() => {}, "is missing"],
  "a link to nothing": [() => symlinkSync("/nowhere/revoked", path), "is missing"],
  "a directory": [() => mkdirSync(path), "is not a file"],
  "/dev/null": [() => symlinkSync("/dev/null", path), undefined],
  empty: [text(""), undefined],
  "as it is installed": [text(REVOKED_KEYS), undefined],
  "a list of keys": [text(`# left\n\n  ${other}\n\t${other.replaceAll(" ", "\t")}`), undefined],
  "a key without a comment": [text(other.replace(" a comment", "\n")), undefined],
  "a certificate": [text(`${certificate}\n`), undefined],
  "keys with carriage returns": [text(`${other}\r\n`), undefined],
  "an empty line with a carriage return": [text(`${other}\r\n\r\n`), "has a line 2 that does not begin with a key"],
  "a line of an authorized-keys file": [
    text(`# left\nexpiry-time="20300101" ${other}\n`),
    "has a line 2 that does not begin with a key",
  ],
  "a fingerprint": [text("SHA256:abc\n"), "has a line 1 that does not begin with a key"],
  "a specification of a list": [text(`key: ${other}\n`), "has a line 1 that does not begin with a key"],
  "a private key": [
    () => writeFileSync(path, readFileSync(join(directory, "other"))),
    "has a line 1 that does not begin with a key",
  ],
  "a byte order mark": [text(`\uFEFF${other}\n`), "has a line 1 that does not begin with a key"],
  "a key that is cut off": [text(`${other}\n${other.slice(0, 60)}\n`), "has a line 2 with an invalid key"],
  "a type without a key": [text("ssh-ed25519\n"), "has a line 1 that does not begin with a key"],
  "a type that nobody knows": [text(`ssh-new ${other.split(" ")[1]}\n`), "with an invalid key"],
  "a revocation list": [makeList(), undefined],
  "a revocation list that is cut off": [makeList(() => truncateSync(path, 50)), "is a damaged key revocation list"],
  "a revocation list with a key behind it": [
    makeList(() => appendFileSync(path, `${other}\n`)),
    "is a damaged key revocation list",
  ],
};

function prepare(make: () => void): void {
  rmSync(path, { recursive: true, force: true });
  make();
}

async function judge(fix = false, own = path) {
  return await checkRevokedKeys(path, { owner, own, fix });
}

describe.if(hasProgram)("checkRevokedKeys", () => {
  test.each(Object.entries(STATES))("checkRevokedKeys() judges one that is %s", async (_name, [make, fault]) => {
    prepare(make);
    const findings = await judge();
    if (fault === undefined) return expect(findings).toEqual([]);
    expect(findings).toEqual([
      { area: "sshd", state: "fault", finding: expect.stringContaining(fault), remedy: expect.any(String) },
    ]);
    expect(findings[0]?.finding).toStartWith(`sshd refuses every key of ext_ accounts: ${path} (RevokedKeys) `);
  });

  test("checkRevokedKeys() recreates only our own file, and never writes an existing one", async () => {
    prepare(() => {});
    expect(await judge(true, "/etc/ssh/another")).toMatchObject([{ state: "fault" }]);
    expect(await judge(true)).toMatchObject([{ state: "fixed", finding: expect.stringContaining("lists none") }]);
    expect(readFileSync(path, "utf8")).toBe(REVOKED_KEYS);
    expect(statSync(path).mode & 0o7777).toBe(0o644);
    expect(await judge()).toEqual([]);
    prepare(() => symlinkSync("/nowhere/revoked", path));
    expect(await judge(true)).toMatchObject([{ state: "fault" }]);
    prepare(text("garbage\n"));
    expect(await judge(true)).toMatchObject([{ state: "fault" }]);
    expect(readFileSync(path, "utf8")).toBe("garbage\n");
  });

  test("checkRevokedKeys() reports who else could write the file, and takes the right away when asked to", async () => {
    prepare(text(`${other}\n`));
    expect(await checkRevokedKeys(path, { owner: owner + 1, own: path, fix: true })).toMatchObject([
      { state: "fault", finding: expect.stringContaining(`belongs to uid ${owner}`) },
    ]);
    chmodSync(path, 0o666);
    expect(await judge()).toMatchObject([{ state: "fault", finding: expect.stringContaining("can write") }]);
    expect(statSync(path).mode & 0o7777).toBe(0o666);
    expect(await judge(true)).toMatchObject([{ state: "fixed" }]);
    expect([statSync(path).mode & 0o7777, readFileSync(path, "utf8")]).toEqual([0o644, `${other}\n`]);
    expect(await judge()).toEqual([]);
  });
});

describeOnHost("sshd", () => {
  let sshd: TestSshd;
  let key: string;
  beforeAll(async () => {
    const keys = join(directory, "authorized_keys");
    const options = ["StrictModes no", `AuthorizedKeysFile ${keys}`, `RevokedKeys ${path}`, "PermitRootLogin yes"];
    sshd = await startSshd(directory, options);
    const made = sshd.makeKey(1);
    key = made.path;
    writeFileSync(keys, `${made.key.type} ${made.key.base64}\n`);
  });
  afterAll(() => sshd.stop());

  test.each(Object.entries(STATES))("reads a file that is %s as the doctor says", (_name, [make, fault]) => {
    prepare(make);
    expect(sshd.login("root", key)).toBe(fault === undefined);
  });
});
