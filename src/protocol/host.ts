/** The narrow interface between the features and the host: the wanted accounts, and the operations of a host. */

import type { LoginFault, LoginLog, RefusalLog, SshSession } from "./logins.ts";
import type { HostProfile, ProfileState } from "./profile.ts";

export type HostMode = "dry-run" | "direct" | "sudo";

/** How a host is managed; `none` if there is no host, and every operation counts as done. */
export type HostKind = HostMode | "none";

/** Whether a change gives access or takes it away: what fails of a gift is undone, what fails of a taking is owed. */
export type Purpose = "give" | "take";

/** One active key, re-encoded by us; nothing a user typed is in it. */
export interface HostKey {
  readonly id: number;
  readonly type: string;
  readonly base64: string;
  /** `SHA256:…` as `ssh-keygen -l` prints it. */
  readonly fingerprint: string;
  /**
   * The networks from which it may be used, as canonical CIDRs. Absent: from anywhere. Empty: from nowhere, so that it is not in
   * the file; it is listed all the same, for sessions that it may have opened.
   */
  readonly networks?: readonly string[] | undefined;
}

/** A public key by which the host's sshd proves itself to clients. */
export interface ServerKey {
  readonly type: string;
  readonly base64: string;
  /** `SHA256:…` as `ssh-keygen -l` prints it. */
  readonly fingerprint: string;
}

/**
 * Identifies an account. Every action on a host checks name and uid before it touches anything; actions that give access check the group,
 * too.
 */
export interface AccountRef {
  /** `ext_` and the username. */
  readonly name: string;
  /** The uid the service pinned for this account when it was created; never used for another. */
  readonly uid: number;
}

/** An account as it should be, in full. */
export interface Account extends AccountRef {
  readonly expireAt: Date;
  /** False for a disabled or expired user: the account is shut and its authorized-keys file is empty. */
  readonly open: boolean;
  /** The active keys, oldest first; they reach the file only while the account is open. */
  readonly keys: readonly HostKey[];
  /** Of a shut account that opens again by itself: its crontab, at jobs and lingering stay. cron and at refuse to run them meanwhile. */
  readonly keepsJobs?: boolean;
  /** The name of the profile that says what it may do; absent: whatever the host lets any account do. */
  readonly profile?: string | undefined;
}

/** `foreign`: an account of that name exists, or one with that uid, but it is not ours. Our account has both, in any groups. */
export type AccountPresence = "present" | "missing" | "foreign";

/** The kinds of difference that programs have to tell apart. */
export type DriftKind =
  /** The file of an open account holds a key that is not stored. */
  | "key_added"
  /** The file differs in any other way: missing, shorter, other owner or mode. */
  | "key_file"
  /** sshd reads another file besides ours. */
  | "other_file"
  /** This host's sshd does not accept a stored key: it opens nothing there. */
  | "key_refused"
  | "expiry_date"
  /** Somebody took the account out of our group. */
  | "group"
  /** The account's groups are not those of its profile. */
  | "profile"
  /** The home of a shut account is not root's, or that of an open one is. */
  | "home"
  | "processes"
  | "missing"
  | "foreign"
  /** Remains of deleted accounts wait to be deleted. */
  | "trash"
  /** Processes have the uid of an account that is gone. */
  | "stray"
  /** The account could not be checked or repaired. */
  | "failed";

/** One difference between the stored state and the host. */
export interface Drift {
  /** Empty for `trash`, for `stray`, and for a problem that keeps the whole host from being examined. */
  readonly account: string;
  readonly kind: DriftKind;
  /** A sentence, e.g. "authorized keys file differs from the stored keys". */
  readonly problem: string;
  readonly repaired: boolean;
}

/** An account whose access ends soon, with what its terminals are told of that. */
export interface EndingAccess extends AccountRef {
  readonly at: Date;
  /** One line. */
  readonly text: string;
}

/** Processes under a uid that no account of the host has. */
export interface Stray {
  readonly uid: number;
  /** How many processes there are, their programs and origin; and why they did not end, if they did not. */
  readonly problem: string;
  readonly ended: boolean;
}

/** The result of taking access away. It never fails as a whole: steps that fail are owed, and have to be retried. */
export interface Closing {
  /** Whether sshd refuses every key of the account: by its expiry date, or because no file that sshd reads holds one. */
  readonly refused: boolean;
  /** A sentence for each remaining step, the most important first; empty once all of it is done. */
  readonly owed: readonly string[];
}

/**
 * The result of taking a key away. If the file could not be rewritten, the key may still log in and nothing else was done.
 * Otherwise the file was read back without it, and its sessions that may still run are owed.
 */
