/** What a host knows of logins by SSH: those that are open, those that its log has, and what keeps somebody out. */

import type { HostObstacle } from "../shared/product/login-obstacles.ts";

/** A login by SSH that is open now. */
export interface SshSession {
  /** Digits that identify this very connection: never another one, even if it has the same process number later. */
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

/** A login that sshd refused, by its own log. */
export interface RefusedLogin {
  readonly at: Date;
  /** The client's address; "" where the log names none. */
  readonly from: string;
  /** Sshd's own words, which a client may have chosen a part of. */
  readonly why: string;
}

/** The newest part of sshd's log, as far as it is about refusals of one account. */
export interface RefusalLog {
  /** The newest first; at most ten. */
  readonly refusals: readonly RefusedLogin[];
  /** How far back the log was read, where there is more of it. */
  readonly since?: Date | undefined;
  /** Why it could not be read, as a sentence: then nothing is known. */
  readonly unread?: string | undefined;
}

/** Something on the host that keeps the owner of an open account out, or may. */
export interface LoginFault {
  readonly reason: HostObstacle;
  /** A sentence without a full stop. */
  readonly text: string;
  /** What to do about it, likewise. */
  readonly remedy: string;
  /** Whether nobody gets in because of it; otherwise some get in, or not as they should. */
  readonly blocks: boolean;
}

/** A piece of sshd's log. */
export interface LoginLog {
  /** The oldest first; at most as many as one reading takes. */
  readonly logins: readonly Login[];
  /** Where the next reading begins, in the host's own format; "" for the beginning. */
  readonly next: string;
}
