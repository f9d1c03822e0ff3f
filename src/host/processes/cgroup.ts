/** Control groups of processes. */

import { existsSync, writeFileSync } from "node:fs";
import { errorCode } from "../safe-open.ts";

/** Where version 2 of control groups is mounted, alone or beside version 1 (systemd's hybrid hierarchy). */
const CGROUPS = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"] as const;

/**
 * False only if it is certain that there is no such group: version 2 is mounted alone, and does not have it. Then systemd has no
 * unit of that name with a process in it.
 */
export function mayHaveGroup(path: string): boolean {
  const [root] = CGROUPS;
  return !existsSync(`${root}/cgroup.controllers`) || existsSync(`${root}${path}`);
}

/**
 * Ends what is in the group at one moment, forks under way included (cgroup.kill, Linux 5.14). If it is absent or read-only nothing
 * happens: whoever calls this must not rely on it.
 */
export function killGroup(path: string): void {
  for (const root of CGROUPS) {
    try {
      writeFileSync(`${root}${path}/cgroup.kill`, "1", { flag: "r+" });
    } catch (error) {
      if (errorCode(error) === "") throw error;
    }
  }
}
