/** The host in any mode: checks that an account is ours, makes the plan, and has it carried out. */

import { lstatSync } from "node:fs";
import type { Account, AccountRef, Host, Lacking } from "../protocol/host.ts";
import { UamError } from "../shared/errors.ts";
import {
  type AccountTable,
  findIn,
  isHalfCreated,
  knownToNameService,
  type PasswdEntry,
  presenceIn,
  readAccounts,
  requireRef,
} from "./account.ts";
import { shutAccount, takeKey, tryAll } from "./closing.ts";
import { applyInOrder, completeTable } from "./executor.ts";
import { foreignKeys } from "./foreign-keys.ts";
import { foreign, type HostContext, hasMark, otherFiles, presenceOf, requireWhole, textOf } from "./host-context.ts";
import { loginFaults } from "./login-faults.ts";
import { narrowKeys, shortenAccount } from "./narrowing.ts";
import {
  type Change,
  EXAMPLE,
  homeOf,
  planCreate,
  planDiscardHalfCreated,
  planEmptyTrash,
  planKeys,
  planMarkerGroup,
  planNoAgeing,
  planOpen,
  planRetireKeys,
  SHUT_DAY,
} from "./plan/plan.ts";
import { plannedBy } from "./planned.ts";
import { tellEnding } from "./processes/ending-soon.ts";
import { countLogins } from "./processes/ssh-sessions.ts";
import { holdProfiles } from "./profiles/hold.ts";
import { planHome } from "./profiles/home.ts";
import { endSilent } from "./profiles/idle.ts";
import { applyProfile } from "./profiles/membership.ts";
import { narrowProfile } from "./profiles/narrow.ts";
import { reconcileAccounts } from "./reconcile.ts";
import { nameRefusals } from "./refusal-reason.ts";
import { removeAccount } from "./removal.ts";
import { endStrays, orphanUids } from "./strays.ts";

/** A host whose changes an executor carries out. Every method first checks, each time again, that the account is ours. */
export function createManagedHost(context: HostContext): Host {
  const { settings, executor } = context;
  const isDry = settings.mode === "dry-run";
  return nameRefusals({
    mode: settings.mode,
    presence: async (account) => presenceOf(context, account),
    lacking: (account) => lacking(context, account),
    foreignKeys: async (account) => (isDry ? [] : await foreignKeys(context, account)),
    findAccount: async (name) => findIn(readAccounts(), name, settings.markerGroup),
    nameTaken: async (name) => !isDry && (await nameTaken(context, name)),
    uidTaken: async (uid) => !isDry && (await uidTaken(context, uid)),
    highestUid: async (first, last) => {
      const uids = isDry ? [] : [...readAccounts().namesByUid.keys()].filter((uid) => uid >= first && uid <= last);
      return uids.length === 0 ? undefined : Math.max(...uids);
    },
    createAccount: (account) => createAccount(context, account),
    writeKeys: async (account) => {
      await applyInOrder(executor, await keyChanges(context, account, requireWhole(context, account)));
    },
    openAccount: async (account) => {
      const owner = requireWhole(context, account);
      const ground = await applyProfile(context, account);
      const keys = await keyChanges(context, account, owner);
      await applyInOrder(executor, planOpen(account, keys, planHome(context, ground, account, owner)));
    },
    shutAccount: (account) => shutAccount(context, account),
    takeKey: (account, fingerprint) => takeKey(context, account, fingerprint),
    narrowKeys: (account) => narrowKeys(context, account),
    shortenAccount: (account) => shortenAccount(context, account),
    narrowProfile: (account) => narrowProfile(context, account),
    endSilent: (now) => endSilent(context, now),
    tellEnding: (ending) => tellEnding(context, ending),
    holdProfiles: (profiles, purpose, onLess) => holdProfiles(context, profiles, { purpose, onLess }),
    removeAccount: (account) => removeAccount(context, account),
    reconcile: (accounts, checkOnly) => reconcileAccounts(context, accounts, checkOnly),
    orphanUids: async () => (isDry ? [] : await orphanUids()),
    endStrays: async (uids, checkOnly) => await endStrays(context, uids, checkOnly),
    forgetJobs: () => executor.jobs.forget(),
    // An account that is not ours has no session that concerns us.
    sessions: async (account) => {
      const connections = isPresent(context, account) ? await executor.sessions.list(account) : [];
      return connections.filter(({ isLoggedIn }) => isLoggedIn).map(({ isLoggedIn: _, ...session }) => session);
    },
    countSessions: async (accounts) =>
      isDry ? undefined : countLogins(accounts.filter((account) => isPresent(context, account))),
    endSession: async (account, id) =>
      isPresent(context, account) ? await executor.sessions.end(account, id) : "gone",
    logins: (from) => executor.sessions.logins(from),
    refusals: (account) => {
      requireRef(account);
      return executor.sessions.refusals(account);
    },
    loginFaults: async (account) => (isDry ? [] : await loginFaults(context, account)),
    planned: (work) => plannedBy(context, createManagedHost, work),
    keyRefusal: async (key) => {
      if (isDry) return undefined;
      await context.patterns.of(EXAMPLE.name);
      return context.patterns.refusal(key);
    },
    hostKeys: context.hostKeys,
  });
}

