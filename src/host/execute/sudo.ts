/** The executor of sudo mode: the same changes as in direct mode, each through `sudo -n` and a rule made for it. */

import { randomBytes } from "node:crypto";
import { existsSync, lstatSync, realpathSync } from "node:fs";
import { publicMessage, UamError } from "../../shared/errors.ts";
import type { Log } from "../../shared/log.ts";
import { parseShadow, type ShadowEntry } from "../account.ts";
import { type CommandResult, findCommand } from "../command.ts";
import { describeChange, describeOutsideEnd, type Executor, type HostView } from "../executor.ts";
import { fuseMountsOf } from "../fuse-mounts.ts";
import { readKeyFile } from "../key-file/key-file-text.ts";
import { type Change, splitHome } from "../plan/plan.ts";
import { endOutsideSessions } from "../processes/outside-sessions.ts";
import { endProcesses, type ProcessEnder } from "../processes/process-end.ts";
import { sentenceOfUnread, titledConnectionsOf } from "../processes/processes.ts";
import { emptyEach, ofAccount, requireEmpty, type TrashLeft } from "../remove-home.ts";
import { errorCode, mountsWithin, readMounts } from "../safe-open.ts";
import type { Layout } from "../settings.ts";
import { runAccountCommand } from "./account-command.ts";
import { oneAtATime } from "./direct.ts";
import {
  deleteTrashCommand,
  detachCommands,
  endConnectionsCommand,
  killSeenCommands,
  listTrashCommand,
  makeTrashCommand,
  moveHomeCommand,
  removeFileCommand,
  removeOwnedCommand,
  shadowCommand,
  sweepCommand,
  trashPath,
} from "./sudo-commands.ts";
import { createSudoJobs } from "./sudo-jobs.ts";
import { emptyAsOwner, keyFileDifference, keyFileText, writeKeysAsOwner } from "./sudo-key-file.ts";
import { suspectsByRoot } from "./sudo-look.ts";
import { runSudo } from "./sudo-run.ts";
import { createSudoSessions } from "./sudo-sessions.ts";
import { OWN_VIEW } from "./view.ts";
import { runWhereSystemdIs } from "./where-systemd-is.ts";

/** How many accounts one command asks for. */
const NAMES_AT_ONCE = 100;
const DELETE_TIMEOUT = 20_000;
const KILL_TIMEOUT = 2_000;
/** Long enough for a program of this size to start on a machine that a fork bomb keeps busy. */
const SWEEP_TIMEOUT = 8_000;

/** Carries changes out as an unprivileged user; see each kind in plan.ts, and sudo-commands.ts for what runs. */
export function createSudoExecutor(log: Log, program: readonly string[], layout: Layout): Executor {
  const ender = sudoEnder(program);
  const sessions = createSudoSessions(log, program);
  return {
    async apply(change) {
      const { message, fields } = describeChange(change);
      log.debug(`host: ${message}`, fields);
      await execute(change, log, ender);
    },
    // Only root can read the proof of which key opened a session.
    endUnproven: async () => false,
    endOutside(account) {
      const { message, fields } = describeOutsideEnd(account);
      log.debug(`host: ${message}`, fields);
      return endOutsideSessions(account, sessions);
    },
    suspects: (accounts) => suspectsByRoot(accounts, { layout, program, log }),
    sessions,
    jobs: createSudoJobs(log, program),
    view,
  };
}

/** Files in the homes are inspected with their owner's rights, shadow entries and the trash as root. */
const view: HostView = {
  ...OWN_VIEW,
  shadow: readShadow,
  keyFileDifference: (file, text, { mounts }) => keyFileDifference(file, text, mounts),
  keyFileText: async (file, ground) =>
    file.inHome ? await keyFileText(file, ground.mounts) : readKeyFile(file, ground),
  trash: listTrash,
};

async function execute(change: Change, log: Log, ender: ProcessEnder): Promise<void> {
  switch (change.kind) {
    case "account-command":
      return oneAtATime(() => runAccountCommand(change.argv, change.accept, (argv) => runSudo({ as: "root", argv })));
    case "systemd-command":
      return runWhereSystemdIs(change, log, runIfPossible);
    case "end-processes":
      return endProcesses(change.account, ender);
    case "kill":
      // Pids cannot be pinned in sudoers: all of an account's processes end, or none.
      throw new UamError("internal", "In sudo mode single processes cannot be ended, only all of an account");
    case "write-keys":
      return writeKeysAsOwner(change.file, change.text, readMounts());
    case "retire-keys":
      if (await emptyAsOwner(change.file, readMounts()))
        log.warn(`security: ${change.file.path}, which sshd also reads, contained keys and was emptied`, {
          account: change.file.owner.name,
        });
      return;
    case "remove-file":
      return removeFile(change.path);
    case "remove-owned-files":
      if (existsSync(change.directory)) await requireDone(removeOwnedCommand(change.directory, change.uid));
      return;
    case "shut-home":
    case "open-home":
      throw new UamError("internal", "In sudo mode homes stay their owners'");
    case "detach-fuse":
      return detachFuse(change.path, change.uid, log);
    case "set-aside":
      return setAside(change);
    case "make-trash":
      return requireTrash(change.base);
    case "empty-trash":
      return requireEmpty(await emptyTrash(change.base, change.account?.name), log);
  }
}

