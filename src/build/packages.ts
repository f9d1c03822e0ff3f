/**
 * The parts of a binary, for either architecture: the versions and checksums are those of the two lock files, the project's
 * for the packages and the one in bun/ for the runtime.
 */

import { copyFileSync, cpSync, existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import runtimes from "./bun/package.json" with { type: "json" };

/** The top of the checkout. */
export const PROJECT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** The name that Node.js and npm packages use. */
export type Architecture = "x64" | "arm64";

/** The paths of a binary's parts. */
export interface Parts {
  /** The Bun for the architecture, to which the program is appended. */
  readonly bun: string;
  /** A node_modules with the native packages for the architecture. */
  readonly modules: string;
}

/** The name of the runtime for each in its lock file. */
export const BUN_PACKAGES = { x64: "@oven/bun-linux-x64", arm64: "@oven/bun-linux-aarch64" } as const;

/** The architecture of this machine. Throws if there are no builds for it. */
export function ownArchitecture(): Architecture {
  const { arch } = process;
  if (arch !== "x64" && arch !== "arm64") throw new Error(`There are no binaries for ${arch}.`);
  return arch;
}

/**
 * Throws unless `version`, of the Bun that runs the build, is that of the binaries: the former compiles the program to bytecode, and
 * the latter has to read it.
 */
export function requireBun(version: string): void {
  for (const [name, pinned] of Object.entries(runtimes.optionalDependencies)) {
    if (version !== pinned) throw new Error(`Bun ${version} cannot build for ${name} ${pinned}: use Bun ${pinned}.`);
  }
}

/**
 * Installs into `cache` what this checkout lacks for a binary; it stays there. The runtime comes from its lock file for this machine's
 * architecture too: the Bun that runs the build may be another variant of the same version, and the bytes of the result must not
 * depend on it. Throws the installation's output if it fails.
 */
export function installParts(cache: string, architecture: Architecture): Parts {
  const directory = join(cache, `linux-${architecture}`);
  const bun = installed(join(PROJECT, "src/build/bun"), join(directory, "bun"), architecture);
  const isOwn = architecture === ownArchitecture();
  return {
    bun: join(bun, BUN_PACKAGES[architecture], "bin/bun"),
    modules: isOwn ? join(PROJECT, "node_modules") : installed(PROJECT, join(directory, "packages"), architecture),
  };
}

/** Installs what package.json and bun.lock in `source` list into `target`, as on another machine; returns its node_modules. */
function installed(source: string, target: string, architecture: Architecture): string {
  mkdirSync(target, { recursive: true });
  for (const name of ["package.json", "bun.lock"]) copyFileSync(join(source, name), join(target, name));
  const patches = join(source, "patches");
  if (existsSync(patches)) cpSync(patches, join(target, "patches"), { recursive: true });
  const { success, stderr } = Bun.spawnSync(
    [
      ...[process.execPath, "install", "--frozen-lockfile", "--production", "--ignore-scripts", "--silent"],
      ...["--os", "linux", "--cpu", architecture],
    ],
    { cwd: target },
  );
  if (!success) throw new Error(`The packages for ${architecture} could not be installed: ${stderr.toString()}`);
  return join(target, "node_modules");
}
