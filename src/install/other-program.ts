/** Two programs named uam on one host: a copy by `uam install`, which a shell finds first, and the package's. */

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { UamError } from "../shared/errors.ts";
import { PACKAGED_PROGRAM, PROGRAM } from "./settings.ts";

/**
 * The copy that `uam install` made before the package came, if the package's program is the one that installs now; undefined without
 * one, and for a file of another kind. It would hide the package's program, and so each of its updates.
 */
export function copyToReplace(source: string): string | undefined {
  return source === PACKAGED_PROGRAM && isUam(PROGRAM) ? PROGRAM : undefined;
}

/** Throws `conflict` if the program would be copied to where it hides the package's. */
export function requireNoPackage(source: string): void {
  if (source === PACKAGED_PROGRAM || !existsSync(PACKAGED_PROGRAM)) return;
  throw new UamError(
    "conflict",
    `The package of uam is installed, and a copy in ${PROGRAM} would hide it and its updates: run ${PACKAGED_PROGRAM} install, or remove the package first (apt-get remove uam)`,
  );
}

/** A file that only root can have put there, and that root's shell runs by this name anyway. */
function isUam(path: string): boolean {
  if (!existsSync(path)) return false;
  const { stdout } = spawnSync(path, ["version"], { encoding: "utf8", timeout: 30_000, cwd: "/", env: {} });
  return /^uam \d/.test(stdout ?? "");
}
