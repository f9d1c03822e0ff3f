/** Commands for systemd, if it runs: a convenience beside what ends processes for certain. */

import { lstatSync } from "node:fs";
import type { Log } from "../../shared/log.ts";
import { isSystemdHost } from "../../shared/system/systemd.ts";
import type { Change, SystemdSubject } from "../plan/plan.ts";
import { mayHaveGroup } from "../processes/cgroup.ts";
import { errorCode } from "../safe-open.ts";

/** How a command ended. */
interface Ended {
  readonly exitCode: number;
  readonly stderr: string;
}

/**
 * Runs the command if systemd runs and may know what it is about. A failure (no such session, no bus, no
 * process left) is no error, and only logged.
 */
export async function runWhereSystemdIs(
  { argv, about }: Extract<Change, { kind: "systemd-command" }>,
  log: Log,
  run: (argv: readonly string[]) => Promise<Ended>,
): Promise<void> {
  if (!isSystemdHost() || (about !== undefined && !mayExist(about))) return;
  const { exitCode, stderr } = await run(argv);
  if (exitCode !== 0) log.debug(`host: ${argv[0]} exited with ${exitCode}`, { argv, stderr });
}

function mayExist(about: SystemdSubject): boolean {
  if ("group" in about) return mayHaveGroup(about.group);
  try {
    lstatSync(about.file);
    return true;
  } catch (error) {
    return !["ENOENT", "ENOTDIR"].includes(errorCode(error));
  }
}
