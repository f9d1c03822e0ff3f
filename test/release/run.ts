/**
 * `bun test/release/run.ts`: dist holds the binaries, Debian packages and bills of materials of both architectures, the packages hold what they
 * should, and another build of HEAD, in another place and with another environment, gives the same bytes. Exit code 1 if
 * anything is wrong or missing.
 */

import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { binaryPath, sbomPath } from "../../src/build/build.ts";
import { type Architecture, ownArchitecture, PROJECT } from "../../src/build/packages.ts";
import { VERSION } from "../../src/shared/version.ts";
import { ENCLOSED, endChildren, must } from "../debian/shell.ts";
import { at, same, step } from "../debian/steps.ts";
import { runToEnd } from "../debian/to-end.ts";

const OTHER: Architecture = ownArchitecture() === "x64" ? "arm64" : "x64";
const DEBIAN_NAMES = { x64: "amd64", arm64: "arm64" } as const;
const FIELDS = ["Package", "Version", "Maintainer", "Depends", "Recommends", "Section", "Priority", "Description"];
/** Seconds for a package with its binary, half of which goes into packing PostgreSQL, and half into packing the package. */
const PATIENCE = 240;

const directory = mkdtempSync(join(tmpdir(), "uam-release-"));

async function main(): Promise<"tested"> {
  const files = (["x64", "arm64"] as const).flatMap((each) => [binaryPath(each), packagePath(each), sbomPath(each)]);
  if (process.getuid?.() !== 0) throw new Error("Only root can build in a namespace");
  for (const file of files) {
    if (!existsSync(file))
      throw new Error(`${file} is missing: run "bun run deb" and "bun run deb --arch ${OTHER}" first`);
  }
  await step("each package is for its architecture, and otherwise like the other", checkControls);
  await step("both contain the same files, and each its architecture's program", checkContents);
  const clone = join(directory, "elsewhere with a longer name");
  await step("another build of HEAD, for both architectures", () => buildAgain(clone));
  for (const file of files) {
    const [name = ""] = /[^/]+$/.exec(file) ?? [];
    await step(`its ${name} is the same, byte by byte`, () => must(["cmp", file, join(clone, "dist", name)], 30));
  }
  return "tested";
}

function packagePath(architecture: Architecture): string {
  return join(PROJECT, `dist/uam_${VERSION}_${DEBIAN_NAMES[architecture]}.deb`);
}

async function checkControls(): Promise<void> {
  const fieldOf = (architecture: Architecture, ...names: readonly string[]) =>
    must(["dpkg-deb", "--field", packagePath(architecture), ...names], 10);
  for (const architecture of ["x64", "arm64"] as const) {
    same(await fieldOf(architecture, "Architecture"), `${DEBIAN_NAMES[architecture]}\n`, "the package's architecture");
  }
  same(await fieldOf("arm64", ...FIELDS), await fieldOf("x64", ...FIELDS), "the fields of the package for arm64");
}

async function checkContents(): Promise<void> {
  const x64 = await extracted("x64");
  const arm64 = await extracted("arm64");
  same(await listed(arm64), await listed(x64), "the files of the package for arm64");
  await must(["cmp", binaryPath("x64"), join(x64, "usr/bin/uam")], 30);
  await must(["cmp", binaryPath("arm64"), join(arm64, "usr/bin/uam")], 30);
  await must(["cmp", sbomPath("x64"), join(x64, "usr/share/doc/uam/uam.cdx.json")], 10);
  await must(["cmp", sbomPath("arm64"), join(arm64, "usr/share/doc/uam/uam.cdx.json")], 10);
}

/** The path of a directory tree with the package's files. */
async function extracted(architecture: Architecture): Promise<string> {
  const tree = join(directory, architecture);
  await must(["dpkg-deb", "--extract", packagePath(architecture), tree], 60);
  return tree;
}

/** Type, mode, owner and path of each file. */
async function listed(tree: string): Promise<string> {
  const lines = await must(["find", tree, "-mindepth", "1", "-printf", "%M %U:%G %P\n"], 10);
  return lines.split("\n").sort().join("\n");
}

async function buildAgain(clone: string): Promise<void> {
  await must(["git", "clone", "--quiet", PROJECT, clone], 60);
  // Packing it takes some 10 s. The one for this machine is packed once more where its image is built (test/container/run.ts).
  const cache = join(PROJECT, "dist/cache");
  for (const name of readdirSync(cache).filter((each) => each.startsWith(`postgres-linux-${ownArchitecture()}-`))) {
    cpSync(join(cache, name), join(clone, "dist/cache", name));
  }
  const environment = [...ENCLOSED, "env", `--chdir=${clone}`, "TZ=Asia/Tokyo", "LC_ALL=C.UTF-8"];
  const masked = (...argv: readonly string[]) => ["sh", "-c", 'umask 077; exec "$@"', "sh", ...environment, ...argv];
  for (const architecture of ["x64", "arm64"]) {
    await must(masked(process.execPath, "run", "deb", "--arch", architecture), PATIENCE);
  }
}

async function cleanUp(): Promise<void> {
  await endChildren(directory);
  rmSync(directory, { recursive: true, force: true });
}

await runToEnd({ name: "The release", main: () => at("release", main), cleanUp });