function isPresent(context: HostContext, account: AccountRef): boolean {
  return presenceOf(context, account) === "present";
}

async function lacking(context: HostContext, account: AccountRef): Promise<Lacking | undefined> {
  if (context.settings.mode === "dry-run" || !isPresent(context, account)) return undefined;
  const { view } = context.executor;
  const table = await completeTable(view, view.accounts([account]), [account.name]);
  if (isHalfCreated(table, account, homeOf(context.settings, account.name))) return "rest";
  return hasMark(context, account) ? undefined : "group";
}

/** Our file is written, and other files that sshd would read are moved away. */
async function keyChanges(context: HostContext, account: Account, owner: PasswdEntry): Promise<readonly Change[]> {
  const others = (await otherFiles(context, owner)).files ?? [];
  return [...planKeys(context.settings, owner, textOf(context, account)), ...planRetireKeys(others)];
}

async function nameTaken({ settings, executor }: HostContext, name: string): Promise<boolean> {
  const table = readAccounts();
  if (table.passwd.has(name) || table.groups.has(name) || executor.view.exists(homeOf(settings, name))) return true;
  return (await knownToNameService("passwd", name)) || (await knownToNameService("group", name));
}

/** The account's group gets the same number. */
async function uidTaken({ executor: { view } }: HostContext, uid: number): Promise<boolean> {
  const table = readAccounts();
  if (table.namesByUid.has(uid) || table.groups.values().some(({ gid }) => gid === uid)) return true;
  return (await view.uidKnown(uid)) || (await view.gidKnown(uid));
}

/** Creates the account, or first removes what a crash left of an earlier attempt for the same name and uid. */
async function createAccount(context: HostContext, account: Account): Promise<void> {
  const { settings, executor, log } = context;
  const { view } = executor;
  requireRef(account);
  // A dry run knows only the accounts in question, and this one does not exist yet.
  const table = await completeTable(view, view.accounts([]), [account.name]);
  const home = homeOf(settings, account.name);
  const presence = presenceIn(table, account);
  const half = isHalfCreated(table, account, home) || (presence === "present" && !hasHome(table, account, home));
  if (presence === "foreign") throw foreign(account);
  if (half) {
    log.warn("A crash left an account half created; it is created again", { account: account.name });
    await applyInOrder(executor, planDiscardHalfCreated(settings, account));
  }
  if (half || presence === "missing") {
    if (view.exists(home))
      throw new UamError("conflict", `${home} exists already: move it away before ${account.name} is created`);
    if (!table.groups.has(settings.markerGroup)) await applyInOrder(executor, planMarkerGroup(settings));
    await applyInOrder(executor, planCreate(settings, account));
  }
  const owner = requireWhole(context, account);
  // Leftovers of earlier accounts do not prevent the creation.
  await tryAll(context, planEmptyTrash(settings, owner));
  const opened = planHome(context, await applyProfile(context, account), account, owner);
  await applyInOrder(executor, planOpen({ ...account, open: true }, planKeys(settings, owner, ""), opened));
  const made = await completeTable(view, view.accounts([account]), [account.name]);
  if (made.shadow?.get(account.name)?.ageing) await applyInOrder(executor, planNoAgeing(account));
}

/** False if useradd was ended before it had created the home and changed its owner. The home of a shut account is root's as well. */
function hasHome({ shadow }: AccountTable, account: AccountRef, home: string): boolean {
  const uid = lstatSync(home, { throwIfNoEntry: false })?.uid;
  return uid === account.uid || (uid === 0 && shadow?.get(account.name)?.expires === SHUT_DAY);
}
