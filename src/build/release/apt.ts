/**
 * `bun run release apt`: an apt repository of the packages of a release, made and signed by reprepro(1), with a package that brings its key. A
 * web server publishes the directory as it is.
 */

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { BuildError, runWithArguments, UsageError } from "../arguments.ts";
import { renderDebianEntry } from "../changelog.ts";
import { changeDate } from "../commit.ts";
import { maintainerOf } from "../deb.ts";
import { makePackage, renderCopyright } from "../debian-package.ts";
import { PROJECT } from "../packages.ts";
import { must, requirePrograms } from "../programs.ts";

const PROGRAMS = { reprepro: "reprepro", gpg: "gpg", "dpkg-deb": "dpkg" };
const ARCHITECTURES = ["amd64", "arm64"] as const;
const KEYRING = "uam-archive-keyring";
const KEYRING_FILE = `usr/share/keyrings/${KEYRING}.gpg`;
const SUITE = "stable";

const USAGE = `Usage: bun run release apt DIRECTORY --key KEY --url URL [--packages DIRECTORY]

Puts the packages of a release into the apt repository in DIRECTORY, which is made if it does not exist, and signs it. The older
version goes. ${KEYRING}.deb, in DIRECTORY too, brings key and address to a host: docs/install.md says how.

  --key KEY             the packager's key, as gpg(1) names it; gpg asks for its password
  --url URL             where DIRECTORY will be found by apt, for example https://apt.example.org/uam
  --packages DIRECTORY  the release; the default is dist/release
  -h, --help            print this`;

const OPTIONS = { key: { type: "string" }, url: { type: "string" }, packages: { type: "string" } } as const;

/** The repository to make or to update. */
export interface Repository {
  readonly directory: string;
  readonly key: string;
  readonly url: string;
  /** Where the packages of the release are. */
  readonly packages: string;
}

/** Runs the command with its arguments, the first of which is the directory. */
export async function runApt([directory, ...args]: readonly string[]): Promise<void> {
  const isHelp = directory === "--help" || directory === "-h";
  const given = isHelp ? ["--help"] : args;
  await runWithArguments({ usage: USAGE, options: OPTIONS, args: given }, async ({ key, url, packages }) => {
    if (directory === undefined || directory.startsWith("-")) throw new UsageError("DIRECTORY is missing.");
    if (key === undefined) throw new UsageError("--key is missing: the packager's key, as gpg names it.");
    if (url === undefined || !/^(https?|file):\/[^\s[\]]+$/.test(url)) {
      throw new UsageError("--url is missing, or is not an address such as https://apt.example.org/uam.");
    }
    const release = resolve(packages ?? join(PROJECT, "dist/release"));
    makeRepository({ directory: resolve(directory), key, url, packages: release });
    console.log(`${join(directory, `${KEYRING}.deb`)} brings ${url} to a host.`);
  });
}

/** Makes or updates the repository. Throws BuildError; what reprepro(1) and gpg(1) say is in it. */
export function makeRepository({ directory, key, url, packages }: Repository): void {
  requirePrograms(PROGRAMS);
  const { version, files } = packagesIn(packages);
  const fingerprint = fingerprintOf(key);
  const place = mkdtempSync(join(tmpdir(), "uam-apt-"));
  try {
    const keyring = join(place, `${KEYRING}_${version}_all.deb`);
    makeKeyring(keyring, { version, url, key: exported(fingerprint, place) });
    mkdirSync(join(directory, "conf"), { recursive: true });
    writeFileSync(join(directory, "conf/distributions"), distributions(fingerprint));
    run(["reprepro", "--silent", "--basedir", directory, "includedeb", SUITE, ...files, keyring]);
    copyFileSync(keyring, join(directory, `${KEYRING}.deb`));
  } finally {
    rmSync(place, { recursive: true });
  }
}

