/** Programs that some tests need besides Bun. */

import { accessSync, constants } from "node:fs";
import { join } from "node:path";

const DIRECTORIES = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/**
 * Whether tests that need these programs run: if one is missing they are shown as skipped, but with
 * UAM_TEST_HOST=1, as in CI, they run all the same, and fail.
 */
export function needs(...programs: readonly string[]): boolean {
  return process.env.UAM_TEST_HOST === "1" || programs.every(isInstalled);
}

function isInstalled(program: string): boolean {
  return DIRECTORIES.some((directory) => {
    try {
      accessSync(join(directory, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
