/** A host in memory: it remembers accounts and the content of their key files, and can be made to fail. */

import { usableKeys } from "../../src/host/key-file/authorized-keys.ts";
import { isInside } from "../../src/host/processes/outside-sessions.ts";
import { lessenedBy } from "../../src/host/profiles/hold.ts";
import type { Account, AccountRef, Closing, Host, Stray } from "../../src/protocol/host.ts";
import type { Login, LoginFault, RefusalLog, SshSession } from "../../src/protocol/logins.ts";
import type { HostProfile } from "../../src/protocol/profile.ts";
import { UamError } from "../../src/shared/errors.ts";
import type { Reason } from "../../src/shared/product/reasons.ts";

export interface FakeAccount {
  readonly uid: number;
  /** True if somebody took it out of our group. */
  outside?: boolean;
  open: boolean;
  expireAt: Date;
  /** Fingerprints in the authorized-keys file. */
  file: readonly string[];
  /** Whether its crontab, at jobs and lingering are there: they go when it is shut, unless it keeps them. */
  hasJobs?: boolean;
  /** By fingerprint, from where they may be used, where that is not anywhere. */
  from?: Readonly<Record<string, readonly string[]>> | undefined;
  /** The name of its profile, where it has one. */
  profile?: string | undefined;
}

/** What can fail: a method as a whole, or one step of a closing. */
export type FakeAction =
  | "createAccount"
  | "writeKeys"
  | "openAccount"
  | "shutAccount"
  | "takeKey"
  | "narrowKeys"
  | "shortenAccount"
  | "narrowProfile"
  | "holdProfiles"
  | "removeAccount"
  | "sessions"
  | "endSession"
  | "logins"
  | "refusals"
  | "loginFaults"
  /** The key file of an account that is shut. */
  | "emptyFile"
  /** The running sessions of a revoked key, or processes of an account that is shut. */
  | "endProcesses";

export interface FakeHost extends Host {
  readonly accounts: Map<string, FakeAccount>;
  /** Every change, in order, e.g. "writeKeys ext_alice". */
  readonly calls: string[];
  /** Actions that fail until removed from the set. */
  readonly failing: Set<FakeAction>;
  /** The profiles that it was last made to hold. */
  readonly profiles: HostProfile[];
  /** What keeps it from holding a profile, by its name. */
  readonly profileProblems: Map<string, string>;
  /** Types of keys that sshd refuses. */
  readonly refusedTypes: Set<string>;
  /** Fingerprints in an administrator's files that sshd also reads. */
  readonly elsewhere: Set<string>;
  /** What the next comparison finds. */
  readonly drifts: Awaited<ReturnType<Host["reconcile"]>>[number][];
  /** What runs under uids of no account; with `ended: false` it does not end. */
  readonly strays: Stray[];
  /** Who is logged in by SSH. */
  readonly sessionsOpen: (SshSession & { readonly account: string })[];
  /** What the next reading of sshd's log finds. */
  readonly loginsLogged: Login[];
  /** What sshd's log has about refusals of any account. */
  readonly refusalsLogged: { -readonly [Part in keyof RefusalLog]: RefusalLog[Part] };
  /** What keeps people out of an account, by its name. */
  readonly faults: Map<string, readonly LoginFault[]>;
}

/** Of no host. */
const SERVER_KEY = "AAAAC3NzaC1lZDI1NTE5AAAAIILaNJJBGzPmkiX3Z160Q00v6FSEYUOHcfhr2QsREXeN";

