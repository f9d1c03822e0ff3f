/** Carries out changes, inspects the host, and describes changes for a log. */

import type { Account, AccountRef } from "../protocol/host.ts";
import type { LoginLog, RefusalLog, SshSession } from "../protocol/logins.ts";
import { publicMessage, UamError } from "../shared/errors.ts";
import type { Log, LogFields } from "../shared/log.ts";
import { octal } from "../shared/text/octal.ts";
import { faultPoint } from "../shared/work/fault-point.ts";
import type { AccountTable } from "./account.ts";
import type { KeyFileText } from "./key-file/key-file-text.ts";
import type { KeyFile } from "./key-file/key-path.ts";
import type { Change } from "./plan/plan.ts";
import type { ListedProcess } from "./processes/processes.ts";
import type { Ground, Mount } from "./safe-open.ts";

/** A connection of sshd's for an account: a login, or one that is still logging in. */
export interface Connection extends SshSession {
  readonly isLoggedIn: boolean;
}

/** How a mode sees who is connected, and ends one connection; the account is ours. */
export interface HostSessions {
  /** See `Host.sessions`; those that are still logging in, too. */
  list(account: AccountRef): Promise<readonly Connection[]>;
  /** See `Host.endSession`. */
  end(account: AccountRef, id: string): Promise<"ended" | "gone">;
  /** See `Host.logins`. */
  logins(from: string): Promise<LoginLog>;
  /** See `Host.refusals`. */
  refusals(account: AccountRef): Promise<RefusalLog>;
}

/** How a mode has root copy what is scheduled for an account before it goes. */
export interface HostJobs {
  /** "none" if nothing is scheduled. Throws `UamError` with a sentence if there is no copy. */
  keep(account: AccountRef): Promise<"none" | "kept">;
  /** See `Host.forgetJobs`. */
  forget(): Promise<void>;
}

/** How a mode of execution changes and inspects the host. */
export interface Executor {
  /** Carries out one change; throws `UamError` with a sentence if the host refuses. */
  apply(change: Change): Promise<void>;
  /**
   * Ends the sessions of an account that no key other than this one is proven to have opened. False if that cannot be established,
   * or new ones keep appearing: then everything of the account has to end.
   */
  endUnproven(account: Account, fingerprint?: string): Promise<boolean>;
  /** Ends the connections from outside the keys' networks. False if some could not be ended: then everything has to end. */
  endOutside(account: Account): Promise<boolean>;
  /** Those of many accounts that may differ from the host, where asking for all of them costs less than looking at each; else all. */
  suspects?(accounts: readonly Account[]): Promise<readonly Account[]>;
  readonly sessions: HostSessions;
  readonly jobs: HostJobs;
  readonly view: HostView;
}

/** How a mode sees the host. A dry run takes each account in question to be as it should be, and inspects none. */
export interface HostView {
  /** The host's accounts, these among them. With shadow entries only if this process itself may read them. */
  accounts(accounts: readonly AccountRef[]): AccountTable;
  /** The shadow entries of those accounts in the table; undefined if they cannot be read. */
  shadow(names: readonly string[]): Promise<AccountTable["shadow"]>;
  /** Whether the home with that path is shut; undefined if there is none, or that is not to be known. */
  isHomeShut(path: string, mounts: readonly Mount[]): boolean | undefined;
  /** True if something with that name exists; a link is not followed. */
  exists(path: string): boolean;
  processes(): readonly ListedProcess[];
  mounts(): readonly Mount[];
  /** The fault that keeps an authorized-keys file from being as `write-keys` leaves it, as a clause; undefined if there is none. */
  keyFileDifference(file: KeyFile, text: string, ground: Ground): Promise<string | undefined>;
  /** The text that sshd could read from the file. */
  keyFileText(file: KeyFile, ground: Ground): Promise<KeyFileText>;
  /** The entries that wait to be deleted in the trash of `base`. */
  trash(base: string): Promise<readonly string[]>;
  /** True if the name service switch (LDAP and the like included) knows the uid. */
  uidKnown(uid: number): Promise<boolean>;
  /** The same of a group's id. */
  gidKnown(gid: number): Promise<boolean>;
}

/** The table with the shadow entries of those accounts, read by other means if this process may not read them. */
export async function completeTable(
  view: HostView,
  table: AccountTable,
  names: readonly string[],
): Promise<AccountTable> {
  return table.shadow === undefined
    ? { ...table, shadow: await view.shadow(names.filter((name) => table.passwd.has(name))) }
    : table;
}

