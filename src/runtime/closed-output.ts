/** A standard output that was closed before the program began. */

import { closeSync, existsSync, openSync, readFileSync } from "node:fs";

const STDOUT = 1;
/** A flag of open(2), on Linux. */
const O_CLOEXEC = 0o2000000;

/**
 * Makes writing to a closed standard output fail (EBADF), as it would without the runtime, which puts /dev/null in its place,
 * where a backup would vanish silently. Must be called first. Throws if that is impossible.
 */
export function keepOutputClosed(): void {
  if (!isStandIn()) return;
  closeSync(STDOUT);
  // open(2) takes the lowest free number (POSIX), here for reading only: left free, the number would go to the next file opened.
  if (openSync("/dev/null", "r") !== STDOUT) throw new Error("The standard output is closed");
}

/** Descriptors that the program was started with survived execve(2), so one that closes on it was opened since. */
function isStandIn(): boolean {
  const path = `/proc/self/fdinfo/${STDOUT}`;
  // In a chroot without /proc this cannot be determined.
  const flags = existsSync(path) ? /^flags:\s*([0-7]+)$/m.exec(readFileSync(path, "utf8"))?.[1] : undefined;
  return flags !== undefined && (Number.parseInt(flags, 8) & O_CLOEXEC) !== 0;
}
