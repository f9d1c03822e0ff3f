/** Directories for tests that write a lot. */

import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MEMORY = "/dev/shm";
const NEEDED = 2 ** 30;

/**
 * Where databases of tests are: in memory if that has a GiB and allows execution, else with the temporary files. A database is
 * made of some 300 files, which take ten times as long on a disk.
 */
export const databaseParent = isFit(MEMORY) ? MEMORY : tmpdir();

/** A new directory for a database cluster, that the caller removes. */
export function databaseDirectory(prefix: string): string {
  const directory = mkdtempSync(join(databaseParent, prefix));
  // The server has a uid of its own when the tests run as root.
  chmodSync(directory, 0o711);
  return directory;
}

function isFit(directory: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(directory);
    if (bavail * bsize < NEEDED) return false;
    const probe = mkdtempSync(join(directory, "uam-test-probe-"));
    try {
      const program = join(probe, "true");
      writeFileSync(program, "#!/bin/sh\n", { mode: 0o700 });
      return spawnSync(program).status === 0;
    } finally {
      rmSync(probe, { recursive: true });
    }
  } catch {
    return false;
  }
}
