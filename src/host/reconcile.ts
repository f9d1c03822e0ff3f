/** Comparing the accounts with the host and repairing what differs, with the same steps that created it. */

import { setImmediate as breathe } from "node:timers/promises";
import type { Account, Drift, DriftKind } from "../protocol/host.ts";
import { publicMessage } from "../shared/errors.ts";
import { type AccountTable, isMarked, type PasswdEntry, presenceIn, requireRef } from "./account.ts";
import { closingOf, endEverything, endSessions, sentencesOf, shut, tryAll, unique } from "./closing.ts";
import { completeTable, type Failure } from "./executor.ts";
import { type HostContext, strangeHome, textOf } from "./host-context.ts";
import { usableKeys } from "./key-file/authorized-keys.ts";
import { holdsOtherKeys } from "./key-file/effective-keys.ts";
import { type KeyFile, keyFileOf, otherKeyFilesOf } from "./key-file/key-path.ts";
import { endFromOutside, hasNetworks } from "./narrowing.ts";
import {
  type Change,
  EXAMPLE,
  planKeys,
  planMark,
  planNoAgeing,
  planRetireKeys,
  planShadow,
  trashBases,
  wantedShadow,
} from "./plan/plan.ts";
import { type ListedProcess, listedOf } from "./processes/processes.ts";
import { homeDifferences } from "./profiles/home.ts";
import { groundOf, type Ground as Profiles, profileDifferences } from "./profiles/membership.ts";
import { createRoots, type Ground, mountsWithin } from "./safe-open.ts";
import { keysUnread, unreadable } from "./sshd-findings.ts";

const ACCOUNTS_A_TURN = 200;

/** One reading of the host, shared by all accounts of a reconciliation. */
interface Snapshot extends Ground {
  readonly table: AccountTable;
  readonly processes: readonly ListedProcess[];
  readonly keyFiles: readonly string[] | undefined;
  readonly profiles: Profiles;
}

/** A difference, and what repairs it while the account is open; undefined if an administrator has to decide. */
interface Difference {
  readonly kind: DriftKind;
  readonly problem: string;
  readonly changes: readonly Change[] | undefined;
}

/**
 * Compares every account with the host and, unless `checkOnly`, repairs what differs: shadow entry, processes of a shut
 * account, authorized-keys file, leftovers of a crash. Missing and foreign accounts are reported only. An account that
 * cannot be repaired is reported with the reason and does not hold up the others. Nothing is written if nothing differs.
 */
export async function reconcileAccounts(
  context: HostContext,
  accounts: readonly Account[],
  checkOnly: boolean,
): Promise<readonly Drift[]> {
  const { patterns } = context;
  const { view } = context.executor;
  // A single account is looked at again because it may differ.
  const suspects = accounts.length > 1 ? await context.executor.suspects?.(accounts) : undefined;
  const compared = suspects ?? accounts;
  const names = compared.map(({ name }) => name);
  const table = await completeTable(view, view.accounts(compared), names);
  const isPresent = (account: Account) => presenceIn(table, account) === "present";
  // What sshd says of an account with a profile is no example of the others.
  const example = compared.find((account) => account.profile === undefined && isPresent(account));
  if (accounts.length > 0) patterns.refresh();
  const asked = await patterns.of(example?.name ?? EXAMPLE.name);
  const keyFiles = example === undefined && !compared.some(isPresent) ? undefined : asked.patterns;
  const profiles = groundOf(context, table, compared);
  const roots = createRoots();
  const processes = view.processes();
  const snapshot = { table, mounts: view.mounts(), roots, processes, keyFiles, profiles };
  const drifts: Drift[] = [...unreadable(context, asked, processes)];
  try {
    for (const [index, account] of compared.entries()) {
      if (index % ACCOUNTS_A_TURN === ACCOUNTS_A_TURN - 1) {
        roots.close();
        await breathe();
      }
      drifts.push(...(await reconcileAccount(context, snapshot, { account, checkOnly })));
    }
  } finally {
    roots.close();
  }
  return [...drifts, ...(await reconcileTrash(context, checkOnly))];
}