export type KeyTaken =
  | { readonly rewritten: false; readonly problem: string }
  | { readonly rewritten: true; readonly owed: readonly string[]; readonly jobs?: JobsGone };

/** The state of an account's scheduled jobs, if there were any: root has a copy for 30 days, or they are gone without one. */
export type JobsGone = "kept" | "lost";

/** The part that a present account needs before it can be given access: the rest of its creation, after a crash, or our group. */
export type Lacking = "rest" | "group";

/**
 * Changes to the host. Methods that give access throw `UamError("internal" | "conflict")` with a sentence that names the
 * account when the host refuses; the caller undoes them. Methods that take access away return the steps that failed, and
 * throw only `conflict`, before anything is touched, if the account is missing or foreign. Every method is idempotent:
 * calling it again after a failure or a crash ends in the intended state. In dry-run mode nothing changes; each planned
 * command or file change is logged.
 */
export interface Host {
  readonly mode: HostKind;
  /** The state of the account on the host. In dry-run always "present". */
  presence(account: AccountRef): Promise<AccountPresence>;
  /**
   * The part that a present account needs before it can be given access; undefined if nothing is missing. Creating it again makes
   * the rest, reconciling puts the group right. In dry-run always undefined.
   */
  lacking(account: AccountRef): Promise<Lacking | undefined>;
  /**
   * Sentences about key files by which sshd lets, or may let, somebody in under the name or the uid of an account that is foreign, or is
   * missing in /etc/passwd and known to the name service switch all the same. None where it is present, and in dry-run.
   */
  foreignKeys(account: AccountRef): Promise<readonly string[]>;
  /**
   * The account of that name as the host has it, if it is one of ours as far as the host alone can tell: the marker group,
   * an ordinary uid that no other name shares. Undefined if there is none; `conflict` if it is foreign. Changes nothing.
   */
  findAccount(name: string): Promise<AccountRef | undefined>;
  /** True if any account or leftover home of that name exists, ours or not. In dry-run always false. */
  nameTaken(name: string): Promise<boolean>;
  /** True if some account of the host has the uid, or some group the same number. In dry-run always false. */
  uidTaken(uid: number): Promise<boolean>;
  /** The highest uid from `first` to `last` that an account of the host has, if any has one. In dry-run undefined. */
  highestUid(first: number, last: number): Promise<number | undefined>;

  /** Gives access: creates the account with its home and group, open, without keys. `conflict` if the name or the home exists. */
  createAccount(account: Account): Promise<void>;
  /** Gives access: rewrites the authorized-keys file of an open account in full, and reads it back. Never leaves a mixed file. */
  writeKeys(account: Account): Promise<void>;
  /** Gives access: the keys first, then the login itself, so that no account opens with a file that could not be repaired. */
  openAccount(account: Account): Promise<void>;

  /**
   * Takes access away: the account's expiry date first, then its processes and jobs, then the home, which is root's until the account is opened again (not in
   * sudo mode), and the key file and any other file that sshd reads in it. A failed step does not stop the others. With nothing owed, no login, no process and
   * no key is left. The jobs stay if the account says so.
   */
  shutAccount(account: AccountRef & Pick<Account, "keepsJobs">): Promise<Closing>;
  /**
   * Takes one key away: the file is rewritten with `account.keys` and read back, as is any other file that sshd reads for the
   * account; then the sessions end that the key with this fingerprint may have opened, as the settings say. A session is spared
   * only if sshd's own log proves that another key in `account.keys` opened it. If sessions end, the account's scheduled jobs go
   * too: no job shows whose key planted it. Before jobs are removed, root keeps a copy; if that fails, they are removed without
   * one.
   */
  takeKey(account: Account, fingerprint: string): Promise<KeyTaken>;
  /**
   * Takes access away from outside the keys' networks: the file is rewritten with `account.keys` and read back, as is any other file that sshd
   * reads for the account; then the sessions from outside end, unless the settings say that revoking a key ends none. A session is spared if its
   * address, as the kernel has it, is in the networks of the key that sshd's own log proves to have opened it, or else of all the keys. Returns a
   * sentence for each remaining step.
   */
  narrowKeys(account: Account): Promise<readonly string[]>;
  /** Takes access away after an earlier end: from the files as `narrowKeys` does, and by the expiry date. Ends nothing that runs. */
  shortenAccount(account: Account): Promise<readonly string[]>;
  /**
   * Takes away what the account may do beyond its profile, `account.profile`: its new sessions have no more, first; then every session and process
   * of it ends that may have more.
   */
  narrowProfile(account: Account): Promise<Closing>;
  /**
   * Ends the sessions of accounts that have been silent for as long as their profiles allow: terminals, which are told of it before, sessions that
   * copy files, and connections that only forward. Called each minute. What cannot be ended is logged.
   */
  endSilent(now: Date): Promise<void>;
  /**
   * Tells each terminal of these accounts of the end that comes, once; a session that began since, too. Called each minute with all whose end is near.
   * Direct mode alone; a terminal whose owner has stopped the output is not told.
   */
  tellEnding(ending: readonly EndingAccess[]): Promise<void>;
  /**
   * Makes the host hold exactly these profiles, and asks sshd what it would let an account of each do. Where sshd's answer differs, a change that
   * gives is undone, and one that takes stays; each state says so. Cheap where nothing differs. Never throws for the problem of one profile. `onLess` is told, before that counts, which
   * profiles allowed more by what the host held until now: as a change that a crash cut short left it.
   */
  holdProfiles(
    profiles: readonly HostProfile[],
    purpose: Purpose,
    onLess?: (names: readonly string[]) => Promise<void>,
  ): Promise<readonly ProfileState[]>;
  /**
   * Takes access away for good: shut, processes, scheduled jobs, mail spool, home directory, the account's entry. With
   * nothing owed, all of it is gone; a missing account owes at most the rest of its home.
   */
  removeAccount(account: AccountRef): Promise<Closing>;

