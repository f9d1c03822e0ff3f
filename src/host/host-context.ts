/** The shared dependencies of all work on the host, and the first checks on an account. */

import type { Account, AccountPresence, AccountRef, Host, HostKey } from "../protocol/host.ts";
import { UamError } from "../shared/errors.ts";
import type { Log } from "../shared/log.ts";
import { NEWER_KEY_TYPES } from "../shared/product/ssh-key-types.ts";
import type { Kernel } from "../shared/system/kernel.ts";
import { isMarked, type PasswdEntry, presenceIn, requireRef } from "./account.ts";
import type { Executor } from "./executor.ts";
import { type ExpiryFormat, renderAuthorizedKeys } from "./key-file/authorized-keys.ts";
import { type KeyFile, keyFileOf, otherKeyFilesOf } from "./key-file/key-path.ts";
import { splitHome } from "./plan/plan.ts";
import type { HostSettings } from "./settings.ts";
import type { KeyFilePatterns } from "./sshd/sshd.ts";

export interface HostContext {
  readonly settings: HostSettings;
  readonly executor: Executor;
  readonly expiry: ExpiryFormat;
  readonly log: Log;
  /** Asks sshd which key files it reads. */
  readonly patterns: KeyFilePatterns;
  /** Reads sshd's host keys. */
  readonly hostKeys: Host["hostKeys"];
  /** One process at a time changes what is held for all accounts; only direct mode does. */
  readonly lockFile?: Kernel["lockFile"];
}

/** The wanted content of the account's file; throws `internal` for a stored key that is damaged. */
export function textOf({ expiry, patterns }: HostContext, account: Account): string {
  if (!account.open) return "";
  const readable = account.keys.filter((key) => !isUnread(patterns, key));
  return renderAuthorizedKeys(readable, account.expireAt, expiry);
}

/** Whether the key is of a type that this host's sshd cannot read: it has no line in the file. */
export function isUnread(patterns: KeyFilePatterns, { type }: Pick<HostKey, "type">): boolean {
  return NEWER_KEY_TYPES.some((newer) => newer === type) && !patterns.reads(type);
}

/** The files other than ours that sshd reads for the account. */
export interface OtherFiles {
  /** Undefined if it never said. */
  readonly files: readonly KeyFile[] | undefined;
  /** A sentence if sshd's newest answer was not understood, so that it may read others. */
  readonly problem: string | undefined;
}

export async function otherFiles(context: HostContext, owner: PasswdEntry): Promise<OtherFiles> {
  const { patterns, problem, isStrange } = await context.patterns.of(owner.name);
  const ours = keyFileOf(context.settings.authorizedKeysFile, owner);
  return { files: patterns && otherKeyFilesOf(patterns, ours), problem: isStrange ? problem : undefined };
}

export function presenceOf({ executor }: HostContext, account: AccountRef): AccountPresence {
  requireRef(account);
  return presenceIn(executor.view.accounts([account]), account);
}

/** The account's entry, whatever groups it is in; throws `conflict` if the account is missing or foreign. */
export function requireOurs({ executor }: HostContext, account: AccountRef): PasswdEntry {
  requireRef(account);
  const table = executor.view.accounts([account]);
  const presence = presenceIn(table, account);
  const owner = table.passwd.get(account.name);
  if (presence === "missing") {
    throw new UamError("conflict", `The account ${account.name} is missing on the host`, { reason: "account.missing" });
  }
  if (presence === "foreign" || owner === undefined) throw foreign(account);
  return owner;
}

/** The same for what gives access: to be out of our group, and a home that is not the account's own, is a `conflict`, too. */
export function requireWhole(context: HostContext, account: AccountRef): PasswdEntry {
  const owner = requireOurs(context, account);
  if (!hasMark(context, account)) {
    const group = context.settings.markerGroup;
    const sentence = `The account ${account.name} is no longer in the group ${group}: reconciling puts it back`;
    throw new UamError("conflict", sentence, { reason: "account.group" });
  }
  const strange = strangeHome(owner);
  if (strange !== undefined) throw new UamError("conflict", strange);
  return owner;
}

/** A sentence if the home in the account's entry is not its own: then nothing in it is touched. */
export function strangeHome({ name, home }: PasswdEntry): string | undefined {
  return splitHome(home).name === name ? undefined : `The home directory of ${name} is ${home}: it is left alone`;
}

/** Whether the account is in the group that marks it as ours. */
export function hasMark({ settings, executor }: HostContext, account: AccountRef): boolean {
  return isMarked(executor.view.accounts([account]), account, settings.markerGroup);
}

export function foreign({ name, uid }: AccountRef): UamError {
  const sentence = `The host has ${name} or its uid ${uid}, but not both as this service created them`;
  return new UamError("conflict", `${sentence}: it is left alone`, { reason: "account.foreign" });
}
