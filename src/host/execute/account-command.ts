/** Running useradd, usermod, userdel, groupadd and chage, and reporting what is wrong when they fail. */

import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { UamError } from "../../shared/errors.ts";
import { type CommandResult, runCommand } from "../command.ts";
import { readProcess } from "../processes/processes.ts";
import { errorCode } from "../safe-open.ts";

const LOCKS = ["/etc/passwd.lock", "/etc/shadow.lock", "/etc/group.lock", "/etc/gshadow.lock"] as const;
const LOCKED = /cannot lock|unable to lock|try again later/i;
const TRIES = 4;
const PAUSE = 400;

/**
 * Runs an account command. If another tool holds the lock, retries for about a second. Throws `internal`
 * with the command's own message, or with who holds the lock, including a lock that a crash left behind.
 */
export async function runAccountCommand(
  argv: readonly string[],
  accept: readonly number[],
  run: (argv: readonly string[]) => Promise<CommandResult> = runCommand,
): Promise<void> {
  let result = await run(argv);
  for (let attempt = 1; attempt < TRIES && isLocked(result); attempt++) {
    await sleep(PAUSE);
    result = await run(argv);
  }
  if (accept.includes(result.exitCode)) return;
  const name = argv[0]?.split("/").at(-1) ?? "";
  const account = argv.at(-1) ?? "";
  const words = result.stderr.trim().split("\n").at(-1) ?? "";
  const why = isLocked(result) ? await describeLock() : words || `exit code ${result.exitCode}`;
  throw new UamError("internal", `${name} refused ${account}: ${why}`);
}

function isLocked(result: CommandResult): boolean {
  return result.exitCode !== 0 && LOCKED.test(result.stderr);
}

/** The process that holds the lock of the account databases; shadow-utils take over the lock only of a process that is gone. */
async function describeLock(): Promise<string> {
  const seen = findLock();
  if (seen?.holder !== undefined)
    return `${seen.path} is held by process ${seen.holder}; wait for it, or remove the file if that is no account tool`;
  // A tool that has just ended, or has not yet written its pid, looks the same for a moment.
  await sleep(PAUSE);
  const still = findLock();
  if (seen !== undefined && still?.path === seen.path && still.content === seen.content && still.holder === undefined)
    return `${seen.path} is left over from a crash; remove it if no account tool is running`;
  return "another account tool holds the lock of /etc/passwd; try again";
}

interface Lock {
  readonly path: string;
  readonly content: string;
  /** The process that it names, if there is one. */
  readonly holder: number | undefined;
}

function findLock(): Lock | undefined {
  for (const path of LOCKS) {
    const content = readLock(path);
    if (content === undefined) continue;
    const pid = /^\d+$/.test(content) ? Number(content) : undefined;
    return { path, content, holder: pid === undefined ? undefined : readProcess(pid)?.pid };
  }
  return undefined;
}

function readLock(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").replace(/\0/g, "").trim();
  } catch (error) {
    // EACCES: in sudo mode only root may look into the lock.
    if (["ENOENT", "EACCES"].includes(errorCode(error))) return undefined;
    throw error;
  }
}
