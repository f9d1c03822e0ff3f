/** The apt repository of a release, made with a key of the test's own, as apt would check it. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { makePackage } from "../../../src/build/debian-package.ts";

const PROJECT = join(import.meta.dir, "../../..");
const KEY = "packager@example.org";
const URL = "https://apt.example.org/uam";
const isHere =
  ["reprepro", "gpg", "gpgv", "dpkg-deb"].every((name) => Bun.which(name) !== null) ||
  process.env.UAM_TEST_HOST === "1";

let top = "";
beforeAll(() => {
  top = mkdtempSync(join(tmpdir(), "uam-test-apt-"));
  if (isHere)
    command(["gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key", KEY, "ed25519", "sign", "never"]);
});
afterAll(() => {
  spawnSync("gpgconf", ["--kill", "all"], { env: environment() });
  rmSync(top, { recursive: true, force: true });
});

function environment(): Record<string, string> {
  return { PATH: process.env.PATH ?? "", HOME: top, GNUPGHOME: top, LC_ALL: "C" };
}

function attempt(argv: readonly string[]): { readonly status: number | null; readonly said: string } {
  const [program = "", ...args] = argv;
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: PROJECT, env: environment(), encoding: "utf8" });
  return { status, said: stdout + stderr };
}

function command(argv: readonly string[]): string {
  const { status, said } = attempt(argv);
  expect([argv.join(" "), status, status === 0 ? "" : said]).toEqual([argv.join(" "), 0, ""]);
  return said;
}

/** A release of packages with nothing in them, and its directory. */
function release(version: string, content = ""): string {
  const directory = join(top, `release-${version}-${content}`);
  mkdirSync(directory, { recursive: true });
  for (const architecture of ["amd64", "arm64"]) {
    const control = `Package: uam\nVersion: ${version}\nArchitecture: ${architecture}\nMaintainer: Ada <ada@example.org>\nSection: admin\nPriority: optional\nDescription: for a test\n`;
    const files = new Map([
      ["DEBIAN/control", control],
      ["usr/share/doc/uam/content", content],
    ]);
    makePackage(join(directory, `uam_${version}_${architecture}.deb`), {
      files,
      date: new Date(0),
      compression: ["-Znone"],
    });
  }
  return directory;
}

function makeRepository(
  directory: string,
  packages: string,
  key = KEY,
): { readonly status: number | null; readonly said: string } {
  const program = [process.execPath, "src/build/release/release.ts", "apt", directory];
  return attempt([...program, "--key", key, "--url", URL, "--packages", packages]);
}

function listed(directory: string, architecture: string): readonly string[] {
  const text = readFileSync(join(directory, `dists/stable/main/binary-${architecture}/Packages`), "utf8");
  return text.match(/^(?:Package|Version): .*$/gm) ?? [];
}

describe.skipIf(!isHere)("bun run release apt", () => {
  test("the repository is signed with the key that its own package brings", () => {
    const directory = join(top, "repository");
    const { status, said } = makeRepository(directory, release("1.0.0"));
    expect([status, said]).toEqual([
      0,
      expect.stringContaining("uam-archive-keyring.deb brings https://apt.example.org/uam"),
    ]);
    const unpacked = join(top, "keyring");
    command(["dpkg-deb", "--extract", join(directory, "uam-archive-keyring.deb"), unpacked]);
    const keyring = join(unpacked, "usr/share/keyrings/uam-archive-keyring.gpg");
    command(["gpgv", "--keyring", keyring, join(directory, "dists/stable/InRelease")]);
    expect(readFileSync(join(unpacked, "etc/apt/sources.list.d/uam.sources"), "utf8")).toBe(
      `Types: deb\nURIs: ${URL}\nSuites: stable\nComponents: main\nSigned-By: /usr/share/keyrings/uam-archive-keyring.gpg\n`,
    );
    for (const architecture of ["amd64", "arm64"]) {
      expect(listed(directory, architecture)).toEqual([
        "Package: uam",
        "Version: 1.0.0",
        "Package: uam-archive-keyring",
        "Version: 1.0.0",
      ]);
    }
  });

  test("a later release takes the place of the one before; the same one again changes nothing", () => {
    const directory = join(top, "later");
    for (const version of ["1.0.0", "1.1.0", "1.1.0"])
      expect(makeRepository(directory, release(version)).status).toBe(0);
    expect(listed(directory, "amd64").filter((line) => line.startsWith("Version"))).toEqual([
      "Version: 1.1.0",
      "Version: 1.1.0",
    ]);
    expect(existsSync(join(directory, "pool/main/u/uam/uam_1.0.0_amd64.deb"))).toBe(false);
  });

  test("another package under a version that is published already is refused, and the published one stays", () => {
    const directory = join(top, "twice");
    expect(makeRepository(directory, release("1.0.0")).status).toBe(0);
    const before = readFileSync(join(directory, "dists/stable/InRelease"), "utf8");
    const { status, said } = makeRepository(directory, release("1.0.0", "changed"));
    expect([status, said]).toEqual([1, expect.stringContaining("uam_1.0.0_amd64.deb")]);
    expect(readFileSync(join(directory, "dists/stable/InRelease"), "utf8")).toBe(before);
  });

  test("no package, or those of two versions, no such key, no URL: a sentence, and no repository", () => {
    const two = release("2.0.0");
    command(["cp", join(release("2.1.0"), "uam_2.1.0_amd64.deb"), two]);
    const directory = join(top, "none");
    expect(makeRepository(directory, two)).toEqual({
      status: 1,
      said: expect.stringContaining("does not hold the packages of one version"),
    });
    expect(makeRepository(directory, top).status).toBe(1);
    expect(makeRepository(directory, release("1.0.0"), "nobody@example.org").status).toBe(1);
    const noUrl = attempt([process.execPath, "src/build/release/release.ts", "apt", directory, "--key", KEY]);
    expect([noUrl.status, noUrl.said]).toEqual([2, expect.stringContaining("--url is missing")]);
    expect(existsSync(directory)).toBe(false);
  });
});
