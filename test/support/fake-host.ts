/** A host in memory: it remembers accounts and what their key files hold, and can be told to refuse. */

import type { Account, AccountRef, Host } from "../../src/protocol/host.ts";
import { UamError } from "../../src/shared/errors.ts";

export interface FakeAccount {
  readonly uid: number;
  open: boolean;
  expireAt: Date;
  /** Fingerprints in the authorized-keys file. */
  file: readonly string[];
}

export type FakeAction = "createAccount" | "writeKeys" | "applyAccess" | "endSessions" | "removeAccount";

export interface FakeHost extends Host {
  readonly accounts: Map<string, FakeAccount>;
  /** Every change, in order, e.g. "writeKeys ext_alice". */
  readonly calls: string[];
  /** Actions that fail until removed from the set. */
  readonly failing: Set<FakeAction>;
  /** Fingerprints in files of an administrator's that sshd reads too. */
  readonly elsewhere: Set<string>;
}

/** Each change takes up to `pause` milliseconds. */
export function createFakeHost(pause = 3): FakeHost {
  const accounts = new Map<string, FakeAccount>();
  const calls: string[] = [];
  const failing = new Set<FakeAction>();
  const elsewhere = new Set<string>();

  async function act(action: FakeAction, ref: AccountRef): Promise<void> {
    calls.push(`${action} ${ref.name}`);
    // What takes time on a real host lets other requests in between here, too.
    if (pause > 0) await new Promise((resolve) => setTimeout(resolve, Math.random() * pause));
    if (failing.has(action)) throw new UamError("internal", `The host refused: ${action} of ${ref.name}`);
  }
  function require(ref: AccountRef): FakeAccount {
    const account = accounts.get(ref.name);
    if (account === undefined || account.uid !== ref.uid)
      throw new UamError("internal", `The host has no account ${ref.name}`);
    return account;
  }
  function fileOf(account: Account): readonly string[] {
    return account.open ? account.keys.map((key) => key.fingerprint) : [];
  }

  return {
    mode: "direct",
    accounts,
    calls,
    failing,
    elsewhere,
    presence: async ({ name, uid }) => {
      const account = accounts.get(name);
      return account === undefined ? "missing" : account.uid === uid ? "present" : "foreign";
    },
    findAccount: async (name) => {
      const account = accounts.get(name);
      return account === undefined ? undefined : { name, uid: account.uid };
    },
    nameTaken: async (name) => accounts.has(name),
    uidTaken: async (uid) => [...accounts.values()].some((account) => account.uid === uid),
    highestUid: async (first, last) => {
      const uids = [...accounts.values()].map((account) => account.uid).filter((uid) => uid >= first && uid <= last);
      return uids.length === 0 ? undefined : Math.max(...uids);
    },
    createAccount: async (account) => {
      await act("createAccount", account);
      accounts.set(account.name, { uid: account.uid, open: true, expireAt: account.expireAt, file: [] });
    },
    writeKeys: async (account, revoked) => {
      await act("writeKeys", account);
      require(account).file = fileOf(account);
      if (revoked !== undefined && elsewhere.has(revoked))
        throw new UamError("internal", `sshd still reads the revoked key ${revoked} of ${account.name}`);
    },
    applyAccess: async (account) => {
      await act("applyAccess", account);
      const found = require(account);
      found.open = account.open;
      found.expireAt = account.expireAt;
      found.file = fileOf(account);
    },
    endSessions: async (account) => {
      await act("endSessions", account);
    },
    removeAccount: async (ref) => {
      await act("removeAccount", ref);
      accounts.delete(ref.name);
    },
    reconcile: async () => [],
  };
}