function sudoEnder(program: readonly string[]): ProcessEnder {
  return {
    async sweep(account, seen) {
      for (const command of seen.length === 0 ? [] : killSeenCommands(account)) {
        if (findCommand(command.argv[0] ?? "") !== undefined) await runSudo(command, { timeout: KILL_TIMEOUT });
      }
      return (await runSudo(sweepCommand(account, program), { timeout: SWEEP_TIMEOUT })).exitCode === 0;
    },
    async endConnections(processes, account) {
      if (titledConnectionsOf(processes, account.name).length === 0) return false;
      await runSudo(endConnectionsCommand(account));
      return true;
    },
    unread: sentenceOfUnread,
  };
}

/** If no process can be started, the command counts as failed; a missing rule is a fault. */
async function runIfPossible(argv: readonly string[]) {
  return await runSudo({ as: "root", argv }).catch((error: unknown) => {
    if (error instanceof UamError && error.cause !== undefined) return { exitCode: -1, stderr: error.message };
    throw error;
  });
}

/** If this process can see that there is nothing, sudo is not run. */
async function removeFile(path: string): Promise<void> {
  try {
    if (lstatSync(path).isDirectory()) return;
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errorCode(error))) return;
    if (errorCode(error) !== "EACCES") throw error;
  }
  await requireDone(removeFileCommand(path));
}

async function requireDone(command: ReturnType<typeof removeFileCommand>): Promise<void> {
  const result = await runSudo(command);
  if (result.exitCode === 0) return;
  const words = result.stderr.trim().split("\n").at(-1) || `exit code ${result.exitCode}`;
  throw new UamError("internal", `${command.argv[0]?.split("/").at(-1)} refused ${command.argv.at(-1)}: ${words}`);
}

/** Each as the owner of the home. Leftovers prevent only the removal of the home. */
async function detachFuse(home: string, uid: number, log: Log): Promise<void> {
  const { base, name } = splitHome(home);
  const own = () => (existsSync(base) ? fuseMountsOf(readMounts(), `${realpathSync(base)}/${name}`, uid) : []);
  for (const { path } of [...own()].reverse()) {
    for (const command of detachCommands(path)) {
      if (findCommand(command.argv[0] ?? "") !== undefined) await runSudo(command, { user: name });
    }
  }
  for (const { path } of own())
    log.warn(`${path} is a mount point of uid ${uid} and could not be detached: unmount it`);
}

/** A home is renamed as root, from one directory of root's into another. Root never touches the content of a home. */
async function setAside(change: Extract<Change, { kind: "set-aside" }>): Promise<void> {
  const [name = "", ...below] = change.path;
  // In a new home's skeleton only the key file matters, and that is written next.
  if (below.length > 0) return;
  const home = `${change.base}/${name}`;
  if (!existsSync(change.base)) return;
  const base = realpathSync(change.base);
  // First: a FUSE server need not answer who it is.
  for (const path of [`${base}/${name}`, trashPath(base)]) {
    const mount = mountsWithin(readMounts(), path)[0];
    if (mount !== undefined) throw new UamError("internal", `${mount.path} is a mount point: unmount it`);
  }
  const stat = lstatSync(home, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (stat.uid !== change.uid && stat.uid !== 0) {
    throw new UamError("conflict", `${home} belongs to uid ${stat.uid}, not to ${change.uid}: it is left alone`);
  }
  await requireTrash(change.base);
  await requireDone(moveHomeCommand(change.base, name, randomBytes(8).toString("hex")));
}

async function requireTrash(base: string): Promise<void> {
  const path = trashPath(base);
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) await requireDone(makeTrashCommand(base));
  const stat = lstatSync(path);
  if (stat.isDirectory() && stat.uid === 0 && (stat.mode & 0o077) === 0) return;
  throw new UamError("internal", `${path} is not root's alone: remove it`);
}

async function listTrash(base: string): Promise<readonly string[]> {
  if (lstatSync(trashPath(base), { throwIfNoEntry: false }) === undefined) return [];
  const result = await runSudo(listTrashCommand(base));
  if (result.exitCode !== 0) throw new UamError("internal", `Cannot look into ${trashPath(base)}`);
  return result.stdout.split("\n").filter((name) => name !== "");
}

/** Only root can enter the trash, so the tree does not change while rm(1) works, which follows no link. */
async function emptyTrash(base: string, account: string | undefined): Promise<TrashLeft> {
  const names = ofAccount(await listTrash(base), account);
  return await emptyEach(base, names, (_, name) => deleteFromTrash(base, name));
}

/** There is no rule for a name that direct mode gave. */
async function deleteFromTrash(base: string, name: string): Promise<CommandResult> {
  try {
    return await runSudo(deleteTrashCommand(base, name), { timeout: DELETE_TIMEOUT });
  } catch (error) {
    return { exitCode: 1, stdout: "", stderr: publicMessage(error) };
  }
}

async function readShadow(names: readonly string[]): Promise<ReadonlyMap<string, ShadowEntry>> {
  const entries = new Map<string, ShadowEntry>();
  for (let start = 0; start < names.length; start += NAMES_AT_ONCE) {
    const result = await runSudo(shadowCommand(names.slice(start, start + NAMES_AT_ONCE)));
    // getent(1): 2 if one of them has no entry.
    if (result.exitCode !== 0 && result.exitCode !== 2) {
      throw new UamError("internal", `Cannot look up expiry dates: getent exited with ${result.exitCode}`);
    }
    for (const [name, entry] of parseShadow(result.stdout)) entries.set(name, entry);
  }
  return entries;
}