/** The packages of the release in `directory`: one version, for each architecture. */
function packagesIn(directory: string): { readonly version: string; readonly files: readonly string[] } {
  const names = existsSync(directory) ? readdirSync(directory) : [];
  const versions = new Set(names.flatMap((name) => /^uam_([^_]+)_[a-z0-9]+\.deb$/.exec(name)?.[1] ?? []));
  const [version] = versions;
  const files = ARCHITECTURES.map((architecture) => join(directory, `uam_${version}_${architecture}.deb`));
  if (version === undefined || versions.size > 1 || !files.every((file) => existsSync(file))) {
    throw new BuildError(`${directory} does not hold the packages of one version for ${ARCHITECTURES.join(" and ")}.`);
  }
  return { version, files };
}

function fingerprintOf(key: string): string {
  const listed = run(["gpg", "--batch", "--with-colons", "--list-secret-keys", "--", key]);
  // doc/DETAILS of GnuPG: after each secret key comes its fingerprint.
  const found = [...listed.matchAll(/^sec:.*\nfpr:+([0-9A-F]+):/gm)].map(([, each]) => each);
  const [fingerprint] = found;
  if (fingerprint === undefined || found.length > 1)
    throw new BuildError(`"${key}" does not name one secret key of gpg.`);
  return fingerprint;
}

/** The public key as apt wants it, which is not armoured: then any apt reads it. */
function exported(fingerprint: string, place: string): Uint8Array {
  const file = join(place, "key.gpg");
  run(["gpg", "--batch", "--output", file, "--export", fingerprint]);
  return readFileSync(file);
}

function distributions(fingerprint: string): string {
  return `Origin: uam
Label: uam
Suite: ${SUITE}
Codename: ${SUITE}
Architectures: ${ARCHITECTURES.join(" ")}
Components: main
Description: User Access Management
SignWith: ${fingerprint}
`;
}

/** The package that brings key and address. Nothing but uam is ever taken from there, whatever the repository offers. */
function makeKeyring(
  output: string,
  { version, url, key }: { readonly version: string; readonly url: string; readonly key: Uint8Array },
): void {
  const date = changeDate();
  const maintainer = maintainerOf();
  const entry = renderDebianEntry(
    { version, items: ["Key and address of the repository."] },
    `${maintainer}  ${date.toUTCString().replace("GMT", "+0000")}`,
  );
  const files = new Map<string, string | Uint8Array>([
    ["DEBIAN/control", control(version, maintainer)],
    ["DEBIAN/conffiles", "/etc/apt/preferences.d/uam\n/etc/apt/sources.list.d/uam.sources\n"],
    [KEYRING_FILE, key],
    ["etc/apt/sources.list.d/uam.sources", sources(url)],
    ["etc/apt/preferences.d/uam", PREFERENCES],
    [`usr/share/doc/${KEYRING}/changelog.gz`, gzipSync(entry.replace("uam", KEYRING), { level: 9 })],
    [`usr/share/doc/${KEYRING}/copyright`, renderCopyright(readFileSync(join(PROJECT, "LICENSE"), "utf8"))],
  ]);
  makePackage(output, { files, date, compression: ["-Zxz"] });
}

function control(version: string, maintainer: string): string {
  return `Package: ${KEYRING}
Version: ${version}
Architecture: all
Maintainer: ${maintainer}
Section: admin
Priority: optional
Description: key and address of the repository of uam
 With this package apt finds uam and its updates, and checks that they are
 the packager's. No other package is taken from there.
`;
}

function sources(url: string): string {
  return `Types: deb
URIs: ${url}
Suites: ${SUITE}
Components: main
Signed-By: /${KEYRING_FILE}
`;
}

const PREFERENCES = `Package: *
Pin: release o=uam
Pin-Priority: -1

Package: uam ${KEYRING}
Pin: release o=uam
Pin-Priority: 500
`;

/** Runs a program with the packager's environment, since GNUPGHOME and the terminal are theirs. */
function run(argv: readonly string[]): string {
  try {
    return must(argv);
  } catch (cause) {
    throw new BuildError(cause instanceof Error ? cause.message.trim() : String(cause), { cause });
  }
}
