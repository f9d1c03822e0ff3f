/** The executor of direct mode: carries changes out in this process, as root. */

import { closeSync, existsSync, lstatSync, readdirSync, unlinkSync } from "node:fs";
import { UamError } from "../../shared/errors.ts";
import type { Log } from "../../shared/log.ts";
import { writeKeyFile } from "../key-file/key-file.ts";
import { takeFromKeyFile, takeOtherKeyFile } from "../key-file/take.ts";
import { type Change, splitHome } from "../plan/plan.ts";
import { endProcesses, killProcesses } from "../processes/processes.ts";
import { endUnprovenSessions } from "../processes/sessions.ts";
import { detachFuse, emptyTrash, makeTrash, requireEmpty, setAsideAnyhow } from "../remove-home.ts";
import { at, errorCode, openDirectory, openTrusted, readMounts } from "../walk.ts";
import { runAccountCommand } from "./account-command.ts";
import { createMutex, runCommand } from "./command.ts";
import { describeChange, describeSessionEnd, type Executor } from "./executor.ts";
import { OWN_EYES } from "./eyes.ts";

/** shadow-utils take one lock for the whole of /etc/passwd; hosts in one process share the wait for it. */
export const oneAtATime = createMutex();

/** Carries changes out as root; see each kind in plan.ts. */
export function createDirectExecutor(log: Log, journalctl = "/usr/bin/journalctl"): Executor {
  const executor: Executor = {
    async apply(change) {
      const { message, fields } = describeChange(change);
      log.debug(`host: ${message}`, fields);
      await execute(change, log);
    },
    endUnproven(account, fingerprint) {
      const { message, fields } = describeSessionEnd(account, fingerprint);
      log.debug(`host: ${message}`, fields);
      return endUnprovenSessions(account, fingerprint ?? "", { executor, journalctl });
    },
    eyes: OWN_EYES,
  };
  return executor;
}

async function execute(change: Change, log: Log): Promise<void> {
  switch (change.kind) {
    case "account-command":
      return oneAtATime(() => runAccountCommand(change.argv, change.accept));
    case "systemd-command":
      return runWhereSystemdIs(change.argv, log);
    case "end-processes":
      return endProcesses(change);
    case "kill":
      return killProcesses(change.processes, change.command);
    case "write-keys": {
      const write = change.purpose === "take" ? takeFromKeyFile : writeKeyFile;
      const written = await write(change.file, change.text, readMounts());
      for (const note of written.notes) log.warn(`security: ${note}`, { account: change.file.owner.name });
      return;
    }
    case "retire-keys": {
      const note = await takeOtherKeyFile(change.file, readMounts());
      if (note !== undefined) log.warn(`security: ${note}`, { account: change.file.owner.name });
      return;
    }
    case "remove-file":
      return removeFile(change.path);
    case "remove-owned-files":
      return removeOwnedFiles(change.directory, change.uid);
    case "detach-fuse":
      return detachFuse(change.path, change.uid);
    case "set-aside":
      await setAsideAnyhow(change.base, change.path, change.uid);
      return;
    case "make-trash":
      return makeTrash(change.base);
    case "empty-trash":
      return requireEmpty(await emptyTrash(change.base, change.account), log);
  }
}

/** A convenience on top of what ends processes for certain, so its failure (no such session, no bus) is no error. */
async function runWhereSystemdIs(argv: readonly string[], log: Log): Promise<void> {
  // sd_booted(3)
  if (!existsSync("/run/systemd/system")) return;
  const result = await runCommand(argv);
  if (result.exitCode !== 0)
    log.debug(`host: ${argv[0]} ended with ${result.exitCode}`, { argv, stderr: result.stderr });
}

function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    // A directory of that name (Red Hat's /var/spool/cron/tabs is none of an account's) is not what is meant.
    if (["ENOENT", "ENOTDIR", "EISDIR"].includes(errorCode(error))) return;
    throw new UamError("internal", `Cannot remove ${path}: ${errorCode(error) || "unexpected error"}`, {
      cause: error,
    });
  }
}

/** The at daemon's spool belongs to the daemon, so it is opened without following a link and worked on from inside. */
function removeOwnedFiles(path: string, uid: number): void {
  const { base, name: last } = splitHome(path);
  const opened: number[] = [];
  try {
    const parent = openTrusted(base);
    opened.push(parent);
    const directory = openDirectory(parent, last);
    opened.push(directory);
    for (const name of readdirSync(`/proc/self/fd/${directory}`)) {
      const stat = lstatSync(at(directory, name));
      if (stat.uid === uid && stat.isFile()) unlinkSync(at(directory, name));
    }
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errorCode(error))) return;
    if (error instanceof UamError) throw error;
    throw new UamError("internal", `Cannot remove jobs in ${path}: ${errorCode(error) || "unexpected error"}`, {
      cause: error,
    });
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}
