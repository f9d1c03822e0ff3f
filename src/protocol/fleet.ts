/**
 * The messages between an agent and the service, as plain data; fleet-signature.ts proves the sender. Everything that an agent
 * sends is text from another machine: the service takes it as hostile, and as true for that agent's host only.
 */

import type { AccountRef, HostKey, HostMode, ServerKey } from "./host.ts";
import type { HostProfile, ProfileState } from "./profile.ts";

/** The version of these shapes; the service speaks this one and the one before. In the header `Uam-Agent-Version` of each request. */
export const AGENT_PROTOCOL = 1;

/** Routes below the API's root. */
export const AGENT_ROUTES = {
  key: "/agent/key",
  enrol: "/agent/enrol",
  state: "/agent/state",
  report: "/agent/report",
  rotate: "/agent/rotate",
} as const;

/**
 * A place in the service's audit log, `ID.SEAL`: the number of a record and its seal in lower-case hexadecimal. Another history has
 * another seal at that number. "" for an agent that has seen nothing.
 */
export type Cursor = string;

/**
 * `GET /agent/key?challenge=…`: identifies the service, before a token is sent to it. `signature` is over the challenge.
 */
export interface FleetKey {
  /** 32 bytes of Ed25519, in base64. */
  readonly public_key: string;
  readonly signature: string;
}

/** `POST /agent/enrol`: binds the agent's key to a host. */
export interface Enrolment {
  readonly token: string;
  /** The name that the host asks for; the token's name takes precedence. */
  readonly name: string;
  /** 32 bytes of Ed25519, in base64. */
  readonly public_key: string;
  readonly mode: HostMode;
  readonly version: string;
  readonly ssh: SshAddress;
  /** The highest uid of the service's range (`first` to `last` of the answer to `key` is not needed: the agent sends all it has of `ext_` accounts and above 1000) that an account of the host has; 0 for none. */
  readonly highest_uid: number;
}

/** How clients reach the host's sshd. */
export interface SshAddress {
  readonly host: string;
  readonly port: number;
  readonly host_keys: readonly ServerKey[];
}

/** The answer to an enrolment, 201. */
export interface Enrolled {
  /** The host's id, for the signatures of later requests. */
  readonly host_id: number;
  readonly name: string;
}

/** An account of the agent's host as it should be. The agent learns nothing else about its user. */
export interface AccountState extends AccountRef {
  /** `YYYY-MM-DDTHH:MM:SS.mmmZ`. */
  readonly expire_at: string;
  readonly open: boolean;
  readonly keys: readonly HostKey[];
  /** The name of its profile, one of `profiles`; absent where it has none. */
  readonly profile?: string | undefined;
  /** Absent where it is open at all hours, and where it is shut. */
  readonly hours?: AccountHours | undefined;
  /** Only logins end with the hours. Absent: sessions and jobs, too, as agents of before end them in any case. */
  readonly hours_end?: "logins" | undefined;
}

/** When an account may be open. Moments, not rules: two versions of them cannot disagree about a time zone. */
export interface AccountHours {
  /** They are known up to here; an agent that needs later ones asks. */
  readonly until: string;
  /** In order, apart from each other, none beyond `until` or the end of access. */
  readonly windows: readonly HoursSpan[];
  /** An IANA name, by whose wall clock terminals are told of an end. Nothing else depends on it. Absent: UTC. */
  readonly zone?: string | undefined;
}

/** Open from `from`, and no longer at `to`; both like `expire_at`. */
export interface HoursSpan {
  readonly from: string;
  readonly to: string;
}

/** More windows of one account are never told. */
export const MAX_SPANS = 1000;

/**
 * `GET /agent/state?since=CURSOR&wait=SECONDS&held=SECONDS&reads=TYPES&hours=UNTIL&applied=CURSOR`, 200: the changes, or everything. `applied` replaces a
 * report with nothing but a newer cursor, so that a change costs a host one request and not two. With `hours` the agent says that it keeps hours, and
 * until when it knows them (the least `until` of its accounts, or `none`); without it, accounts with hours are told as shut. With `profiles=1` it says that it holds profiles;
 * without it, accounts with a profile are told as shut.
 */
