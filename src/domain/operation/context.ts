/** The input of an operation: the parts of the service, the caller, and control over its own record. */

import type { X509Certificate } from "node:crypto";
import type { Adopter } from "../../protocol/adoption.ts";
import type { HostState } from "../../protocol/fleet.ts";
import type { Host } from "../../protocol/host.ts";
import type { Log } from "../../shared/log.ts";
import type { KeyType } from "../../shared/product/ssh-key-types.ts";
import type { SPONSOR_MODES } from "../../shared/product/statuses.ts";
import type { ReadTerms } from "../../shared/text/terms.ts";
import type { Clock } from "../../shared/time/clock.ts";
import type { Reserve } from "../../shared/work/reserve.ts";
import type { Database, Transaction } from "../../store/client.ts";
import type { AuditRow } from "../../store/schema-audit.ts";
import { type Actor, type AuditDetail, type Recorded, type Recording, SYSTEM } from "./entry.ts";
import type { Permit } from "./permission.ts";

/**
 * The proof that is needed before a code is mailed: the text of a picture, a proof of work, either of them, or nothing.
 */
export type CaptchaMode = "image" | "proof" | "both" | "off";

/** How administrators log in: as they please, never with a password alone, or with a passkey only. */
export type AdminLoginMode = "any" | "second-factor" | "passkey";

/** Whether somebody inside answers for each user, and who may. */
export interface SponsorPolicy {
  readonly mode: SponsorMode;
  /** Domains of sponsors' addresses, in lower case; of one that begins with a dot, its subdomains only. None: any. */
  readonly domains: readonly string[];
}

/** `off`: there are none. `required`: nobody is created, and no application approved, without one. */
export type SponsorMode = (typeof SPONSOR_MODES)[number];

/** The limits and policies that operations follow; durations in milliseconds. */
export interface Policy {
  readonly defaultTtl: number;
  readonly recyclePeriod: number;
  readonly auditRetention: number;
  /** No setting makes the retention shorter. */
  readonly auditRetentionMin: number;
  readonly maxKeys: number;
  readonly keyTypes: readonly KeyType[];
  readonly uidRange: { readonly first: number; readonly last: number };
  readonly sessionTtl: number;
  readonly otpTtl: number;
  readonly otpMaxAttempts: number;
  readonly lockoutThreshold: number;
  readonly lockoutPeriod: number;
  readonly captcha: CaptchaMode;
  readonly adminLogin: AdminLoginMode;
  readonly expiryReminders: readonly number[];
  /** How long a change that takes access away waits for the hosts with agents to confirm it. */
  readonly fleetWait: number;
  /** How old the newest backup may be before somebody is told; 0: it does not matter. */
  readonly backupMaxAge: number;
  /** Which sessions end with a revoked key, on every host. */
  readonly endSessions: HostState["end_sessions"];
  readonly site: Site;
  /** Whether mail goes to a server; if not, it is only written to a file. */
  readonly sendsMail: boolean;
  /** Networks to which webhooks may go besides public addresses, canonical. */
  readonly webhookNetworks: readonly string[];
  readonly sponsor: SponsorPolicy;
  /** The terms of use that users are asked to accept. Throws `invalid` if the file cannot be read, which a service that started has done. */
  readonly terms: ReadTerms;
  /** Where all audit records are streamed to; undefined: nowhere. */
  readonly auditStream: string | undefined;
}

/** The facts about this installation in mails. */
export interface Site {
  /** The service's origin, without a trailing slash, as in `https://uam.example.org`. */
  readonly baseUrl: string;
  /** The host that the accounts are on, as it is given to `ssh`; without one, the service's own name. */
  readonly host: string;
  readonly port: number;
  /** True for a service that manages no host of its own and is told of none: then nobody is told to connect to `host`. */
  readonly withoutHost?: boolean;
  /** The contact for users: an address or a sentence; undefined if there is none. */
  readonly contact: string | undefined;
  /** Who offers the service, for people who do not know it by its host. */
  readonly brand?: string | undefined;
  /** Whether the service has pages for browsers, to which mails can link. */
  readonly console: boolean;
}

/**
 * Hashes passwords and one-time codes, a bounded number at a time; throws `limited` when too many wait. Strangers get only a part of the places.
 * `isKnown` means that the caller has already proved something: a solved captcha, a session, or a mailed code, which needs a captcha.
 */
