/** Comparing the accounts with the host and repairing what differs, with the same plans that made it. */

import { statSync } from "node:fs";
import { setImmediate as breathe } from "node:timers/promises";
import type { Account, Drift } from "../protocol/host.ts";
import { publicMessage } from "../shared/errors.ts";
import { type AccountTable, presenceIn, readAccounts, requireRef } from "./account.ts";
import { applyAll, type Executor } from "./execute/executor.ts";
import { type KeyFile, keyFileOf, otherKeyFilesOf } from "./key-file/key-path.ts";
import {
  type Change,
  planEndProcesses,
  planKeys,
  planNoAgeing,
  planNoJobs,
  planRetireKeys,
  planShadow,
  splitHome,
  wantedShadow,
} from "./plan/plan.ts";
import { type ListedProcess, listedOf, readProcesses } from "./processes/processes.ts";
import { emptyTrash, trashOf } from "./remove-home.ts";
import type { HostSettings } from "./settings.ts";
import type { KeyFilePatterns } from "./sshd/sshd.ts";
import { errorCode, type Mount, mountsWithin, readMounts } from "./walk.ts";

const ACCOUNTS_A_TURN = 200;

/** What a reconciliation works with. */
export interface Reconciler {
  readonly settings: HostSettings;
  readonly executor: Executor;
  /** The text the account's file should hold. */
  readonly textOf: (account: Account) => string;
  readonly patterns: KeyFilePatterns;
}

/** One reading of the host, shared by all accounts of a reconciliation. */
interface Snapshot {
  readonly table: AccountTable;
  readonly mounts: readonly Mount[];
  readonly processes: readonly ListedProcess[];
  readonly keyFiles: readonly string[] | undefined;
}

/** A difference and what repairs it; nothing does where an administrator has to decide. */
interface Difference {
  readonly problem: string;
  readonly changes: readonly Change[];
}

/**
 * Compares every account with the host and, unless `checkOnly`, repairs what differs: shadow entry, processes of a shut
 * account, authorized-keys file, leftovers of a crash. Missing and foreign accounts are reported only. An account that
 * cannot be repaired is reported with the reason and does not keep the others from it. Nothing is written where nothing differs.
 */
export async function reconcileAccounts(
  reconciler: Reconciler,
  accounts: readonly Account[],
  checkOnly: boolean,
): Promise<readonly Drift[]> {
  const { settings } = reconciler;
  const table = await completeTable(
    readAccounts(),
    reconciler.executor,
    accounts.map(({ name }) => name),
  );
  const example = accounts.find((account) => presenceIn(table, account, settings.markerGroup) === "present");
  reconciler.patterns.refresh();
  const keyFiles = example && (await reconciler.patterns.of(example.name));
  const snapshot = { table, mounts: readMounts(), processes: readProcesses(), keyFiles };
  const drifts: Drift[] = [];
  for (const [index, account] of accounts.entries()) {
    if (index % ACCOUNTS_A_TURN === ACCOUNTS_A_TURN - 1) await breathe();
    drifts.push(...(await reconcileAccount(reconciler, snapshot, { account, checkOnly })));
  }
  return [...drifts, ...(await reconcileTrash(reconciler, checkOnly))];
}

/** The table with the shadow entries of those accounts, where this process itself may not read them. */
export async function completeTable(
  table: AccountTable,
  { eyes }: Executor,
  names: readonly string[],
): Promise<AccountTable> {
  if (table.shadow !== undefined || eyes === undefined) return table;
  return { ...table, shadow: await eyes.shadow(names.filter((name) => table.passwd.has(name))) };
}

async function reconcileAccount(
  reconciler: Reconciler,
  snapshot: Snapshot,
  wanted: { readonly account: Account; readonly checkOnly: boolean },
): Promise<readonly Drift[]> {
  const { account, checkOnly } = wanted;
  const report = (problem: string, repaired: boolean): Drift => ({ account: account.name, problem, repaired });
  try {
    const differences = await differencesOf(reconciler, snapshot, account);
    const changes = differences.flatMap((difference) => difference.changes);
    if (checkOnly || changes.length === 0) return differences.map(({ problem }) => report(problem, false));
    // The snapshot may be old by now: another look before anything is touched.
    if (presenceIn(readAccounts(), account, reconciler.settings.markerGroup) !== "present") return [];
    await applyAll(reconciler.executor, changes);
    return differences.map((difference) => report(difference.problem, difference.changes.length > 0));
  } catch (error) {
    return [report(publicMessage(error), false)];
  }
}

