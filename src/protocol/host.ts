/** The narrow seam between the features and the host: what an account should be, and what can be asked of the host. */

export type HostMode = "dry-run" | "direct" | "sudo";

/** One active key, re-encoded by us; nothing a user typed is in it. */
export interface HostKey {
  readonly id: number;
  readonly type: string;
  readonly base64: string;
  /** `SHA256:…` as `ssh-keygen -l` prints it. */
  readonly fingerprint: string;
}

/** Which account is meant; every action on a host checks name, group and uid before it touches anything. */
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

/** `foreign`: an account of that name exists, but it is not ours (another uid, or not in our group). */
export type AccountPresence = "present" | "missing" | "foreign";

/** One difference between what is stored and what the host has. */
export interface Drift {
  readonly account: string;
  /** A sentence, e.g. "authorized keys file differs from the stored keys". */
  readonly problem: string;
  readonly repaired: boolean;
}

/**
 * Changes to the host. Every method throws `UamError("internal" | "conflict")` with a sentence that names the account
 * when the host refuses, and is idempotent: calling it again after a failure or a crash ends in the wanted state.
 * In dry-run mode nothing changes; each planned command or file change is logged.
 */
export interface Host {
  readonly mode: HostMode;
  /** What the host has under that name. In dry-run always "present". */
  presence(account: AccountRef): Promise<AccountPresence>;
  /**
   * The account of that name as the host has it, if it is one of ours as far as the host alone can tell: the marker group,
   * an ordinary uid that no other name shares. Undefined if there is none; `conflict` if it is foreign. Changes nothing.
   */
  findAccount(name: string): Promise<AccountRef | undefined>;
  /** True if any account or leftover home of that name exists, ours or not. In dry-run always false. */
  nameTaken(name: string): Promise<boolean>;
  /** True if some account of the host has the uid. In dry-run always false. */
  uidTaken(uid: number): Promise<boolean>;
  /** The highest uid from `first` to `last` that an account of the host has, if any has one. In dry-run undefined. */
  highestUid(first: number, last: number): Promise<number | undefined>;
  /** Makes the account with its home and group, open, without keys. `conflict` if the name or the home exists. */
  createAccount(account: Account): Promise<void>;
  /**
   * Rewrites the authorized-keys file in full, and reads it back. Never leaves a mixed file. With `revoked`, a fingerprint,
   * it fails also if any other file that sshd reads for the account still holds that key.
   */
  writeKeys(account: Account, revoked?: string): Promise<void>;
  /**
   * Brings expiry date, lock and authorized-keys file in line with `account`. When it shuts an account, the account's
   * expiry date goes first, then its processes end, then the file is emptied: on return no login and no process is left.
   * What other files that sshd reads still hold is moved away, or logged as an error where it is not the account's own.
   */
  applyAccess(account: Account): Promise<void>;
  /**
   * Ends the sessions that were opened with a revoked key. A session is spared only where sshd's own log proves that
   * another key in `account.keys` opened it; `fingerprint` is the revoked key's.
   */
  endSessions(account: Account, fingerprint: string): Promise<void>;
  /** Removes processes, scheduled jobs, home directory and the account. Succeeds if the account is already gone. */
  removeAccount(account: AccountRef): Promise<void>;
  /**
   * Compares the accounts with the host, repairs unless `checkOnly`, and yields what differed. No write if nothing did.
   * A repair is only as good as `accounts`: where others may change a user meanwhile, repair one at a time under its lock.
   */
  reconcile(accounts: readonly Account[], checkOnly: boolean): Promise<readonly Drift[]>;
}
