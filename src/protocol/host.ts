/** The narrow interface between the features and the host: what an account should be, and what can be asked of the host. */

export type HostMode = "dry-run" | "direct" | "sudo";

/** How a host is managed; `none` where there is no host, and what is asked of it counts as done. */
export type HostKind = HostMode | "none";

/** One active key, re-encoded by us; nothing a user typed is in it. */
export interface HostKey {
  readonly id: number;
  readonly type: string;
  readonly base64: string;
  /** `SHA256:…` as `ssh-keygen -l` prints it. */
  readonly fingerprint: string;
  /**
   * From where it may be used, as canonical CIDRs. Absent: from anywhere. Empty: from nowhere, so that it is not in the file; it
   * is named all the same, for sessions that it may have opened.
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

/** Which account is meant; every action on a host checks name and uid before it touches anything, and what gives access the group, too. */
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
}

/** `foreign`: an account of that name exists, or one with that uid, but it is not ours. Ours has both, whatever groups it is in. */
export type AccountPresence = "present" | "missing" | "foreign";

/** What is wrong with an account, where a program has to tell the differences apart. */
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
  /** The home of a shut account is not root's, or that of an open one is. */
  | "home"
  | "processes"
  | "missing"
  | "foreign"
  /** What deleted accounts left waits to be deleted. */
  | "trash"
  /** Processes have the uid of an account that is gone. */
  | "stray"
  /** The account could not be checked or repaired. */
  | "failed";

/** One difference between what is stored and what the host has. */
export interface Drift {
  /** Empty for `trash`, for `stray`, and for what keeps the host as a whole from being looked at. */
  readonly account: string;
  readonly kind: DriftKind;
  /** A sentence, e.g. "authorized keys file differs from the stored keys". */
  readonly problem: string;
  readonly repaired: boolean;
}

/** What runs under a uid that no account of the host has. */
export interface Stray {
  readonly uid: number;
  /** How many processes, what they run and who started them; and why they did not end, if they did not. */
  readonly problem: string;
  readonly ended: boolean;
}

/** What taking access away achieved. It never fails as a whole: what it could not do is owed, and has to be retried. */
export interface Closing {
  /** Whether sshd refuses every key of the account: by its expiry date, or because no file that sshd reads holds one. */
  readonly refused: boolean;
  /** A sentence for each thing that is left to do, in the order in which they matter; none once all of it is done. */
  readonly owed: readonly string[];
}

/**
 * What became of a key that was to be taken away. If the file could not be rewritten, the key may still log in and nothing
 * else was done; else the file is read back without it, and what may run of its sessions is owed.
 */
export type KeyTaken =
  | { readonly rewritten: false; readonly problem: string }
  | { readonly rewritten: true; readonly owed: readonly string[]; readonly jobs?: JobsGone };

/**
 * What became of what was scheduled for an account, if there was anything: root has a copy for 30 days, or it is gone without one.
 */
export type JobsGone = "kept" | "lost";

/** A login by SSH that is open now. */
export interface SshSession {
  /** Digits that name this very connection: never another one, even if it has the same process number later. */
  readonly id: string;
  /** When the connection was opened. */
  readonly since: Date;
  /** The client's address as the kernel has it; "" where the connection has none. */
  readonly from: string;
  /** `SHA256:…` of the key that opened it, where sshd's own log proves it. */
  readonly fingerprint: string | undefined;
}

/** A login that sshd's own log proves. */
export interface Login {
  /** The account's name. */
  readonly account: string;
  /** `SHA256:…` of the key that was accepted. */
  readonly fingerprint: string;
  readonly at: Date;
  /** The client's address; "" where the log names none. */
  readonly from: string;
}

/** A piece of sshd's log. */
export interface LoginLog {
  /** The oldest first; at most as many as one reading takes. */
  readonly logins: readonly Login[];
  /** Where the next reading begins, in words of the host; "" for the beginning. */
  readonly next: string;
}

/** What an account that is present lacks before it can be given access: the rest of it, after a crash, or our group. */
export type Lacking = "rest" | "group";