  /**
   * Compares the accounts with the host, repairs unless `checkOnly`, and yields the differences. Writes nothing if there
   * are none. If an open account's file held a key that is not stored, the repair also ends the sessions that no stored
   * key is proven to have opened, and removes crontab, at jobs and lingering. If a file differed of an account whose keys
   * have networks, it ends the sessions from outside. A repair is only as good as `accounts`: where others may change a
   * user meanwhile, repair one at a time under its lock.
   */
  reconcile(accounts: readonly Account[], checkOnly: boolean): Promise<readonly Drift[]>;
  /**
   * The uids that processes have in any way (real, effective, saved, of a single thread) and that no line of the host's accounts has. Most
   * are other people's, such as a container's. In dry-run none.
   */
  orphanUids(): Promise<readonly number[]>;
  /**
   * Ends, unless `checkOnly`, every process that has one of these uids in any way, and yields the processes it found. A uid that an
   * account of the host has meanwhile, also one that only LDAP or the like knows, is somebody's: nothing of it is touched. Only uids that
   * were given to accounts of this service may be asked for.
   */
  endStrays(uids: readonly number[], checkOnly: boolean): Promise<readonly Stray[]>;
  /** Deletes root's copies of removed jobs that are older than 30 days; throws `internal` if that cannot be done. In dry-run nothing. */
  forgetJobs(): Promise<void>;
  /** Why this host's sshd would refuse a key of that kind, as a clause; undefined if it takes it, if it cannot be asked, and in dry-run. */
  keyRefusal(key: { readonly type: string; readonly bits: number }): Promise<string | undefined>;
  /** The host keys that sshd shows to clients, in clients' order of preference; none if none can be read. */
  hostKeys(): Promise<readonly ServerKey[]>;
  /** The logins by SSH that are open now, oldest first; none where the account is missing or foreign, and in dry-run. */
  sessions(account: AccountRef): Promise<readonly SshSession[]>;
  /**
   * How many of them are open for each of these accounts, by its name: read at once and without the journal, for lists. Undefined where
   * the service may not see other people's processes, and in dry-run.
   */
  countSessions(accounts: readonly AccountRef[]): Promise<ReadonlyMap<string, number> | undefined>;
  /**
   * Ends one of them: the connection and everything that runs in it, and no other. `gone` if it is not open. Throws
   * `internal` with a sentence if a part of it is still there afterwards.
   */
  endSession(account: AccountRef, id: string): Promise<"ended" | "gone">;
  /** The logins that sshd logged from there on; none if the host has no journal, and in dry-run. */
  logins(from: string): Promise<LoginLog>;
  /** The newest logins to the account that sshd refused, where its log can be read. Throws `internal` if the host cannot be asked. */
  refusals(account: AccountRef): Promise<RefusalLog>;
  /** What keeps the owner of this open account out, by all that the host shows; changes nothing. In dry-run nothing is found. */
  loginFaults(account: Account): Promise<readonly LoginFault[]>;
  /**
   * The changes that `work` would make, each as the line that a dry run logs; nothing changes. `work` gets a host on which every
   * account in question is as it should be.
   */
  planned(work: (host: Host) => Promise<unknown>): Promise<readonly string[]>;
}
