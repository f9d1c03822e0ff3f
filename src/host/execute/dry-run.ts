/** The host in dry-run mode: the same plans, logged instead of carried out. */

import type { Account, Host } from "../../protocol/host.ts";
import type { Log } from "../../shared/log.ts";
import { findIn, readAccounts, requireRef } from "../account.ts";
import { keyFileOf, type Owner, otherKeyFilesOf } from "../key-file/key-path.ts";
import {
  type Change,
  expectedOwner,
  planBeforeRemoval,
  planCreate,
  planEmptyTrash,
  planEndProcesses,
  planKeys,
  planMarkerGroup,
  planOpen,
  planRemoveEntry,
  planRetireKeys,
  planShut,
  planShutForRemoval,
} from "../plan/plan.ts";
import type { ExpiryFormat, HostSettings } from "../settings.ts";
import type { KeyFilePatterns } from "../sshd/sshd.ts";
import { applyInOrder, describeChange, describeSessionEnd, type Executor } from "./executor.ts";

/** Logs each change at level info, as "would run", "would write" and so on, with its arguments; changes nothing. */
export function createDryRunExecutor(log: Log): Executor {
  return {
    async apply(change) {
      const { message, fields } = describeChange(change);
      log.info(`would ${message}`, fields);
    },
    keyFileDifference: async () => undefined,
  };
}

/** What a dry run knows of the host's sshd. */
export interface DryRunSshd {
  readonly expiry: ExpiryFormat;
  /** Without root sshd does not tell; then only the account's own file is known of. */
  readonly patterns: KeyFilePatterns;
}

/** A host on which nothing changes and every stored account is taken to exist. */
export function createDryRunHost(settings: HostSettings, { expiry, patterns }: DryRunSshd, log: Log): Host {
  const executor = createDryRunExecutor(log);
  const textOf = (account: Account) => (account.open ? settings.render(account, expiry) : "");
  const retireOthers = async (owner: Owner): Promise<readonly Change[]> =>
    planRetireKeys(
      otherKeyFilesOf((await patterns.of(owner.name)) ?? [], keyFileOf(settings.authorizedKeysFile, owner)),
    );
  const keyChanges = async (account: Account): Promise<readonly Change[]> => {
    const owner = expectedOwner(settings, account);
    return [...planKeys(settings, owner, textOf(account)), ...(await retireOthers(owner))];
  };
  return {
    mode: "dry-run",
    presence: async () => "present",
    findAccount: async (name) => findIn(readAccounts(), name, settings.markerGroup),
    nameTaken: async () => false,
    uidTaken: async () => false,
    highestUid: async () => undefined,
    async createAccount(account) {
      requireRef(account);
      const owner = expectedOwner(settings, account);
      const open = planOpen({ ...account, open: true }, planKeys(settings, owner, ""));
      const group = readAccounts().groups.has(settings.markerGroup) ? [] : planMarkerGroup(settings);
      await applyInOrder(executor, [...group, ...planCreate(settings, account), ...open]);
    },
    async writeKeys(account) {
      requireRef(account);
      await applyInOrder(executor, await keyChanges(account));
    },
    async applyAccess(account) {
      requireRef(account);
      if (account.open) return applyInOrder(executor, planOpen(account, await keyChanges(account)));
      const owner = expectedOwner(settings, account);
      await applyInOrder(executor, [...planShut(settings, account, owner), ...(await retireOthers(owner))]);
    },
    async endSessions(account, fingerprint) {
      requireRef(account);
      if (settings.revokeEnds === "none") return;
      const { message, fields } = describeSessionEnd(account, fingerprint);
      if (settings.revokeEnds === "key") log.info(`would ${message}`, fields);
      // And without such a proof, which only the host has, everything.
      await applyInOrder(executor, planEndProcesses(account));
      await applyInOrder(executor, await keyChanges(account));
    },
    async removeAccount(account) {
      requireRef(account);
      const owner = expectedOwner(settings, account);
      const before = [...planShutForRemoval(account), ...planBeforeRemoval(settings, account, owner)];
      await applyInOrder(executor, [...before, ...planRemoveEntry(account), ...planEmptyTrash(settings, owner)]);
    },
    reconcile: async () => [],
  };
}
