/** The host in the modes that change it: checks that an account is ours, makes the plan, has it carried out. */

import { lstatSync } from "node:fs";
import type { Account, AccountRef, Host } from "../protocol/host.ts";
import { UamError } from "../shared/errors.ts";
import type { Log } from "../shared/log.ts";
import {
  findIn,
  isHalfCreated,
  knownToNameService,
  type PasswdEntry,
  presenceIn,
  readAccounts,
  requireRef,
} from "./account.ts";
import { applyAll, applyInOrder, describeSessionEnd, type Executor, inAnyCase } from "./execute/executor.ts";
import { deadKeysIn, requireNone } from "./key-file/effective-keys.ts";
import { type KeyFile, keyFileOf, otherKeyFilesOf } from "./key-file/key-path.ts";
import {
  type Change,
  expectedOwner,
  homeOf,
  planBeforeRemoval,
  planCreate,
  planDiscardHalfCreated,
  planEmptyTrash,
  planEndProcesses,
  planKeys,
  planMarkerGroup,
  planNoAgeing,
  planOpen,
  planRemoveEntry,
  planRetireKeys,
  planShut,
  planShutForRemoval,
  splitHome,
} from "./plan/plan.ts";
import type { Journal } from "./processes/journal.ts";
import { listedOf, readProcesses } from "./processes/processes.ts";
import { endUnprovenSessions } from "./processes/sessions.ts";
import { completeTable, reconcileAccounts } from "./reconcile.ts";
import { requireRemovable } from "./remove-home.ts";
import type { ExpiryFormat, HostSettings } from "./settings.ts";
import type { KeyFilePatterns } from "./sshd/sshd.ts";
import { errorCode, readMounts } from "./walk.ts";

const REMOVAL_TRIES = 3;

/** What `createManagedHost` works with. */
export interface ManagedHostParts {
  readonly settings: HostSettings;
  readonly executor: Executor;
  readonly expiry: ExpiryFormat;
  readonly log: Log;
  /** Where sshd's own word is on which key opened a connection. */
  readonly journal: Journal;
  /** How sshd is asked which key files it reads. */
  readonly patterns: KeyFilePatterns;
}

/** A host whose changes `executor` carries out. Every method looks first whether the account is ours, each time anew. */
export function createManagedHost(parts: ManagedHostParts): Host {
  const { settings, executor } = parts;
  const textOf = (account: Account) => (account.open ? settings.render(account, parts.expiry) : "");
  const { patterns } = parts;
  const otherFiles = async (owner: PasswdEntry): Promise<readonly KeyFile[]> =>
    otherKeyFilesOf((await patterns.of(owner.name)) ?? [], keyFileOf(settings.authorizedKeysFile, owner));
  /** Ours is written, and what sshd would read besides is moved away. */
  const keyChanges = async (account: Account, owner: PasswdEntry): Promise<readonly Change[]> => [
    ...planKeys(settings, owner, textOf(account)),
    ...planRetireKeys(await otherFiles(owner)),
  ];
  /** Ours is looked at once more: its owner may have been at it while the others were moved. */
  const readBack = async (account: Account, owner: PasswdEntry): Promise<void> => {
    const file = keyFileOf(settings.authorizedKeysFile, owner);
    const difference = await executor.keyFileDifference(file, textOf(account), readMounts());
    requireNone(difference === undefined ? [] : [`${file.path} of ${owner.name} was changed again: ${difference}`]);
  };
  const takeAway = async (account: Account, owner: PasswdEntry, fingerprint: string): Promise<void> => {
    await applyInOrder(executor, await keyChanges(account, owner));
    await readBack(account, owner);
    requireNone(deadKeysIn(await otherFiles(owner), { kind: "key", fingerprint }, settings.keysIn));
  };
  const shut = async (account: Account, owner: PasswdEntry): Promise<void> => {
    await inAnyCase([
      () => applyAll(executor, planShut(settings, account, owner)),
      // Nobody is left who could put a key back.
      async () => applyAll(executor, planRetireKeys(await otherFiles(owner))),
      () => readBack(account, owner),
    ]);
    // An administrator's file does not keep an account from being shut: its expiry date refuses those keys too.
    for (const sentence of deadKeysIn(await otherFiles(owner), { kind: "all" }, settings.keysIn))
      parts.log.error(`security: ${sentence}`, { account: account.name });
  };
  return {
    mode: settings.mode,
    presence: async (account) => presenceOf(settings, account),
    findAccount: async (name) => findIn(readAccounts(), name, settings.markerGroup),
    nameTaken: (name) => nameTaken(settings, name),
    uidTaken: async (uid) => {
      return readAccounts().namesByUid.has(uid) || (await knownToNameService("passwd", String(uid)));
    },
    highestUid: async (first, last) => {
      const uids = [...readAccounts().namesByUid.keys()].filter((uid) => uid >= first && uid <= last);
      return uids.length === 0 ? undefined : Math.max(...uids);
    },
    createAccount: (account) => createAccount(parts, account),
    writeKeys: async (account, revoked) => {
      const owner = requireOurs(settings, account);
      if (revoked !== undefined) return takeAway(account, owner, revoked);
      await applyInOrder(executor, await keyChanges(account, owner));
    },
    applyAccess: async (account) => {
      const owner = requireOurs(settings, account);
      if (!account.open) return shut(account, owner);
      await applyInOrder(executor, planOpen(account, await keyChanges(account, owner)));
    },
    endSessions: async (account, fingerprint) => {
      const owner = requireOurs(settings, account);
      if (settings.revokeEnds === "none") return;
      await endSessions(parts, account, fingerprint);
      // What ended may have put the key back just before.
      await takeAway(account, owner, fingerprint);
    },
    removeAccount: (account) => removeAccount(parts, account),
    reconcile: (accounts, checkOnly) =>
      reconcileAccounts({ settings, executor, textOf, patterns }, accounts, checkOnly),
  };
}