/** Carries out the changes one after the other and stops at the first that fails: for giving access. */
export async function applyInOrder(executor: Executor, changes: readonly Change[]): Promise<void> {
  for (const change of changes) await carryOut(executor, change);
}

/** See `Executor.apply`. */
async function carryOut(executor: Executor, change: Change): Promise<void> {
  await executor.apply(change);
  faultPoint("host: a change made");
}

/** A change that failed, and why, as a sentence. */
export interface Failure {
  readonly change: Change;
  readonly sentence: string;
}

/** Carries out all of them, whatever fails: for taking access away. Returns the failures. */
export async function applyAll(executor: Executor, changes: readonly Change[], log: Log): Promise<readonly Failure[]> {
  const failures: Failure[] = [];
  for (const change of changes) {
    const sentence = await attempt(() => carryOut(executor, change), log);
    if (sentence !== undefined) failures.push({ change, sentence });
  }
  return failures;
}

/** Undefined if the work is done, else why not, as a sentence. No failure prevents the next step from being tried. */
export async function attempt(work: () => Promise<unknown>, log: Log): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (!(error instanceof UamError)) log.error("A step on the host failed unexpectedly", { error });
    return publicMessage(error);
  }
}

/** The ending of a revoked key's sessions as a log line; which processes these are shows only when it is done. */
export function describeSessionEnd(
  account: AccountRef,
  fingerprint: string | undefined,
): { readonly message: string; readonly fields: LogFields } {
  const message = "end sessions that no other key is proven to have opened";
  return { message, fields: { account: account.name, ...(fingerprint === undefined ? {} : { fingerprint }) } };
}

/** The ending of sessions from outside as a log line. */
export function describeOutsideEnd({ name, keys }: Account): { readonly message: string; readonly fields: LogFields } {
  const networks = keys.map((key) => ({ fingerprint: key.fingerprint, networks: key.networks ?? "anywhere" }));
  return { message: "end sessions from outside the keys' networks", fields: { account: name, keys: networks } };
}

/** The copying of jobs as a log line. */
export function describeJobsCopy({ name, uid }: AccountRef): { readonly message: string; readonly fields: LogFields } {
  return { message: "copy crontab, at jobs and lingering for root", fields: { account: name, uid } };
}

/** A change as a log line: a verb phrase and its arguments. */
export function describeChange(change: Change): { readonly message: string; readonly fields: LogFields } {
  switch (change.kind) {
    case "account-command":
      return { message: "run", fields: { argv: change.argv } };
    case "systemd-command":
      return { message: "run if systemd is running", fields: { argv: change.argv } };
    case "end-processes":
      return {
        message: "end every process",
        fields: { account: change.account.name, uid: change.account.uid },
      };
    case "kill":
      return { message: "kill", fields: { pids: change.processes.map(({ pid }) => pid) } };
    case "write-keys": {
      const { holding, path } = change.file;
      const fields = {
        path,
        owner: holding.uid,
        group: holding.gid,
        mode: octal(holding.fileMode),
        directoryMode: octal(holding.directoryMode),
        content: change.text,
      };
      return { message: "write", fields };
    }
    case "retire-keys":
      return { message: "move away keys that sshd would also read", fields: { path: change.file.path } };
    case "remove-file":
      return { message: "remove", fields: { path: change.path } };
    case "remove-owned-files":
      return { message: "remove files of the uid", fields: { directory: change.directory, uid: change.uid } };
    case "shut-home":
      return { message: "make the home root's", fields: { path: change.owner.home, mode: "0700" } };
    case "open-home": {
      const { home, uid, gid } = change.owner;
      return { message: "give the home back", fields: { path: home, owner: uid, group: gid } };
    }
    case "detach-fuse":
      return { message: "detach FUSE mounts of the uid", fields: { path: change.path, uid: change.uid } };
    case "set-aside":
      return { message: "move away", fields: { path: `${change.base}/${change.path.join("/")}` } };
    case "make-trash":
      return { message: "create the directory for what is deleted", fields: { base: change.base } };
    case "empty-trash": {
      const { base, account } = change;
      const fields = { base, ...(account === undefined ? {} : { account: account.name }) };
      return { message: "delete what was moved away", fields };
    }
  }
}
