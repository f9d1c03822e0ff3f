/** Where two operations on one user meet: what they need of a service, real or in this process. */

/** What a user is when the two begin. */
export const STATES = ["active", "disabled", "due", "expired", "recyclable", "away", "nobody"] as const;
export type State = (typeof STATES)[number];

/** What a service does by itself, or an operator at the shell. */
export type Job = "expire" | "recycle" | "reconcile" | "compare" | "purge" | "lock";

/** Of two replicas on one database. */
export type Replica = 0 | 1;

/** A user that no other pair has anything to do with, and what the operations on it need. */
export interface Subject {
  readonly username: string;
  /** 0 for nobody. */
  readonly userId: number;
  /** The user's own cookie. */
  readonly session: string;
  readonly keyIds: readonly number[];
  /** Two public keys that are not stored yet. */
  readonly fresh: readonly string[];
  /** Short names of the fingerprints of all keys that there may be. */
  readonly labels: ReadonlyMap<string, string>;
  /** A pending application of that username, and a pending request for more time. */
  readonly application: number;
  readonly extension: number;
  /** The last audit record from before. */
  readonly since: number;
  readonly startedAt: Date;
}

/** What is there afterwards, as rows of tables and an account of the host. */
export interface Observed {
  readonly users: readonly Row[];
  readonly accounts: readonly Row[];
  readonly keys: readonly Row[];
  readonly grants: readonly Row[];
  readonly closings: readonly Row[];
  readonly approvals: readonly Row[];
  readonly intents: readonly Row[];
  readonly mails: readonly Row[];
  readonly records: readonly Row[];
  readonly host: HostState | undefined;
}

export type Row = Readonly<Record<string, unknown>>;

/** The account as the host has it. */
export interface HostState {
  /** Whether the account's own expiry date lets anybody in. */
  readonly open: boolean;
  /** Fingerprints. */
  readonly file: readonly string[];
}

/** What an operation was answered, by the service or by the shell. */
export interface PairAnswer {
  readonly status: number;
  readonly body: unknown;
}

export interface World {
  /** The cookie of an administrator who may do everything. */
  readonly admin: string;
  /** The name of the service's own host. */
  readonly localHost: string;
  call(replica: Replica, request: PairRequest): Promise<PairAnswer>;
  job(replica: Replica, job: Job, subject: Subject): Promise<PairAnswer>;
  /** Makes a user in that state; `withDrift` also puts a key into the account's file that is not stored. */
  prepare(state: State, withDrift: boolean): Promise<Subject>;
  /** Gives the user the session back that an operation ended. Returns whether it was gone. */
  renew(subject: Subject): Promise<boolean>;
  observe(subject: Subject): Promise<Observed>;
  /** Removes all that is left of the subject, and whatever the operations changed for everybody. */
  forget(subject: Subject): Promise<void>;
}

export interface PairRequest {
  readonly method: string;
  readonly path: string;
  readonly cookie: string;
  readonly body?: unknown;
}