async function reconcileAccount(
  context: HostContext,
  snapshot: Snapshot,
  { account, checkOnly }: { readonly account: Account; readonly checkOnly: boolean },
): Promise<readonly Drift[]> {
  const report = ({ kind, problem }: Pick<Difference, "kind" | "problem">, repaired: boolean): Drift => ({
    account: account.name,
    kind,
    problem,
    repaired,
  });
  try {
    const differences = await differencesOf(context, snapshot, account);
    const repairable = differences.filter(({ changes }) => changes !== undefined);
    if (checkOnly || repairable.length === 0) return differences.map((difference) => report(difference, false));
    // The snapshot may be out of date: check again before anything is touched.
    const table = context.executor.view.accounts([account]);
    const owner = table.passwd.get(account.name);
    if (presenceIn(table, account) !== "present" || owner === undefined) return [];
    const owed = await (account.open ? repairOpen : repairShut)(context, { account, owner, differences: repairable });
    return [
      ...differences.map((difference) => report(difference, repairable.includes(difference) && owed.length === 0)),
      ...owed.map((problem) => report({ kind: "failed", problem }, false)),
    ];
  } catch (error) {
    return [report({ kind: "failed", problem: publicMessage(error) }, false)];
  }
}

interface Repair {
  readonly account: Account;
  readonly owner: PasswdEntry;
  readonly differences: readonly Difference[];
}

/** Sentences about what could not be repaired. The account itself is opened last, and only once its files are correct. */
async function repairOpen(context: HostContext, { account, owner, differences }: Repair): Promise<readonly string[]> {
  const isShadow = ({ kind }: Difference) => kind === "expiry_date";
  const isGroup = ({ kind }: Difference) => kind === "group" || kind === "profile";
  const marking = await tryAll(context, changesOf(differences.filter(isGroup)));
  if (marking.length > 0) return unique(sentencesOf(marking));
  // Whoever is logged in may do what the groups of then allowed.
  const isWider = account.profile !== undefined && differences.some(({ kind }) => kind === "profile");
  const ended = isWider ? (await endEverything(context, account)).failures : [];
  if (ended.length > 0) return unique(sentencesOf(ended));
  const files = changesOf(differences.filter((difference) => !isShadow(difference) && !isGroup(difference)));
  let failures: readonly Failure[] = await tryAll(context, files);
  if (differences.some(({ kind }) => kind === "key_added")) {
    const { failures: sessions } = await endSessions(context, account);
    // A process that was ended may have put the key back just before.
    failures = [...(await tryAll(context, files)), ...sessions];
  }
  // A line without its networks, or a copy of it, may have let somebody in from outside.
  if (files.length > 0 && hasNetworks(account)) failures = [...failures, ...(await endFromOutside(context, account))];
  if (failures.length > 0) return unique(sentencesOf(failures));
  if (files.length > 0) {
    const { view } = context.executor;
    const file = keyFileOf(context.settings.authorizedKeysFile, owner);
    const difference = await view.keyFileDifference(file, textOf(context, account), { mounts: view.mounts() });
    if (difference !== undefined) return [`${file.path} of ${account.name} was changed again: ${difference}`];
  }
  return unique(sentencesOf(await tryAll(context, changesOf(differences.filter(isShadow)))));
}

async function repairShut(context: HostContext, { owner, differences }: Repair): Promise<readonly string[]> {
  const { owed } = closingOf(await shut(context, owner));
  const rest = changesOf(differences.filter(({ kind }) => ["expiry_date", "group", "profile"].includes(kind)));
  return unique([...owed, ...sentencesOf(await tryAll(context, rest))]);
}

async function differencesOf(
  context: HostContext,
  snapshot: Snapshot,
  account: Account,
): Promise<readonly Difference[]> {
  const { settings, executor } = context;
  requireRef(account);
  const only = (kind: DriftKind, problem: string): readonly Difference[] => [{ kind, problem, changes: undefined }];
  const presence = presenceIn(snapshot.table, account);
  const owner = snapshot.table.passwd.get(account.name);
  if (presence === "missing") return only("missing", "the account is missing on the host");
  if (presence === "foreign" || !owner)
    return only("foreign", "an account with that name or uid exists that is not this service's");
  const differences = [
    ...groupDifferences(context, snapshot.table, account),
    ...profileDifferences(context, snapshot.profiles, account),
    ...shadowDifferences(snapshot.table, account),
  ];
  if (!account.open && listedOf(snapshot.processes, account.uid).length > 0) {
    differences.push({ kind: "processes", problem: "processes are running although the account is shut", changes: [] });
  }
  if (strangeHome(owner) !== undefined) {
    return [...differences, ...only("foreign", `the account's home directory is ${owner.home}, which is not its own`)];
  }
  differences.push(...keysUnread(context, account));
  differences.push(...homeDifferences(context, { ...snapshot, account, owner }));
  // In sudo mode its files can be looked at only with the group; once that is put right, the next look finds what else differs.
  if (settings.mode === "sudo" && differences.some(({ kind }) => kind === "group")) return differences;
  const file = keyFileOf(settings.authorizedKeysFile, owner);
  // In the middle of a removal the home is gone already, and no key can be in it.
  if (!account.open && file.inHome && !executor.view.exists(owner.home)) return differences;
  differences.push(...(await keyFileDifferences(context, snapshot, { account, file })));
  return [...differences, ...(await otherKeyFiles(context, snapshot, { account, file }))];
}

