/**
 * No host at all: that of a service that manages none of its own (UAM_LOCAL_HOST=off, in a container or as one of several replicas), and
 * the service's own host for a user who has no account on it.
 */

import type { Account, AccountRef, Closing, Host } from "./host.ts";

const NOTHING_LEFT: Closing = { refused: true, owed: [] };

/**
 * A host without accounts. Every change counts as done, because there is nothing to change: nothing is touched, run or logged.
 * Questions get the answer that lets the stored state decide: accounts are present, names and uids are free, nothing differs.
 * To tell this from a host that agrees, check `mode`.
 */
export const ABSENT_HOST: Host = {
  mode: "none",
  /** "present": an operation refuses where an account is missing, and here none ever was. */
  presence: async (_account: AccountRef) => "present",
  lacking: async () => undefined,
  foreignKeys: async () => [],
  findAccount: async () => undefined,
  nameTaken: async () => false,
  uidTaken: async () => false,
  highestUid: async () => undefined,
  createAccount: async (_account: Account) => {},
  writeKeys: async () => {},
  openAccount: async () => {},
  /** Nobody can log in to a missing account, so nothing is owed. */
  shutAccount: async () => NOTHING_LEFT,
  takeKey: async () => ({ rewritten: true, owed: [] }),
  narrowKeys: async () => [],
  shortenAccount: async () => [],
  narrowProfile: async () => NOTHING_LEFT,
  endSilent: async () => {},
  tellEnding: async () => {},
  holdProfiles: async (profiles) => profiles.map(({ name }) => ({ name, state: "applied" })),
  removeAccount: async () => NOTHING_LEFT,
  reconcile: async () => [],
  orphanUids: async () => [],
  endStrays: async () => [],
  forgetJobs: async () => {},
  keyRefusal: async () => undefined,
  hostKeys: async () => [],
  sessions: async () => [],
  countSessions: async () => undefined,
  endSession: async () => "gone",
  logins: async (from) => ({ logins: [], next: from }),
  refusals: async () => ({ refusals: [], unread: "The service manages no host of its own" }),
  loginFaults: async () => [],
  /** The work is not even run: it would change nothing here. */
  planned: async () => [],
};