function presenceOf(settings: HostSettings, account: AccountRef): "present" | "missing" | "foreign" {
  requireRef(account);
  return presenceIn(readAccounts(), account, settings.markerGroup);
}

/** The account's entry; throws `conflict` if the account is missing, foreign, or has a home that is not its own. */
function requireOurs(settings: HostSettings, account: AccountRef): PasswdEntry {
  requireRef(account);
  const table = readAccounts();
  const presence = presenceIn(table, account, settings.markerGroup);
  const owner = table.passwd.get(account.name);
  if (presence === "missing") throw new UamError("conflict", `The account ${account.name} is missing on the host`);
  if (presence === "foreign" || owner === undefined) throw foreign(settings, account);
  if (splitHome(owner.home).name !== account.name) {
    throw new UamError("conflict", `The home directory of ${account.name} is ${owner.home}: it is left alone`);
  }
  return owner;
}

function foreign(settings: HostSettings, account: AccountRef): UamError {
  const sentence = `The host has ${account.name} or its uid ${account.uid}, but not as this service made it`;
  return new UamError("conflict", `${sentence} (uid, group ${settings.markerGroup}): it is left alone`);
}

async function nameTaken(settings: HostSettings, name: string): Promise<boolean> {
  const table = readAccounts();
  if (table.passwd.has(name) || table.groups.has(name) || exists(homeOf(settings, name))) return true;
  return (await knownToNameService("passwd", name)) || (await knownToNameService("group", name));
}

/** Makes the account, or ends what a crash left of an earlier try for the same name and uid. */
async function createAccount(parts: ManagedHostParts, account: Account): Promise<void> {
  const { settings, executor } = parts;
  requireRef(account);
  const table = await completeTable(readAccounts(), executor, [account.name]);
  const home = homeOf(settings, account.name);
  const presence = presenceIn(table, account, settings.markerGroup);
  const half = isHalfCreated(table, account, home) || (presence === "present" && !hasHome(account, home));
  if (presence === "foreign" && !half) throw foreign(settings, account);
  if (half) {
    parts.log.warn("An account was left half made by a crash and is made anew", { account: account.name });
    await applyInOrder(executor, planDiscardHalfCreated(settings, account));
  }
  if (half || presence === "missing") {
    if (exists(home))
      throw new UamError("conflict", `${home} exists already: move it away before ${account.name} is made`);
    if (!table.groups.has(settings.markerGroup)) await applyInOrder(executor, planMarkerGroup(settings));
    await applyInOrder(executor, planCreate(settings, account));
  }
  const owner = requireOurs(settings, account);
  await applyInOrder(executor, planOpen({ ...account, open: true }, planKeys(settings, owner, "")));
  const made = await completeTable(readAccounts(), executor, [account.name]);
  if (made.shadow?.get(account.name)?.ageing) await applyInOrder(executor, planNoAgeing(account));
}

/** False if useradd was ended before it had made the home and given it away. */
function hasHome(account: AccountRef, home: string): boolean {
  return exists(home) && lstatSync(home).uid === account.uid;
}

async function endSessions(parts: ManagedHostParts, account: Account, fingerprint: string): Promise<void> {
  const { settings, executor } = parts;
  if (settings.revokeEnds === "key") {
    const { message, fields } = describeSessionEnd(account, fingerprint);
    parts.log.debug(`host: ${message}`, fields);
    if (await endUnprovenSessions(account, fingerprint, { executor, journal: parts.journal })) return;
  }
  await applyInOrder(executor, planEndProcesses(account));
}

/** Takes the home away before the entry goes, so that no orphan is left under a uid; each step can be repeated. */
async function removeAccount(parts: ManagedHostParts, account: AccountRef): Promise<void> {
  const { settings, executor } = parts;
  const presence = presenceOf(settings, account);
  if (presence === "foreign") throw foreign(settings, account);
  // Without an entry here the uid may by now be somebody's whom only LDAP or the like knows.
  if (presence === "missing" && (await knownToNameService("passwd", String(account.uid))))
    throw foreign(settings, account);
  const owner = presence === "present" ? requireOurs(settings, account) : expectedOwner(settings, account);
  requireRemovable(owner.home, account.uid);
  if (presence === "present") await applyInOrder(executor, planShutForRemoval(account));
  await applyInOrder(executor, planBeforeRemoval(settings, account, owner));
  if (presence === "present") await removeEntry(executor, account);
  const left = readAccounts();
  if (left.passwd.has(account.name) || left.shadow?.has(account.name)) {
    throw new UamError("internal", `The account ${account.name} is still there after userdel`);
  }
  await applyInOrder(executor, planEmptyTrash(settings, owner));
}

/** userdel refuses while a process runs as the uid; one may have been started by what was ended just before. */
async function removeEntry(executor: Executor, account: AccountRef): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await applyInOrder(executor, planRemoveEntry(account));
    } catch (error) {
      if (attempt === REMOVAL_TRIES || listedOf(readProcesses(), account.uid).length === 0) throw error;
      await applyInOrder(executor, planEndProcesses(account));
    }
  }
}

function exists(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
}