interface AccountFile {
  readonly account: Account;
  readonly file: KeyFile;
}

async function keyFileDifferences(
  context: HostContext,
  ground: Snapshot,
  { account, file }: AccountFile,
): Promise<readonly Difference[]> {
  const { view } = context.executor;
  const text = textOf(context, account);
  const difference = await view.keyFileDifference(file, text, ground);
  if (difference === undefined) return [];
  const isAdded = account.open && holdsOtherKeys(await view.keyFileText(file, ground), usableKeys(account.keys));
  const isTaken = isAdded || !account.open || hasNetworks(account);
  return [
    {
      kind: isAdded ? "key_added" : "key_file",
      problem: `authorized keys file differs from the stored keys: ${difference}`,
      // If the disk is full, keys that were not added stay, unless the file may let them in from more places than stored.
      changes: planKeys(context.settings, file.owner, text, isTaken ? "take" : "give"),
    },
  ];
}

function groupDifferences({ settings }: HostContext, table: AccountTable, account: Account): readonly Difference[] {
  const { markerGroup } = settings;
  if (isMarked(table, account, markerGroup)) return [];
  const problem = `the account is no longer in the group ${markerGroup}`;
  return [{ kind: "group", problem, changes: planMark(settings, account) }];
}

function shadowDifferences(table: AccountTable, account: Account): readonly Difference[] {
  if (table.shadow === undefined) return [];
  const kind = "expiry_date";
  const entry = table.shadow.get(account.name);
  const changes = planShadow(account);
  if (entry === undefined) return [{ kind, problem: "the account has no shadow entry", changes }];
  const wanted = wantedShadow(account);
  const differences: Difference[] = [];
  if (entry.expires !== wanted.expires || (wanted.password !== undefined && entry.password !== wanted.password)) {
    const problem = account.open ? "the account is locked or its expiry date differs" : "the account is not shut";
    differences.push({ kind, problem, changes });
  }
  if (entry.ageing) differences.push({ kind, problem: "password ageing is on", changes: planNoAgeing(account) });
  return differences;
}

/** Key files other than ours that sshd would read: a revoked key could stay valid in them. */
async function otherKeyFiles(
  { executor }: HostContext,
  ground: Snapshot,
  { account, file: ours }: AccountFile,
): Promise<readonly Difference[]> {
  const { keyFiles } = ground;
  if (keyFiles === undefined || mountsWithin(ground.mounts, ours.owner.home).length > 0) return [];
  const isRead = keyFiles.some((pattern) => pattern !== "none" && keyFileOf(pattern, ours.owner).path === ours.path);
  const advice = "set AuthorizedKeysFile for ext_* in sshd_config";
  const differences: Difference[] = [];
  if (!isRead) {
    differences.push({ kind: "other_file", problem: `sshd does not read ${ours.path}: ${advice}`, changes: undefined });
  }
  for (const file of otherKeyFilesOf(keyFiles, ours)) {
    const found = await executor.view.keyFileText(file, ground);
    if (found.text === "" && found.problem === undefined) continue;
    const isAdded = account.open && file.inHome && holdsOtherKeys(found, usableKeys(account.keys));
    differences.push({
      kind: isAdded ? "key_added" : "other_file",
      problem: `sshd also reads keys from ${file.path}: ${advice}`,
      changes: file.inHome ? planRetireKeys([file]) : undefined,
    });
  }
  return differences;
}

async function reconcileTrash(context: HostContext, checkOnly: boolean): Promise<readonly Drift[]> {
  const { settings, executor } = context;
  const drifts: Drift[] = [];
  const report = (problem: string) => drifts.push({ account: "", kind: "trash", problem, repaired: false });
  for (const base of trashBases(settings)) {
    try {
      const left = await executor.view.trash(base);
      if (checkOnly) for (const name of left) report(`${base}/.uam-trash/${name} is waiting to be deleted`);
      if (checkOnly || left.length === 0) continue;
      const failures = await tryAll(context, [{ kind: "empty-trash", base }]);
      for (const sentence of sentencesOf(failures)) report(sentence);
    } catch (error) {
      report(publicMessage(error));
    }
  }
  return drifts;
}

function changesOf(differences: readonly Difference[]): readonly Change[] {
  return differences.flatMap(({ changes }) => changes ?? []);
}
