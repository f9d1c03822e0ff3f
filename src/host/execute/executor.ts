/** What carries changes out, and how a change reads in a log. */

import type { AccountRef } from "../../protocol/host.ts";
import type { LogFields } from "../../shared/log.ts";
import type { ShadowEntry } from "../account.ts";
import type { KeyFile } from "../key-file/key-path.ts";
import type { Change } from "../plan/plan.ts";
import type { Mount } from "../walk.ts";

/** How a mode of execution changes the host and, for reconcile, looks at files only root and their owner can read. */
export interface Executor {
  /** Carries out one change; throws `UamError` with a sentence if the host refuses. */
  apply(change: Change): Promise<void>;
  /** What keeps an authorized-keys file from being as `write-keys` leaves it, as a clause; undefined if nothing does. */
  keyFileDifference(file: KeyFile, text: string, mounts: readonly Mount[]): Promise<string | undefined>;
  /** Only where this process itself may not look, as in sudo mode. */
  readonly eyes?: Eyes;
}

/** Looks at what only root or an account's owner can see. */
export interface Eyes {
  /** The shadow entries of those accounts; one that has none is not in it. */
  shadow(names: readonly string[]): Promise<ReadonlyMap<string, ShadowEntry>>;
  /** True if sshd could read a key from the file. */
  isFilled(file: KeyFile): Promise<boolean>;
  /** What waits to be deleted in the trash of `base`. */
  trash(base: string): Promise<readonly string[]>;
  /** Deletes it; sentences about what could not be deleted. */
  emptyTrash(base: string): Promise<readonly string[]>;
}

/** Carries the changes out one after the other and stops at the first that fails. */
export async function applyInOrder(executor: Executor, changes: readonly Change[]): Promise<void> {
  for (const change of changes) await executor.apply(change);
}

/** Carries all of them out, whatever fails, and then throws the first failure: for taking access away. */
export function applyAll(executor: Executor, changes: readonly Change[]): Promise<void> {
  return inAnyCase(changes.map((change) => () => executor.apply(change)));
}

/** Takes every step, whatever fails, and then throws the first failure. */
export async function inAnyCase(steps: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** The ending of a revoked key's sessions as a log line; which processes that are shows only when it is done. */
export function describeSessionEnd(
  account: AccountRef,
  fingerprint: string,
): { readonly message: string; readonly fields: LogFields } {
  const message = "end sessions that no other key is proven to have opened";
  return { message, fields: { account: account.name, fingerprint } };
}

/** A change as a log line: a verb phrase and its arguments. */
export function describeChange(change: Change): { readonly message: string; readonly fields: LogFields } {
  switch (change.kind) {
    case "account-command":
      return { message: "run", fields: { argv: change.argv } };
    case "systemd-command":
      return { message: "run where systemd is", fields: { argv: change.argv } };
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
      return { message: "move away keys that sshd would read too", fields: { path: change.file.path } };
    case "remove-file":
      return { message: "remove", fields: { path: change.path } };
    case "remove-owned-files":
      return { message: "remove files of the uid", fields: { directory: change.directory, uid: change.uid } };
    case "detach-fuse":
      return { message: "detach FUSE mounts of the uid", fields: { path: change.path, uid: change.uid } };
    case "set-aside":
      return { message: "move away", fields: { path: `${change.base}/${change.path.join("/")}` } };
    case "empty-trash":
      return { message: "delete what was moved away", fields: { base: change.base } };
  }
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, "0");
}
