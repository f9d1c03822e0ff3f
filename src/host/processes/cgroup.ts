/** Control groups of processes. */

import { writeFileSync } from "node:fs";
import { errorCode } from "../walk.ts";

/** Where version 2 of control groups is mounted, alone or beside version 1 (systemd's hybrid hierarchy). */
const CGROUPS = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"] as const;

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