export interface Hasher {
  /** A PHC string, `$argon2id$v=19$m=65536,t=2,p=1$…`, of the password in NFC. */
  hash(password: string): Promise<string>;
  /** False for a wrong password, in NFC and as it is; throws `internal` if `hash` is not a PHC string. */
  verify(hash: string, password: string, isKnown?: boolean): Promise<boolean>;
  /** Takes as long as a `verify` that fails, for a name that does not exist. */
  verifyDummy(password: string, isKnown?: boolean): Promise<void>;
  /** As `hash`, at the lower cost that a code of ten minutes and five attempts needs. */
  hashCode(code: string): Promise<string>;
  verifyCode(hash: string, code: string): Promise<boolean>;
  verifyDummyCode(code: string): Promise<void>;
}

/** The content of an audit record that its seal covers. */
export type AuditContent = Readonly<Omit<AuditRow, "mac">>;

/** The keyed hashes that make a change to the audit log evident. */
export interface Seal {
  /** The seal of a record that follows one with the seal `previous`; empty before the first. */
  record(previous: Uint8Array, content: AuditContent): Uint8Array;
  /** Proves that the service itself removed the records up to `id`; `mac` was the last seal of those. */
  checkpoint(id: number, createdAt: Date, mac: Uint8Array, purgedAt: Date): Uint8Array;
  /** Tells keys apart without revealing any. */
  fingerprint(): Uint8Array;
  /** The secret that signs a webhook's deliveries. It is stored nowhere, and the database alone is not enough to make it. */
  webhookSecret(salt: Uint8Array): Uint8Array;
  /** 32 bytes for a purpose of its own: the same wherever the key is, and nothing about the key can be learned from them. */
  keyFor(purpose: string): Uint8Array;
}

/** The parts of the service that operations work with. */
export interface Services {
  readonly db: Database;
  /**
   * A small pool of its own for single statements that commit at once while a transaction is open on `db`; were they to
   * wait for a connection of `db`, a full pool would wait for itself. Also for the shortest reads, of which its
   * connections take many at once, in one write: on the wider pool each would cost a write and a wake-up of its own.
   */
  readonly autocommit: Database;
  readonly host: Host;
  /** What root does with accounts of this host that the service did not make; only where the service is root. */
  readonly adopter?: Adopter | undefined;
  /** The certificates with which this host's owner believes what security keys say of their make, as they are now. */
  readonly attestationIssuers?: (() => readonly X509Certificate[]) | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly hasher: Hasher;
  readonly seal: Seal;
  readonly policy: Policy;
  /** Room for taking access away when the database's disk is full; none for a database that the service does not run itself. */
  readonly reserve?: Reserve | undefined;
}

/** The services on behalf of someone. */
export interface Context extends Services {
  readonly actor: Actor;
  readonly requestId: string;
  /**
   * The basis of the caller's permission, which is checked again where the change is made. Absent for jobs, the command line, and
   * requests that anybody may make.
   */
  readonly permit?: Permit | undefined;
  /** The id that the request names, as digits, where it is too large for the database. */
  readonly sentId?: string;
  /** The operation that this one is part of, if any; see `audited`. */
  readonly operation?: Operation;
}

/** An operation under way. */
export interface Operation {
  readonly tx: Transaction;
  /** The caller's context inside this operation: an operation called with it shares this one's fate. */
  readonly context: Context;
  /** Adds to the record, both of success and of failure. */
  about(known: { readonly detail?: AuditDetail; readonly subjectId?: number }): void;
  /** Adds to the record of the operation's success. */
  record(recording: Recording): void;
  /** Another record that commits with the operation's own. */
  alsoRecord(record: Recorded): void;
  /**
   * Registers work that stores the number of the operation's last record, 0 if nothing is recorded. It runs in the transaction, while
   * every other writer of the log waits: it sees all records of other operations, and they see this.
   */
  onRecorded(work: (record: number) => Promise<void>): void;
}

/** An operation that gives access: its changes on the host are undone if anything fails. */
export interface Grant extends Operation {
  /**
   * Registers what restores the host; run after a rollback, last registered first, on connections of its own. Await it before the host is
   * touched: it throws if the caller has lost the permission meanwhile.
   */
  onRollback(undo: () => Promise<void>): Promise<void>;
}

/** An operation that takes access away: it only goes forward, and unfinished steps are owed. */
export interface ClosingOperation extends Operation {
  /**
   * Call it before touching the host, once the closing is noted for good. The caller gets the sentence if the database
   * fails from here on.
   */
  begun(sentence: string): void;
  /**
   * The operation commits all the same, but is answered with this sentence as `internal`, and recorded as failed with it as
   * `err`.
   */
  refuse(sentence: string): void;
}

/** The services, on behalf of the service itself. */
export function systemContext(services: Services): Context {
  return { ...services, actor: SYSTEM, requestId: "", permit: undefined };
}
