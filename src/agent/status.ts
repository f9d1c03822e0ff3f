/** The status that a running agent publishes for `uam agent status` and `uam doctor`: in /run, so that nothing of it is on a disk. */

import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { HostProblem } from "../protocol/fleet.ts";
import { readPlainFile } from "../shared/system/plain-file.ts";
import { STATUS_FILE } from "./paths.ts";

export interface AgentStatus {
  readonly version: string;
  /** Since when the service has answered without a failure; undefined while it does not. */
  readonly since: string | undefined;
  readonly last_answer: string | undefined;
  /** Why the last request failed. */
  readonly failure: string | undefined;
  readonly problems: readonly HostProblem[];
}

export function writeStatus(directory: string, status: AgentStatus): void {
  const path = join(directory, STATUS_FILE);
  mkdirSync(directory, { recursive: true, mode: 0o755 });
  writeFileSync(`${path}.new`, `${JSON.stringify(status)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** The status the agent wrote last; undefined if none ran since the boot. */
export function readStatus(directory: string): AgentStatus | undefined {
  try {
    return JSON.parse(readPlainFile(join(directory, STATUS_FILE))) as AgentStatus;
  } catch {
    return undefined;
  }
}
