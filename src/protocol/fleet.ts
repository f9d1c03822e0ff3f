/**
 * What an agent and the service say to one another, as plain data; fleet-signature.ts says who said it. Everything that an agent
 * sends is text from another machine: the service takes it as hostile, and as true for that agent's host only.
 */

import type { AccountRef, HostKey, HostMode, ServerKey } from "./host.ts";

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
 * another seal at that number. "" for one who has seen nothing.
 */
export type Cursor = string;

/** `GET /agent/key?challenge=…`: who the service is, before a token is sent to it. `signature` is over the challenge. */
export interface FleetKey {
  /** 32 bytes of Ed25519, in base64. */
  readonly public_key: string;
  readonly signature: string;
}

/** `POST /agent/enrol`: binds the agent's key to a host. */
export interface Enrolment {
  readonly token: string;
  /** What the host wants to be called; the token's name is stronger. */
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

/** An account of the agent's host as it should be. Nothing else about its user is told. */
export interface AccountState extends AccountRef {
  /** `YYYY-MM-DDTHH:MM:SS.mmmZ`. */
  readonly expire_at: string;
  readonly open: boolean;
  readonly keys: readonly HostKey[];
}

/**
 * `GET /agent/state?since=CURSOR&wait=SECONDS&held=SECONDS&reads=TYPES&applied=CURSOR`, 200: what changed, or all. `applied` says what a report would
 * say of nothing but a newer cursor, so that a change costs a host one request and not two.
 */
export interface HostState {
  readonly cursor: Cursor;
  /** How long the agent may keep its host open, counted from when it sent the request; null: for ever. */
  readonly lease_ms: number | null;
  readonly lease_ends: "logins" | "sessions";
  readonly status: "active" | "locked" | "retiring";
  /** True: `accounts` are all that the host should have, and what else the agent keeps is shut. False: only what changed. */
  readonly full: boolean;
  /** True: the service's history went back and nobody has accepted that yet. Nothing that is shut is opened; nothing unknown is removed. */
  readonly cautious: boolean;
  /** Those that are shut come first. */
  readonly accounts: readonly AccountState[];
  /** To be removed for good. */
  readonly removed: readonly AccountRef[];
  /** The entries of `locks` that the service has recorded: the agent forgets them. */
  readonly recorded_locks: readonly string[];
  /** What to do with the sessions of a revoked key, as the service's host settings say. */
  readonly end_sessions: "key" | "all" | "none";
  /** The `applied` of the request, once that counts as reported; a service that does not know the parameter leaves it out. */
  readonly applied?: Cursor | undefined;
}

/** The highest number that a host can have: what the database keeps. */
export const HIGHEST_HOST = 2 ** 31 - 1;

export const PROBLEM_KINDS = ["conflict", "missing", "refused", "drift", "finding"] as const;

/** What is wrong with hosts: what their agents report, and what the service sees by itself. */
export const HOST_PROBLEM_KINDS = [
  ...PROBLEM_KINDS,
  ...(["silent", "lease_ended", "diverged", "unknown", "clock", "no_lease", "locked"] as const),
] as const;

/** Something about the host that is not as it should be, now. */
export interface HostProblem {
  /** The account's name; "" where it is about the host. */
  readonly account: string;
  /**
   * `conflict`: name or uid is somebody else's. `missing`: the account is gone. `refused`: what was to be done was not, and
   * is tried again. `drift`: it differed from what is stored. `finding`: what `uam doctor` found.
   */
  readonly kind: (typeof PROBLEM_KINDS)[number];
  readonly text: string;
}

/** `POST /agent/report`: sent when files are read back and processes ended, and whenever the problems change. 200. */
export interface HostReport {
  /** Up to here all is applied, but for what `problems` says. */
  readonly cursor: Cursor;
  readonly mode: HostMode;
  readonly version: string;
  readonly ssh: SshAddress;
  /** The host's wall clock at the sending. */
  readonly clock: string;
  /** All that there are now; they replace the ones before. At most MAX_PROBLEMS; the last says how many more. */
  readonly problems: readonly HostProblem[];
  /** What `uam lock` shut there without the service, and the service has not yet said to have recorded. */
  readonly locks: readonly HostLock[];
  /** Leases that root prolonged there, since the last report. */
  readonly holds: readonly HostHold[];
  /**
   * Accounts that the service told of once and that its last full answer did not name: all of them, at most MAX_UNKNOWN. They are shut,
   * and removed only once the service says so. Agents that do not know the member leave it out.
   */
  readonly unknown?: readonly AccountRef[];
}

export const MAX_PROBLEMS = 100;
export const MAX_UNKNOWN = 1000;
/** Longest text of a problem, a reason or a name in a report, in UTF-16 code units; longer ones are refused. */
export const MAX_TEXT = 500;

/** What `uam lock` shut on the agent's host. */
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

/** `POST /agent/rotate`, signed with the present key: binds a new one. 200; the present key is void from then on. */
export interface Rotation {
  readonly public_key: string;
  /** By the new key over the old one's bytes. */
  readonly signature: string;
}

/** What a cursor says. */
export interface Place {
  readonly id: number;
  readonly seal: string;
}

/** The text of a cursor; throws nothing and takes only what `cursorOf` made. */
export function parseCursor(text: string): Place | undefined {
  const match = /^([1-9]\d{0,15})\.([0-9a-f]{64})$/.exec(text);
  return match === null ? undefined : { id: Number(match[1]), seal: match[2] ?? "" };
}

export function cursorOf(id: number, seal: Uint8Array): Cursor {
  return `${id}.${Array.from(seal, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
