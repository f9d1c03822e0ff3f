/** A standard output that was closed before the program began. */

import { closeSync, existsSync, openSync, readFileSync } from "node:fs";

const STDOUT = 1;
/** Of open(2), on Linux. */
const O_CLOEXEC = 0o2000000;

/**
 * Makes writing to a closed standard output fail (EBADF) as it would without the runtime, which puts /dev/null in its place,
 * where a backup would vanish in silence. To be called first. Throws if it cannot be done.
 */
export function keepOutputClosed(): void {
  if (!isStandIn()) return;
  closeSync(STDOUT);
  // The lowest number that is free (POSIX), and of one that cannot be written: a free one would go to the next file opened.
  if (openSync("/dev/null", "r") !== STDOUT) throw new Error("The standard output is closed");
}

/** Whatever the program was started with survived execve(2), which a descriptor that closes there does not. */
function isStandIn(): boolean {
  const path = `/proc/self/fdinfo/${STDOUT}`;
  // In a chroot without /proc nobody can tell.
  const flags = existsSync(path) ? /^flags:\s*([0-7]+)$/m.exec(readFileSync(path, "utf8"))?.[1] : undefined;
  return flags !== undefined && (Number.parseInt(flags, 8) & O_CLOEXEC) !== 0;
}