/** Each change takes up to `pause` milliseconds. */
export function createFakeHost(pause = 3): FakeHost {
  const accounts = new Map<string, FakeAccount>();
  const calls: string[] = [];
  const failing = new Set<FakeAction>();
  const elsewhere = new Set<string>();
  const refusedTypes = new Set<string>();
  const profiles: FakeHost["profiles"] = [];
  const profileProblems: FakeHost["profileProblems"] = new Map();
  const drifts: FakeHost["drifts"] = [];
  const strays: FakeHost["strays"] = [];
  const sessions: FakeHost["sessionsOpen"] = [];
  const logins: FakeHost["loginsLogged"] = [];
  const refusalsLogged: FakeHost["refusalsLogged"] = { refusals: [] };
  const faults: FakeHost["faults"] = new Map();

  async function act(action: FakeAction, ref: AccountRef): Promise<void> {
    calls.push(`${action} ${ref.name}`);
    // As on a real host, which takes time, other requests can come in between.
    if (pause > 0) await new Promise((resolve) => setTimeout(resolve, Math.random() * pause));
  }
  function refuse(action: FakeAction, ref: AccountRef): void {
    if (failing.has(action)) throw new UamError("internal", refusal(action, ref), { reason: "host.refused" });
  }
  function refuseAll(action: FakeAction): void {
    if (failing.has(action)) throw new UamError("internal", `The host refused: ${action}`, { reason: "host.refused" });
  }
  function refusal(action: FakeAction, ref: AccountRef): string {
    return `The host refused: ${action} of ${ref.name}`;
  }
  function require(ref: AccountRef): FakeAccount {
    const account = accounts.get(ref.name);
    if (account === undefined) throw conflict(`The account ${ref.name} is missing on the host`, "account.missing");
    if (account.uid !== ref.uid) throw conflict(`The account ${ref.name} is not uam's`, "account.foreign");
    return account;
  }
  function shut(ref: AccountRef & Pick<Account, "keepsJobs">): Closing {
    const account = require(ref);
    if (failing.has("shutAccount")) return { refused: false, owed: [refusal("shutAccount", ref)] };
    account.open = false;
    if (ref.keepsJobs !== true) delete account.hasJobs;
    const owed: string[] = [];
    if (failing.has("endProcesses")) owed.push(refusal("endProcesses", ref));
    if (failing.has("emptyFile")) owed.push(refusal("emptyFile", ref));
    else account.file = [];
    return { refused: true, owed };
  }

  return {
    mode: "direct",
    refusalsLogged,
    faults,
    accounts,
    calls,
    failing,
    profiles,
    profileProblems,
    refusedTypes,
    elsewhere,
    drifts,
    strays,
    sessionsOpen: sessions,
    loginsLogged: logins,
    presence: async ({ name, uid }) => {
      const account = accounts.get(name);
      return account === undefined ? "missing" : account.uid === uid ? "present" : "foreign";
    },
    lacking: async ({ name }) => (accounts.get(name)?.outside === true ? "group" : undefined),
    foreignKeys: async ({ name, uid }) => {
      const account = accounts.get(name);
      const reads = account !== undefined && account.uid !== uid && account.open && account.file.length > 0;
      return reads ? [`sshd reads keys of ${name}`] : [];
    },
    findAccount: async (name) => {
      const account = accounts.get(name);
      return account === undefined ? undefined : { name, uid: account.uid };
    },
    nameTaken: async (name) => accounts.has(name),
    uidTaken: async (uid) => [...accounts.values()].some((account) => account.uid === uid),
    orphanUids: async () => strays.map(({ uid }) => uid),
    endStrays: async (uids, checkOnly) => {
      const found = strays.filter(({ uid }) => uids.includes(uid));
      if (!checkOnly) for (const stray of found.filter(({ ended }) => ended)) strays.splice(strays.indexOf(stray), 1);
      if (!checkOnly) calls.push(...found.map(({ uid }) => `endStrays ${uid}`));
      return found.map((stray) => ({ ...stray, ended: stray.ended && !checkOnly }));
    },
    highestUid: async (first, last) => {
      const uids = [...accounts.values()].map((account) => account.uid).filter((uid) => uid >= first && uid <= last);
      return uids.length === 0 ? undefined : Math.max(...uids);
    },
    createAccount: async (account) => {
      await act("createAccount", account);
      refuse("createAccount", account);
      const { uid, expireAt, profile } = account;
      accounts.set(account.name, {
        uid,
        open: true,
        expireAt,
        file: [],
        ...(profile === undefined ? {} : { profile }),
      });
    },
    writeKeys: async (account) => {
      await act("writeKeys", account);
      refuse("writeKeys", account);
      Object.assign(require(account), fileOf(account));
    },
    openAccount: async (account) => {
      await act("openAccount", account);
      refuse("openAccount", account);
      const found = require(account);
      if (found.outside) throw conflict(`The account ${account.name} is not in the group`, "account.group");
      found.open = account.open;
      putInProfile(found, account);
      found.expireAt = account.expireAt;
      Object.assign(found, fileOf(account));
    },
    shutAccount: async (ref) => {
      await act("shutAccount", ref);
      return shut(ref);
    },
    takeKey: async (account, fingerprint) => {
      await act("takeKey", account);
      const found = require(account);
      if (failing.has("takeKey")) return { rewritten: false, problem: refusal("takeKey", account) };
      Object.assign(found, fileOf(account));
      if (elsewhere.has(fingerprint)) {
        return { rewritten: false, problem: `sshd still reads the revoked key ${fingerprint} of ${account.name}` };
      }
      return { rewritten: true, owed: failing.has("endProcesses") ? [refusal("endProcesses", account)] : [] };
    },
    narrowKeys: async (account) => {
      await act("narrowKeys", account);
      const found = require(account);
      if (failing.has("narrowKeys")) return [refusal("narrowKeys", account)];
      Object.assign(found, fileOf(account));
      const isOutside = (session: (typeof sessions)[number]) =>
        session.account === account.name && !isInside(session, account.keys);
      if (!failing.has("endSession")) sessions.splice(0, sessions.length, ...sessions.filter((it) => !isOutside(it)));
      return sessions.some(isOutside) ? [refusal("endSession", account)] : [];
    },
    shortenAccount: async (account) => {
      await act("shortenAccount", account);
      const found = require(account);
      if (failing.has("shortenAccount")) return [refusal("shortenAccount", account)];
      found.expireAt = account.expireAt;
      Object.assign(found, fileOf(account));
      return [];
    },
    narrowProfile: async (account) => {
      await act("narrowProfile", account);
      const found = require(account);
      if (failing.has("narrowProfile")) return { refused: false, owed: [refusal("narrowProfile", account)] };
      putInProfile(found, account);
      if (failing.has("endProcesses")) return { refused: false, owed: [refusal("endProcesses", account)] };
      sessions.splice(0, sessions.length, ...sessions.filter((session) => session.account !== account.name));
      return { refused: false, owed: [] };
    },
    holdProfiles: async (wanted, purpose, onLess) => {
      const lessened = lessenedBy(
        profiles.map((profile) => ({ profile, isShut: false })),
        wanted,
      );
      if (lessened.length > 0) await onLess?.(lessened);
      const before = JSON.stringify(profiles);
      if (JSON.stringify(wanted) !== before) calls.push(`holdProfiles ${purpose} ${wanted.map(({ name }) => name)}`);
      const problems = new Map(profileProblems);
      if (failing.has("holdProfiles"))
        for (const { name } of wanted) problems.set(name, "The host refused: holdProfiles");
      const held = wanted.map(({ name }) => ({ name, problem: problems.get(name) }));
      const isUndone = purpose === "give" && held.some(({ problem }) => problem !== undefined);
      if (!isUndone) profiles.splice(0, profiles.length, ...wanted);
      return held.map(({ name, problem }) =>
        problem === undefined ? { name, state: "applied" } : { name, state: "problem", problem },
      );
    },
    removeAccount: async (ref) => {
      await act("removeAccount", ref);
      const account = accounts.get(ref.name);
      if (account === undefined) {
        return { refused: true, owed: failing.has("removeAccount") ? [refusal("removeAccount", ref)] : [] };
      }
      const closing = shut(ref);
      if (failing.has("removeAccount")) return { ...closing, owed: [...closing.owed, refusal("removeAccount", ref)] };
      accounts.delete(ref.name);
      return { refused: true, owed: [] };
    },
    reconcile: async (compared, checkOnly) => {
      const outside = compared.filter(({ name, uid }) => {
        const account = accounts.get(name);
        return account?.uid === uid && account.outside === true;
      });
      for (const { name } of checkOnly ? [] : outside) delete accounts.get(name)?.outside;
      const drift = { kind: "group", problem: "the account is no longer in the group", repaired: !checkOnly } as const;
      return [...drifts.splice(0), ...outside.map(({ name }) => ({ account: name, ...drift }))];
    },
    forgetJobs: async () => {},
    endSilent: async () => {},
    tellEnding: async () => {},
    keyRefusal: async ({ type }) =>
      refusedTypes.has(type) ? `its sshd does not accept keys of the type ${type}` : undefined,
    hostKeys: async () => [{ type: "ssh-ed25519", base64: SERVER_KEY, fingerprint: `SHA256:${"h".repeat(43)}` }],
    countSessions: async (accounts) =>
      new Map(accounts.map(({ name }) => [name, sessions.filter(({ account }) => account === name).length])),
    sessions: async ({ name }) => {
      refuseAll("sessions");
      return sessions.filter((session) => session.account === name).map(({ account: _, ...session }) => session);
    },
    endSession: async (ref, id) => {
      await act("endSession", ref);
      refuse("endSession", ref);
      const index = sessions.findIndex((session) => session.account === ref.name && session.id === id);
      if (index < 0) return "gone";
      sessions.splice(index, 1);
      return "ended";
    },
    logins: async (from) => {
      refuseAll("logins");
      return { logins: logins.splice(0), next: String(Number(from) + 1) };
    },
    refusals: async () => {
      refuseAll("refusals");
      return { ...refusalsLogged };
    },
    loginFaults: async ({ name }) => {
      refuseAll("loginFaults");
      return faults.get(name) ?? [];
    },
    planned: async (work) => {
      const planner = createFakeHost(0);
      for (const [name, account] of accounts) planner.accounts.set(name, { ...account });
      await work(planner);
      return planner.calls.map((call) => `would ${call}`);
    },
  };
}

/** With the reason that the real host gives. */
function conflict(sentence: string, reason: Reason): UamError {
  return new UamError("conflict", sentence, { reason });
}

function putInProfile(found: FakeAccount, { profile }: Account): void {
  if (profile === undefined) delete found.profile;
  else found.profile = profile;
}

function fileOf(account: Account): Pick<FakeAccount, "file" | "from"> {
  const keys = account.open ? usableKeys(account.keys) : [];
  const narrow = keys.flatMap(({ fingerprint, networks }) => (networks === undefined ? [] : [[fingerprint, networks]]));
  return {
    file: keys.map((key) => key.fingerprint),
    ...(narrow.length === 0 ? { from: undefined } : { from: Object.fromEntries(narrow) }),
  };
}