/**
 * Changes to the host. What gives access throws `UamError("internal" | "conflict")` with a sentence that names the account
 * when the host refuses; the caller undoes it. What takes access away returns what it could not do, and throws
 * only `conflict`, before anything is touched, where the account is missing or foreign. Every method is idempotent: calling
 * it again after a failure or a crash ends in the intended state.
 * In dry-run mode nothing changes; each planned command or file change is logged.
 */
export interface Host {
  readonly mode: HostKind;
  /** What the host has under that name. In dry-run always "present". */
  presence(account: AccountRef): Promise<AccountPresence>;
  /**
   * What an account that is present lacks before it can be given access; undefined for nothing. Creating it again makes the rest,
   * reconciling puts the group right. In dry-run always undefined.
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
   * Takes access away: the account's expiry date first, then its processes and jobs, then the home, which is root's until the account is opened
   * again (not in sudo mode), and the key file and whatever else sshd reads in it. No step keeps another from being tried. With nothing owed, no login, no process and no key is left.
   */
  shutAccount(account: AccountRef): Promise<Closing>;
  /**
   * Takes one key away: the file is rewritten with `account.keys` and read back, as is any other file that sshd reads for the
   * account; then the sessions end that the key with this fingerprint may have opened, as the settings say. A session is
   * spared only where sshd's own log proves that another key in `account.keys` opened it. Where sessions
   * end, the account's scheduled jobs go too: none says whose key planted it. Whatever removes jobs has root keep a copy first, and
   * goes on without one.
   */
  takeKey(account: Account, fingerprint: string): Promise<KeyTaken>;
  /**
   * Takes access away from outside the keys' networks: the file is rewritten with `account.keys` and read back, as is any other
   * file that sshd reads for the account; then the sessions from outside end, unless the settings say that revoking a key
   * ends none. A session is spared where its address, as the kernel has it, is in the networks of the key that sshd's own log proves to have opened
   * it, or else of all the keys. Returns a sentence for each thing that is left to do.
   */
  narrowKeys(account: Account): Promise<readonly string[]>;
  /**
   * Takes access away for good: shut, processes, scheduled jobs, mail spool, home directory, the account's entry. With
   * nothing owed, all of it is gone; an account that is missing owes at most what is left of its home.
   */
  removeAccount(account: AccountRef): Promise<Closing>;

  /**
   * Compares the accounts with the host, repairs unless `checkOnly`, and yields what differed. No write if nothing did.
   * Where an open account's file held a key that is not stored, the repair also ends the sessions that no stored key is
   * proven to have opened, and removes crontab, at jobs and lingering. Where a file of an account whose keys have networks
   * differed, it ends the sessions from outside.
   * A repair is only as good as `accounts`: where others may change a user meanwhile, repair one at a time under its lock.
   */
  reconcile(accounts: readonly Account[], checkOnly: boolean): Promise<readonly Drift[]>;
  /**
   * The uids that processes have in any way (real, effective, saved, of a single thread) and that no line of the host's accounts has. Most
   * are other people's, such as a container's. In dry-run none.
   */
  orphanUids(): Promise<readonly number[]>;
  /**
   * Ends, unless `checkOnly`, every process that has one of these uids in any way, and yields what there was. A uid that an account of
   * the host has by now, also one that only LDAP or the like knows, is somebody's: nothing of it is touched. Only uids that were given to
   * accounts of this service may be asked for.
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
   * Ends one of them: the connection and what runs in it, and no other. `gone` if it is not open. Throws `internal` with a
   * sentence if something of it is still there afterwards.
   */
  endSession(account: AccountRef, id: string): Promise<"ended" | "gone">;
  /** The logins that sshd logged from there on; none where the host has no journal, and in dry-run. */
  logins(from: string): Promise<LoginLog>;
  /**
   * What `work` would change, each change as the line that a dry run logs; nothing changes. `work` is given a host on which every
   * account in question is as it should be.
   */
  planned(work: (host: Host) => Promise<unknown>): Promise<readonly string[]>;
}
