/** How many processes an account may have, so that the host keeps enough to shut it. */

import { readFileSync } from "node:fs";
import { MARKER_GROUP } from "../host/settings.ts";
import { type PlaceFile, ROOT_FILE } from "./plan.ts";
import { LIMITS_FILE } from "./settings.ts";

/** Enough to work with on any machine; few enough that several accounts together do not exhaust a small one. */
const LEAST = 128;
const MOST = 1000;
const SHARE = 16;

/** The text of the file for pam_limits(8): threads count, and `-` is both the soft and the hard limit. */
export function renderLimits(processes: number): string {
  return `# Written by "uam install": how many processes and threads an account of an external user may have.
# Without it one account could start so many that none are left to shut it with. For another limit, write the same line
# into a file that comes later, such as /etc/security/limits.d/90-local.conf: the last line applies.
@${MARKER_GROUP} - nproc ${processes}
`;
}

/** Places that file; it takes effect at the next login. */
export function limitsStep(processes: number): PlaceFile {
  return { ...ROOT_FILE, kind: "file", path: LIMITS_FILE, content: renderLimits(processes), keep: false };
}

/** A sixteenth of what this host can run at a time, between 128 and 1000. */
export function processLimit(hostLimit = hostProcesses()): number {
  return Math.max(LEAST, Math.min(MOST, Math.floor(hostLimit / SHARE)));
}

/** See proc(5). */
function hostProcesses(): number {
  return Math.min(
    ...["threads-max", "pid_max"].map((name) => Number(readFileSync(`/proc/sys/kernel/${name}`, "utf8"))),
  );
}
