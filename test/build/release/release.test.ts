/** A release of small files, signed with a key of the test's own and checked by the commands of docs/verify.md. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import manifest from "../../../package.json" with { type: "json" };
import { seal } from "../../../src/build/release/release.ts";
import { checksumOf } from "../../../src/build/release/signing.ts";
import { shellBlocks } from "../../support/documents.ts";

const PROJECT = join(import.meta.dir, "../../..");
const [CHECK = "", , MAKE = ""] = shellBlocks("docs/verify.md");
const VERSION = "0.3.0";
const FILES = [`uam-${VERSION}-linux-x64`, `uam_${VERSION}_amd64.deb`, `uam-${VERSION}.oci.tar`];
const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const isHere = Bun.which("minisign") !== null || process.env.UAM_TEST_HOST === "1";

let top = "";
let directory = "";
beforeAll(async () => {
  top = mkdtempSync(join(tmpdir(), "uam-test-release-"));
  directory = join(top, "release");
  if (isHere) await makeRelease(directory);
});
afterAll(() => rmSync(top, { recursive: true, force: true }));

/** Signs files of that name as a packager's key does, which is made beside them as the document says, but without a password. */
async function makeRelease(target: string): Promise<void> {
  spawnSync("mkdir", [target]);
  const [generate = ""] = MAKE.split("\n");
  expect(spawnSync("sh", ["-c", `${generate} -W -f`], { cwd: top, encoding: "utf8" }).status).toBe(0);
  for (const name of FILES) writeFileSync(join(target, name), `the content of ${name}\n`);
  const packages = [{ name: "libc6", version: "2.36-9+deb12u14", architecture: "amd64", sha256: "00" }];
  const maintainer = "Ada Example <ada@example.org>";
  const about = { version: VERSION, key: join(top, "uam.key"), commit: COMMIT, maintainer, packages, files: FILES };
  await seal(target, about);
  copyFileSync(join(top, "uam.pub"), join(target, "uam.pub"));
}

function check(where: string): { readonly status: number | null; readonly said: string } {
  const { status, stdout, stderr } = spawnSync("sh", ["-e", "-c", CHECK], { cwd: where, encoding: "utf8" });
  return { status, said: stdout + stderr };
}

describe.skipIf(!isHere)("docs/verify.md", () => {
  test("its three commands accept a release, and say of which version the signatures are", () => {
    expect(CHECK.trim().split("\n")).toHaveLength(3);
    const { status, said } = check(directory);
    expect([status, said]).toEqual([0, expect.stringContaining(`Trusted comment: uam ${VERSION}`)]);
    for (const name of FILES) expect(said).toContain(`${name}: OK`);
  });

  test("they need only the files that somebody has fetched, and at least one", () => {
    const few = join(top, "few");
    cpSync(directory, few, { recursive: true });
    rmSync(join(few, FILES[2] ?? ""));
    expect(check(few).status).toBe(0);
    for (const name of [...FILES, `uam-${VERSION}.provenance.json`]) rmSync(join(few, name), { force: true });
    expect(check(few).status).not.toBe(0);
  });

  test("they refuse a release in which one bit of any file is another", () => {
    const names = readdirSync(directory);
    expect(names).toHaveLength(FILES.length + 5);
    for (const name of names) {
      const damaged = join(top, "damaged");
      rmSync(damaged, { recursive: true, force: true });
      cpSync(directory, damaged, { recursive: true });
      const content = readFileSync(join(damaged, name));
      // The first line of a key or signature is a comment that nothing covers, and says so.
      const at = name === "uam.pub" || name.endsWith(".minisig") ? content.indexOf("\n") + 20 : content.length >> 1;
      content.writeUInt8((content[at] ?? 0) ^ 1, at);
      writeFileSync(join(damaged, name), content);
      expect([name, check(damaged).status]).not.toEqual([name, 0]);
    }
  });

  test("they refuse what another key has signed", async () => {
    const other = join(top, "other");
    cpSync(directory, other, { recursive: true });
    const { status } = spawnSync("minisign", ["-G", "-W", "-f", "-p", "uam.pub", "-s", "key"], { cwd: other });
    expect([status, check(other).status]).not.toEqual([0, 0]);
  });

  test("the same files, commit and key are the same release", async () => {
    const [one, other] = [join(top, "one"), join(top, "another")];
    await makeRelease(one);
    cpSync(one, other, { recursive: true });
    const about = { version: VERSION, key: join(top, "uam.key"), commit: COMMIT, maintainer: "A <ada@example.org>" };
    const packages = [{ name: "libc6", version: "2.36-9+deb12u14", architecture: "amd64", sha256: "00" }];
    await seal(other, { ...about, packages, files: FILES });
    for (const name of readdirSync(one)) expect(readFileSync(join(other, name))).toEqual(readFileSync(join(one, name)));
  });
});

describe.skipIf(!isHere)("seal()", () => {
  test("names each file with its checksum, the commit and everything else that was taken, in the provenance", async () => {
    const statement = JSON.parse(readFileSync(join(directory, `uam-${VERSION}.provenance.json`), "utf8"));
    expect([statement._type, statement.predicateType]).toEqual([
      "https://in-toto.io/Statement/v1",
      "https://slsa.dev/provenance/v1",
    ]);
    const subjects = [];
    for (const name of [...FILES].sort())
      subjects.push({ name, digest: { sha256: await checksumOf(join(directory, name)) } });
    expect(statement.subject).toEqual(subjects);
    const { buildDefinition, runDetails } = statement.predicate;
    expect(buildDefinition.externalParameters).toEqual({ version: VERSION });
    expect(runDetails.builder.id).toBe("mailto:ada@example.org");
    const taken = buildDefinition.resolvedDependencies;
    expect(taken[0]).toEqual({ name: "source", digest: { gitCommit: COMMIT } });
    expect(taken.map(({ name, uri }: { name?: string; uri?: string }) => name ?? uri)).toEqual([
      "source",
      "bun.lock",
      "src/build/bun/bun.lock",
      expect.stringMatching(/^postgresql-\d+_.*\.dsc$/),
      expect.stringMatching(/\.orig\.tar\./),
      expect.stringMatching(/\.debian\.tar\./),
      "pkg:deb/debian/libc6@2.36-9%2Bdeb12u14?arch=amd64",
    ]);
  });
});

describe("bun run release", () => {
  const release = (...argv: readonly string[]) =>
    spawnSync(process.execPath, [join(PROJECT, "src/build/release/release.ts"), ...argv], { encoding: "utf8" });

  test("is a script, and says what it takes", () => {
    expect(manifest.scripts.release).toContain("src/build/release/release.ts");
    expect(release("--help").stdout).toContain("--key FILE");
    expect([release().status, release("--version", "1.0").status]).toEqual([2, 2]);
    expect(release("--version", "next", "--key", "x").stderr).toContain('"next" is not a version');
  });

  test.skipIf(!isHere)("refuses a key that is not there, before it builds anything", () => {
    const { status, stderr } = release("--version", "1.0", "--key", join(top, "none"));
    expect([status, stderr]).toEqual([1, `There is no key in ${join(top, "none")}.\n`]);
  });
});
