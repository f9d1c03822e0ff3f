/** The executor of direct mode: carries changes out in this process, as root. */

import { closeSync, existsSync, lstatSync, readdirSync, unlinkSync } from "node:fs";
import { setImmediate as breathe } from "node:timers/promises";
import { publicMessage, UamError } from "../../shared/errors.ts";
import type { Log } from "../../shared/log.ts";
import type { Kernel } from "../../shared/system/kernel.ts";
import { createMutex, runCommand } from "../command.ts";
import {
  describeChange,
  describeJobsCopy,
  describeOutsideEnd,
  describeSessionEnd,
  type Executor,
  type HostSessions,
} from "../executor.ts";
import { detachFuse } from "../fuse-mounts.ts";
import { openHome, shutHome } from "../home.ts";
import { forgetJobs, keepJobs } from "../jobs/kept-jobs.ts";
import { writeKeyFile } from "../key-file/key-file.ts";
import { takeFromKeyFile, takeOtherKeyFile } from "../key-file/take.ts";
import { type Change, splitHome } from "../plan/plan.ts";
import { killGroup } from "../processes/cgroup.ts";
import { createFuseBreaker } from "../processes/fuse-connections.ts";
import type { Journal } from "../processes/journal.ts";
import type { LoginReader } from "../processes/login-log.ts";
import { endOutsideSessions } from "../processes/outside-sessions.ts";
import { endProcesses, type ProcessEnder } from "../processes/process-end.ts";
import {
  connectionsOf,
  isAbout,
  killProcesses,
  processesOf,
  readPids,
  sentenceOfUnread,
} from "../processes/processes.ts";
import { endUnprovenSessions } from "../processes/proven-sessions.ts";
import type { RefusalReader } from "../processes/refused-logins.ts";
import { endSession } from "../processes/session-end.ts";
import { listConnections } from "../processes/ssh-sessions.ts";
import { emptyTrash, makeTrash, requireEmpty, setAsideAnyhow, TRASH } from "../remove-home.ts";
import { at, errorCode, openDirectory, openTrusted, readMounts } from "../safe-open.ts";
import { runAccountCommand } from "./account-command.ts";
import { OWN_VIEW } from "./view.ts";
import { runWhereSystemdIs } from "./where-systemd-is.ts";

/** shadow-utils take one lock for the whole of /etc/passwd; hosts in one process share the wait for it. */
export const oneAtATime = createMutex();

/** The dependencies of direct mode besides the log. */
export interface DirectMeans {
  readonly kernel: Kernel;
  /** True for the uid of an account that the service created. */
  readonly isOurs: (uid: number) => boolean;
  /** Where sshd's own record is of which key opened a connection. */
  readonly journal: Journal;
  /** The same record of all logins. */
  readonly loginLog: LoginReader;
  /** Its lines about refused logins. */
  readonly refusalLog: RefusalReader;
}

/** Carries changes out as root; see each kind in plan.ts. */
export function createDirectExecutor(log: Log, means: DirectMeans): Executor {
  const sessions = createOwnSessions(means, log);
  const executor: Executor = {
    async apply(change) {
      const { message, fields } = describeChange(change);
      log.debug(`host: ${message}`, fields);
      await execute(change, log, means);
    },
    endUnproven(account, fingerprint) {
      const { message, fields } = describeSessionEnd(account, fingerprint);
      log.debug(`host: ${message}`, fields);
      return endUnprovenSessions(account, fingerprint ?? "", { executor, journal: means.journal });
    },
    endOutside(account) {
      const { message, fields } = describeOutsideEnd(account);
      log.debug(`host: ${message}`, fields);
      return endOutsideSessions(account, sessions);
    },
    sessions,
    jobs: {
      async keep(account) {
        const { message, fields } = describeJobsCopy(account);
        log.debug(`host: ${message}`, fields);
        return await keepJobs(account);
      },
      forget: async () => forgetJobs(),
    },
    view: OWN_VIEW,
  };
  return executor;
}

/** The processes that this process itself can see and end, as root. */
export function createOwnSessions(means: Omit<DirectMeans, "isOurs">, log: Log): HostSessions {
  const { kernel, journal, loginLog, refusalLog } = means;
  return {
    list: (account) => listConnections(account, journal),
    end(account, id) {
      log.debug("host: end an SSH session", { account: account.name, session: id });
      return endSession(account, id, { kernel });
    },
    logins: (from) => loginLog.read(from),
    refusals: ({ name }) => refusalLog.read(name),
  };
}

