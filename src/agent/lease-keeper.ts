/** The agent's hand on the lease: renews it with each answer, and looks each second whether it still lives. */

import type { HostState } from "../protocol/fleet.ts";
import type { AccountRef, Host } from "../protocol/host.ts";
import type { Log } from "../shared/log.ts";
import { faultPoint } from "../shared/work/fault-point.ts";
import {
  endLease,
  endOf,
  enforce,
  type LeaseFiles,
  longestLeft,
  type Moment,
  readLease,
  removeLease,
  writeLease,
} from "./lease.ts";
import type { AgentState } from "./records.ts";

export interface LeaseKeeper {
  readonly now: () => Moment;
  /** Goes on after a restart with what is left of the lease in /run: nothing on a disk, which may have been set back, prolongs it. */
  resume(state: AgentState | undefined): void;
  /** For how many seconds the host may stay open without an answer, whatever its clock is set to; Infinity disables the limit. */
  left(): number;
  /**
   * Makes the lease end as this answer says where it would end later, before anything else of the answer is done; it never prolongs it. Throws if
   * the present lease can be neither replaced nor removed.
   */
  shorten(sent: Moment, told: Pick<HostState, "lease_ms" | "lease_ends">): void;
  /** `sent`: when the request was sent whose answer it is. */
  renew(sent: Moment, told: Pick<HostState, "lease_ms" | "lease_ends">): void;
  end(): void;
  /** Holds to the files. Where the sessions end with the lease, they do. */
  tick(state: AgentState | undefined): Promise<void>;
}

/** How long, in seconds, the second enforcer may take to look; the lease's end is early by that. */
export const ENFORCER_PERIOD = 15;
export const EARLY = ENFORCER_PERIOD + 5;

/** How many ticks lie between two attempts to end sessions while the host is shut. */
const BETWEEN = 15;

export function createLeaseKeeper(parts: {
  readonly files: LeaseFiles;
  readonly now: () => Moment;
  /** In seconds: EARLY, but in tests. */
  readonly early: number;
  readonly log: Log;
  readonly openHost: (endSessions: HostState["end_sessions"]) => Promise<Host>;
}): LeaseKeeper {
  const { files, now, early, log } = parts;
  let was: "open" | "shut" | undefined;
  let ticks = 0;

  function hold(): "open" | "shut" {
    const is = enforce(files, now);
    if (is !== was) {
      ticks = 0;
      if (is === "open") log.info("the lease lives: sshd lets external accounts in");
      else log.warn("there is no lease: sshd refuses every external account");
    }
    was = is;
    return is;
  }

  async function endSessions(host: Host, accounts: readonly AccountRef[]): Promise<void> {
    const ends: Promise<void>[] = [];
    for (const account of accounts) {
      const failed = (error: unknown) =>
        log.error("sessions could not be ended with the lease; it is tried again", { account: account.name, error });
      // An owner who makes their account slow or impossible to close must not delay the others.
      const sessions = await host.sessions(account).catch((error: unknown) => void failed(error));
      for (const { id } of sessions ?? []) ends.push(host.endSession(account, id).then(() => undefined, failed));
    }
    await Promise.all(ends);
  }

  return {
    now,
    resume: (state) => {
      if (state !== undefined && state.status !== "active") endLease(files);
      hold();
    },
    left: () => longestLeft(files, now()),
    shorten: (sent, { lease_ms, lease_ends }) => {
      const end = endOf(sent, lease_ms, early);
      const present = readLease(files, "lease");
      if (present === undefined || present.boot <= end.boot) return;
      try {
        writeLease(files, "lease", { ...end, ends: lease_ends });
      } catch (error) {
        log.error("a shorter lease cannot be stored; the host is shut instead", { error });
        removeLease(files, "lease");
      }
      hold();
    },
    renew: (sent, { lease_ms, lease_ends }) => {
      try {
        writeLease(files, "lease", { ...endOf(sent, lease_ms, early), ends: lease_ends });
      } catch (error) {
        log.error("the lease cannot be renewed; the host is shut when the last one ends", { error });
      }
      faultPoint("agent: lease written, link as it was");
      hold();
    },
    end: () => endLease(files),
    tick: async (state) => {
      if (hold() === "open" || state?.lease_ends !== "sessions") return;
      if (ticks++ % BETWEEN !== 0) return;
      const host = await parts.openHost(state.end_sessions);
      await endSessions(host, state.records);
    },
  };
}