export interface HostState {
  readonly cursor: Cursor;
  /** How long the agent may keep its host open, counted from when it sent the request; null: without end. */
  readonly lease_ms: number | null;
  readonly lease_ends: "logins" | "sessions";
  readonly status: "active" | "locked" | "retiring";
  /** True: `accounts` are all that the host should have, and the agent shuts all others. False: only the changes. */
  readonly full: boolean;
  /** True: the service's history went back and nobody has accepted that yet. Nothing that is shut is opened; nothing unknown is removed. */
  readonly cautious: boolean;
  /** Those that are shut come first. */
  readonly accounts: readonly AccountState[];
  /** To be removed for good. */
  readonly removed: readonly AccountRef[];
  /** The entries of `locks` that the service has recorded: the agent forgets them. */
  readonly recorded_locks: readonly string[];
  /** How to treat the sessions of a revoked key, from the service's host settings. */
  readonly end_sessions: "key" | "all" | "none";
  /** The `applied` of the request, once that counts as reported; a service that does not know the parameter leaves it out. */
  readonly applied?: Cursor | undefined;
  /** All that accounts of the host may have, for agents that hold profiles: in each answer, whole. */
  readonly profiles?: readonly HostProfile[] | undefined;
  /** The service's clock at the answer, for agents that keep hours. */
  readonly now?: string | undefined;
}

/** The highest number that a host can have: the database's limit. */
export const HIGHEST_HOST = 2 ** 31 - 1;

export const PROBLEM_KINDS = ["conflict", "missing", "refused", "drift", "finding"] as const;

/** Problems of hosts: those that their agents report, and those that the service sees by itself. */
export const HOST_PROBLEM_KINDS = [
  ...PROBLEM_KINDS,
  ...(["silent", "lease_ended", "diverged", "unknown", "clock", "no_lease", "locked", "profile"] as const),
] as const;

/** A current problem of the host. */
export interface HostProblem {
  /** The account's name; "" for a problem of the host. */
  readonly account: string;
  /**
   * `conflict`: name or uid belongs to somebody else. `missing`: the account is gone. `refused`: a change failed, and is
   * retried. `drift`: it differed from the stored state. `finding`: a finding of `uam doctor`.
   */
  readonly kind: (typeof PROBLEM_KINDS)[number];
  readonly text: string;
}

/** `POST /agent/report`: sent when files are read back and processes ended, and whenever the problems change. 200. */
export interface HostReport {
  /** Everything up to here is applied, except for the `problems`. */
  readonly cursor: Cursor;
  readonly mode: HostMode;
  readonly version: string;
  readonly ssh: SshAddress;
  /** The host's wall clock at the sending. */
  readonly clock: string;
  /** All current problems; they replace the earlier ones. At most MAX_PROBLEMS; the last says how many more. */
  readonly problems: readonly HostProblem[];
  /**
   * Accounts that `uam lock` shut there without the service, and that the service has not yet confirmed as recorded.
   */
  readonly locks: readonly HostLock[];
  /** Leases that root prolonged there, since the last report. */
  readonly holds: readonly HostHold[];
  /**
   * Accounts that the service told the agent about once, and that its last full answer did not name: all of them, at most MAX_UNKNOWN.
   * They are shut, and removed only once the service says so. Agents that do not know the member leave it out.
   */
  readonly unknown?: readonly AccountRef[];
  /** Which profiles the host holds. Agents that do not know the member leave it out. */
  readonly profiles?: readonly ProfileState[];
}

export const MAX_PROBLEMS = 100;
export const MAX_UNKNOWN = 1000;
export const MAX_PROFILES = 200;
/** Longest text of a problem, a reason or a name in a report, in UTF-16 code units; longer ones are refused. */
export const MAX_TEXT = 500;

/** An account that `uam lock` shut on the agent's host. */
export interface HostLock {
  readonly id: string;
  readonly at: string;
  readonly username: string;
  readonly operator: string;
}

/** A lease that root prolonged with `uam agent hold`. */
export interface HostHold {
  readonly id: string;
  readonly at: string;
  readonly until: string;
  readonly reason: string;
  readonly operator: string;
}

/** `POST /agent/rotate`, signed with the current key: binds a new one. 200; the current key is void from then on. */
export interface Rotation {
  readonly public_key: string;
  /** By the new key over the old one's bytes. */
  readonly signature: string;
}

/** The content of a cursor. */
export interface Place {
  readonly id: number;
  readonly seal: string;
}

/** The content of a cursor, or undefined for a text that `cursorOf` did not make; never throws. */
export function parseCursor(text: string): Place | undefined {
  const match = /^([1-9]\d{0,15})\.([0-9a-f]{64})$/.exec(text);
  return match === null ? undefined : { id: Number(match[1]), seal: match[2] ?? "" };
}

export function cursorOf(id: number, seal: Uint8Array): Cursor {
  return `${id}.${Array.from(seal, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
