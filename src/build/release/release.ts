/**
 * `bun run release`: everything that is shipped of a commit, signed, in one directory. Two releases of one commit are byte-identical if key,
 * DEBFULLNAME and DEBEMAIL are the same, and Debian has published nothing new for the image meanwhile.
 */

import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import process from "node:process";
import { BuildError, readRelease, runWithArguments, UsageError } from "../arguments.ts";
import { binaryPath, buildRelease, sbomPath } from "../build.ts";
import { git } from "../commit.ts";
import { maintainerOf, packBinary } from "../deb.ts";
import { PROJECT } from "../packages.ts";
import { requirePrograms } from "../programs.ts";
import { runApt } from "./apt.ts";
import { makeImage } from "./image.ts";
import { renderProvenance } from "./provenance.ts";
import { CHECKSUMS, checksumOf, sign, writeChecksums } from "./signing.ts";

const PROGRAMS = { minisign: "minisign", "dpkg-deb": "dpkg", "apt-get": "apt", tar: "tar" };
const ARCHITECTURES = ["x64", "arm64"] as const;

const USAGE = `Usage: bun run release --version X --key FILE [--output DIRECTORY]
       bun run release apt DIRECTORY --key KEY --url URL   makes an apt repository of a release

Builds everything that is shipped, for both architectures, and signs it: binaries, Debian packages, image, bills of materials,
provenance and checksums. The checkout must have no changes. DEBFULLNAME and DEBEMAIL name the maintainer. docs/verify.md says how
others check what comes out.

  --version X         the version that the program reports
  --key FILE          the packager's secret key, made by minisign -G; asks for its password
  --output DIRECTORY  where it goes; the default is dist/release. Must not exist, or be empty
  -h, --help          print this`;

const OPTIONS = {
  version: { type: "string" },
  key: { type: "string" },
  output: { type: "string" },
} as const;

async function main(values: {
  readonly version?: string;
  readonly key?: string;
  readonly output?: string;
}): Promise<void> {
  const { version, key, output = join(PROJECT, "dist/release") } = values;
  if (version === undefined) throw new UsageError("--version is missing.");
  if (key === undefined) throw new UsageError("--key is missing: the packager's secret key, made by minisign -G.");
  readRelease({ version });
  const maintainer = maintainerOf();
  requirePrograms(PROGRAMS);
  if (!existsSync(key)) throw new BuildError(`There is no key in ${key}.`);
  const directory = resolve(output);
  requireEmpty(directory);
  const commit = requireCleanCheckout();
  // Nothing that is made here may depend on the packager's own mask.
  process.umask(0o022);
  const files: string[] = [];
  const partial = `${directory}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true });
  const add = (source: string, name: string) => {
    copyFileSync(source, join(partial, name));
    files.push(name);
  };
  for (const architecture of ARCHITECTURES) await buildRelease(readRelease({ arch: architecture, version }));
  for (const architecture of ARCHITECTURES) {
    const debianPackage = packBinary(readRelease({ arch: architecture, version }));
    add(debianPackage, basename(debianPackage));
    add(binaryPath(architecture), `uam-${version}-linux-${architecture}`);
    add(sbomPath(architecture), `uam-${version}-linux-${architecture}.cdx.json`);
  }
  const image = `uam-${version}.oci.tar`;
  const packages = await makeImage(version, join(partial, image));
  files.push(image);
  await seal(partial, { version, key, commit, maintainer, packages, files });
  rmSync(directory, { recursive: true, force: true });
  renameSync(partial, directory);
  for (const name of readdirSync(directory).sort()) console.log(join(directory, name));
}

interface Sealed {
  readonly version: string;
  readonly key: string;
  readonly commit: string;
  readonly maintainer: string;
  readonly packages: Parameters<typeof renderProvenance>[0]["packages"];
  readonly files: readonly string[];
}

/** Writes provenance and checksums of the files in `directory`, and signs both. */
export async function seal(
  directory: string,
  { version, key, commit, maintainer, packages, files }: Sealed,
): Promise<void> {
  const sums = new Map<string, string>();
  for (const name of [...files].sort()) sums.set(name, await checksumOf(join(directory, name)));
  const provenance = `uam-${version}.provenance.json`;
  const statement = renderProvenance({ version, commit, maintainer, files: sums, packages });
  writeFileSync(join(directory, provenance), statement);
  sums.set(provenance, await checksumOf(join(directory, provenance)));
  writeChecksums(directory, sums);
  sign([join(directory, CHECKSUMS), join(directory, provenance)], { key, comment: `uam ${version}` });
}

/** The commit. Throws unless the checkout is that commit and nothing else. */
function requireCleanCheckout(): string {
  const commit = git("rev-parse", "HEAD");
  if (commit === undefined) throw new BuildError("This is not a checkout of a commit, which a release is made of.");
  const changes = git("status", "--porcelain") ?? "";
  if (changes !== "") throw new BuildError(`A release is made of a commit, and these are not in it:\n${changes}`);
  return commit;
}

function requireEmpty(directory: string): void {
  if (existsSync(directory) && readdirSync(directory).length > 0) {
    throw new BuildError(`${directory} is not empty: remove it, or name another with --output.`);
  }
}

if (import.meta.main) {
  const [first, ...rest] = process.argv.slice(2);
  await (first === "apt" ? runApt(rest) : runWithArguments({ usage: USAGE, options: OPTIONS }, main));
}