async function execute(change: Change, log: Log, { kernel, isOurs }: DirectMeans): Promise<void> {
  switch (change.kind) {
    case "account-command":
      return oneAtATime(() => runAccountCommand(change.argv, change.accept));
    case "systemd-command":
      return runWhereSystemdIs(change, log, runAnyway);
    case "end-processes":
      return endProcesses(change.account, directEnder(kernel, isOurs), { isFirst: change.isFirst });
    case "kill":
      return killProcesses(change.processes, kernel);
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
    case "shut-home":
      return shutHome({ path: change.owner.home, uid: change.owner.uid, gid: change.owner.gid });
    case "open-home":
      return openHome({ path: change.owner.home, uid: change.owner.uid, gid: change.owner.gid });
    case "detach-fuse":
      for (const problem of detachFuse(change.path, kernel)) log.warn(problem);
      return;
    case "set-aside":
      return setAsideAnyhow(change.base, change.path, change.uid);
    case "make-trash":
      return makeTrash(change.base);
    case "empty-trash":
      if (change.account !== undefined) {
        for (const problem of detachFuse(`${change.base}/${TRASH}`, kernel)) log.warn(problem);
      }
      return requireEmpty(await emptyTrash(change.base, change.account?.name), log);
  }
}

/** Without a process of its own, so that it works on a machine that cannot start another one. */
export function directEnder(kernel: Kernel, isOurs: (uid: number) => boolean): ProcessEnder {
  const breakFuse = createFuseBreaker(isOurs);
  return {
    async sweep({ uid }, seen) {
      // Kills the processes that logind put into the account's slice; if the slice cannot be killed, the sweep must suffice.
      killGroup(`/user.slice/user-${uid}.slice`);
      const swept = kernel.killAllOf(uid);
      killProcesses(processesOf(seen, uid), kernel);
      return swept;
    },
    async endConnections(processes, { name, uid }) {
      const connections = connectionsOf(processes, name, uid);
      killProcesses(connections, kernel);
      return connections.length > 0;
    },
    unread: sentenceOfUnread,
    isClear({ name, uid }, closely) {
      const pids = readPids();
      if (kernel.reachesAny(uid, pids) !== false) return false;
      return !pids.some((pid) => isAbout(pid, name, closely ? uid : undefined));
    },
    free: ({ uid }, stuck) => breakFuse(uid, stuck),
  };
}

/** A command that could not be run counts as one that failed. */
async function runAnyway(argv: readonly string[]) {
  return await runCommand(argv).catch((error: unknown) => ({ exitCode: -1, stderr: publicMessage(error) }));
}

function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    // A directory of that name is not an account's file (Red Hat's /var/spool/cron/tabs, for example).
    if (["ENOENT", "ENOTDIR", "EISDIR"].includes(errorCode(error))) return;
    throw new UamError("internal", `Cannot remove ${path}: ${errorCode(error) || "unexpected error"}`, {
      cause: error,
    });
  }
}

/** One that goes meanwhile, because its daemon begins with it for example, keeps none of the others. */
function removeIfOwned(path: string, uid: number): void {
  try {
    const stat = lstatSync(path);
    if (stat.uid === uid && stat.isFile()) unlinkSync(path);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
}

const FILES_A_TURN = 500;

/**
 * Removes what is the account's of a spool. The at daemon's belongs to the daemon, so it is opened without following a link, and files are
 * removed relative to it. There may be as many as their owner had time for: others have their turn meanwhile.
 */
export async function removeOwnedFiles(path: string, uid: number): Promise<void> {
  if (!existsSync(path)) return;
  const { base, name: last } = splitHome(path);
  const opened: number[] = [];
  try {
    const parent = openTrusted(base);
    opened.push(parent);
    const directory = openDirectory(parent, last);
    opened.push(directory);
    for (const [index, name] of readdirSync(`/proc/self/fd/${directory}`).entries()) {
      if (index % FILES_A_TURN === FILES_A_TURN - 1) await breathe();
      removeIfOwned(at(directory, name), uid);
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
