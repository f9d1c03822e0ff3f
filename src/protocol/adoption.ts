/** Accounts of the service's own host that somebody else made: what there is, before one of them becomes a user's. */

/** A public key that a file holds, re-encoded by us. */
export interface FoundKey {
  readonly type: string;
  readonly base64: string;
  /** `SHA256:…` as `ssh-keygen -l` prints it. */
  readonly fingerprint: string;
  /** What limits it in its line, such as `from="…"`, which the service does not keep; "" for nothing. */
  readonly options: string;
  /** What its line says behind the key, in the owner's words; "" for nothing. */
  readonly comment: string;
}

/** A key that was found in an account, as it is written down. */
export interface KeptKey extends FoundKey {
  /** The file that held it; "" where an earlier version wrote none down. */
  readonly path: string;
}

/** A file that sshd reads keys of the account from. */
export interface FoundKeyFile {
  readonly path: string;
  /** The first of them; `more` counts the rest. */
  readonly keys: readonly FoundKey[];
  readonly more: number;
  /** Why it may hold more than is known, as a clause that begins with a verb. */
  readonly problem?: string | undefined;
}

/** An account as the host has it, looked at and not touched. */
export interface FoundAccount {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
  readonly shell: string;
  /** Besides its own. */
  readonly groups: readonly string[];
  /** `empty`: anybody can log in where sshd or another program allows that. */
  readonly password: "set" | "none" | "empty";
  /** Days since 1970; undefined for one that never expires. */
  readonly expires: number | undefined;
  readonly keyFiles: readonly FoundKeyFile[];
  /** Other ways by which somebody may get in, or its programs run without a login, as sentences. */
  readonly otherWays: readonly string[];
  /** What sudo allows the account, in sudo's own words. */
  readonly sudo: readonly string[];
  readonly processes: number;
  /** Open logins by SSH; undefined where that cannot be known. */
  readonly sessions: number | undefined;
  /** Why it cannot become a user's, as sentences. */
  readonly obstacles: readonly string[];
}

/** The name that an account gets as a user's. */
export interface NewName {
  readonly name: string;
}

/** How far an adoption is, by what root wrote down: before the user is stored, afterwards, and while the account is given back. */
export type AdoptionState = "taking" | "held" | "returning";

/** What is written down of an account that was taken over. */
export interface Adoption {
  readonly uid: number;
  /** The name that it had. */
  readonly former: string;
  /** The name that it has as a user's. */
  readonly name: string;
  readonly state: AdoptionState;
  /** The keys that were found; none of them counts by itself. */
  readonly keys: readonly KeptKey[];
}

/** What root does with accounts of the service's own host that the service did not make. */
export interface Adopter {
  /** The account of that name; undefined if the host has none. Changes nothing. */
  look(name: string, wanted: NewName): Promise<FoundAccount | undefined>;
  /**
   * Takes the account over: writes down what it was, for root alone, then ends what runs, and gives it the new name, no password, no key and no
   * group but ours. It is shut afterwards. Throws `conflict` if it is no longer as it was looked at, and `internal` if a step fails; what was
   * written down then says how to give it back.
   */
  take(account: FoundAccount, wanted: NewName): Promise<void>;
  /** Makes the account what it was, wherever `take` was cut short, and forgets what was written down. Nothing to do without that. */
  giveBack(uid: number): Promise<void>;
  /** What is written down, of every account. */
  adoptions(): readonly Adoption[];
  /** What is written down of the account with that uid; undefined for one that was not taken over. */
  adoption(uid: number): Adoption | undefined;
  /** Notes that a user is stored with the account, or that it is about to be given back. */
  mark(uid: number, state: AdoptionState): void;
  /** Forgets an account that is gone with its user. */
  forget(uid: number): void;
}
