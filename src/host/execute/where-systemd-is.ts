/** Commands for systemd, if it runs: a convenience beside what ends processes for certain. */

import type { Log } from "../../shared/log.ts";
import { isSystemdHost } from "../../shared/systemd.ts";

/** How a command ended. */
interface Ended {
  readonly exitCode: number;
  readonly stderr: string;
}

/** Runs the command if systemd runs. A failure (no such session, no bus, no process left) is no error, and only logged. */
export async function runWhereSystemdIs(
  argv: readonly string[],
  log: Log,
  run: (argv: readonly string[]) => Promise<Ended>,
): Promise<void> {
  if (!isSystemdHost()) return;
  const { exitCode, stderr } = await run(argv);
  if (exitCode !== 0) log.debug(`host: ${argv[0]} exited with ${exitCode}`, { argv, stderr });
}