async function differencesOf(
  reconciler: Reconciler,
  snapshot: Snapshot,
  account: Account,
): Promise<readonly Difference[]> {
  const { settings, executor, textOf } = reconciler;
  requireRef(account);
  const only = (problem: string): readonly Difference[] => [{ problem, changes: [] }];
  const presence = presenceIn(snapshot.table, account, settings.markerGroup);
  const owner = snapshot.table.passwd.get(account.name);
  if (presence === "missing") return only("the account is missing on the host");
  if (presence === "foreign" || !owner) return only("an account of that name or uid exists that is not this service's");
  if (splitHome(owner.home).name !== account.name) {
    return only(`the account's home directory is ${owner.home}, which is not its own`);
  }
  const differences = [...shadowDifferences(snapshot.table, account)];
  if (!account.open && listedOf(snapshot.processes, account.uid).length > 0) {
    // What still runs would schedule itself again.
    const changes = [...planEndProcesses(account), ...planNoJobs(account)];
    differences.push({ problem: "processes run although the account is shut", changes });
  }
  const text = textOf(account);
  const file = keyFileOf(settings.authorizedKeysFile, owner);
  const keys = await executor.keyFileDifference(file, text, snapshot.mounts);
  if (keys !== undefined) {
    const problem = `authorized keys file differs from the stored keys: ${keys}`;
    differences.push({ problem, changes: planKeys(settings, owner, text) });
  }
  if (!account.open && differences.length > 0) {
    differences.push({ problem: "processes were ended again", changes: planEndProcesses(account) });
  }
  return [...differences, ...(await otherKeyFiles(executor, snapshot, file))];
}

function shadowDifferences(table: AccountTable, account: Account): readonly Difference[] {
  if (table.shadow === undefined) return [];
  const entry = table.shadow.get(account.name);
  if (entry === undefined) return [{ problem: "the account has no shadow entry", changes: planShadow(account) }];
  const wanted = wantedShadow(account);
  const differences: Difference[] = [];
  if (entry.expires !== wanted.expires || (wanted.password !== undefined && entry.password !== wanted.password)) {
    const problem = account.open ? "the account is locked or its expiry date differs" : "the account is not shut";
    differences.push({ problem, changes: planShadow(account) });
  }
  if (entry.ageing) differences.push({ problem: "password ageing is on", changes: planNoAgeing(account) });
  return differences;
}

/** Key files besides ours that sshd would read: a revoked key could live on in them. */
async function otherKeyFiles({ eyes }: Executor, snapshot: Snapshot, ours: KeyFile): Promise<readonly Difference[]> {
  if (snapshot.keyFiles === undefined || mountsWithin(snapshot.mounts, ours.owner.home).length > 0) return [];
  const read = snapshot.keyFiles.some(
    (pattern) => pattern !== "none" && keyFileOf(pattern, ours.owner).path === ours.path,
  );
  const filled: KeyFile[] = [];
  for (const file of otherKeyFilesOf(snapshot.keyFiles, ours)) {
    if (eyes === undefined ? isFilled(file.path) : await eyes.isFilled(file)) filled.push(file);
  }
  const advice = "set AuthorizedKeysFile for ext_* in sshd_config";
  return [
    ...(read ? [] : [{ problem: `sshd does not read ${ours.path}: ${advice}`, changes: [] }]),
    ...filled.map((file) => ({
      problem: `sshd also reads keys from ${file.path}: ${advice}`,
      changes: planRetireKeys([file]),
    })),
  ];
}

function isFilled(path: string): boolean {
  try {
    return statSync(path).size > 0;
  } catch (error) {
    if (errorCode(error) === "") throw error;
    return false;
  }
}

async function reconcileTrash({ settings, executor }: Reconciler, checkOnly: boolean): Promise<readonly Drift[]> {
  const base = settings.homeBase;
  const empty = executor.eyes?.emptyTrash ?? emptyTrash;
  try {
    const left = (await executor.eyes?.trash(base)) ?? trashOf(base);
    if (left.length === 0) return [];
    const problems = checkOnly ? left.map((name) => `${base}/${name} waits to be deleted`) : await empty(base);
    return problems.map((problem) => ({ account: "", problem, repaired: false }));
  } catch (error) {
    return [{ account: "", problem: publicMessage(error), repaired: false }];
  }
}
