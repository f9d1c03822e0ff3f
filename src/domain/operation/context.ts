/** What an operation is given: the parts of the service, and who asks. */

import type { Host } from "../../protocol/host.ts";
import type { KeyType } from "../../protocol/ssh-wire.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Log } from "../../shared/log.ts";
import type { Database } from "../../store/client.ts";
import type { AuditRow } from "../../store/schema.ts";
import type { Operation } from "./audited.ts";

export type ActorType = "admin" | "user" | "cli" | "system" | "anonymous";

/** Who performs an operation, as the audit log names it. */
export interface Actor {
  readonly type: ActorType;
  /** Username, name of the operating-system account for `cli`, "system", or "anonymous". */
  readonly name: string;
  /** Client address, or "" where there is none. */
  readonly ip: string;
}

/** The limits and policies that operations follow; durations in milliseconds. */
export interface Policy {
  readonly defaultTtl: number;
  readonly recyclePeriod: number;
  readonly auditRetention: number;
  readonly maxKeys: number;
  readonly keyTypes: readonly KeyType[];
  readonly uidRange: { readonly first: number; readonly last: number };
  readonly sessionTtl: number;
  readonly otpTtl: number;
  readonly otpMaxAttempts: number;
  readonly lockoutThreshold: number;
  readonly lockoutPeriod: number;
  readonly captcha: boolean;
  readonly expiryReminders: readonly number[];
  /** What mails say of this installation: its origin, and the name of the host as one gives it to `ssh`. */
  readonly site: { readonly baseUrl: string; readonly host: string };
}

/** Hashes passwords and one-time codes, a bounded number at a time; throws `limited` when too many wait. */
export interface Hasher {
  /** A PHC string, `$argon2id$v=19$m=65536,t=2,p=1$…`. */
  hash(password: string): Promise<string>;
  /** False for a wrong password; throws `internal` if `hash` is not a PHC string. */
  verify(hash: string, password: string): Promise<boolean>;
  /** Takes the time of a `verify` that fails, for a name that does not exist. */
  verifyDummy(password: string): Promise<void>;
  /** As `hash`, at the lower cost that a code of ten minutes and five attempts needs. */
  hashCode(code: string): Promise<string>;
  verifyCode(hash: string, code: string): Promise<boolean>;
  verifyDummyCode(code: string): Promise<void>;
}

/** What the seal of an audit record covers. */
export type AuditContent = Readonly<Omit<AuditRow, "mac">>;

/** The keyed hashes that make a change to the audit log evident. */
export interface Seal {
  /** The seal of a record that follows one with the seal `previous`; empty before the first. */
  record(previous: Uint8Array, content: AuditContent): Uint8Array;
  /** Says that the service itself removed the records up to `id`, whose last seal was `mac`. */
  checkpoint(id: number, createdAt: Date, mac: Uint8Array, purgedAt: Date): Uint8Array;
  /** Tells keys apart without giving one away. */
  fingerprint(): Uint8Array;
}

/** The parts of the service that operations work with. */
export interface Services {
  readonly db: Database;
  /**
   * A small pool of its own for single statements that commit at once while a transaction is open on `db`; were they to
   * wait for a connection of `db`, a full pool would wait for itself. And for the shortest of reads, many of which its
   * connections take at once, in one write: on the wider pool each would cost a write and a wake-up of its own.
   */
  readonly side: Database;
  readonly host: Host;
  readonly clock: Clock;
  readonly log: Log;
  readonly hasher: Hasher;
  readonly seal: Seal;
  readonly policy: Policy;
}

/** The services on behalf of someone. */
export interface Context extends Services {
  readonly actor: Actor;
  readonly requestId: string;
  /** The operation that this one is part of, if any; see `audited`. */
  readonly operation?: Operation;
}

/** The services, on behalf of the service itself. */
export function systemContext(services: Services): Context {
  return { ...services, actor: { type: "system", name: "system", ip: "" }, requestId: "" };
}
