/** When the service is told how the host is, and of what. */

import { AGENT_ROUTES, type HostReport, MAX_PROFILES, MAX_UNKNOWN, type SshAddress } from "../protocol/fleet.ts";
import type { HostMode } from "../protocol/host.ts";
import type { Clock } from "../shared/time/clock.ts";
import { formatTimestamp } from "../shared/time/timestamp.ts";
import { VERSION } from "../shared/version.ts";
import { require2xx, type ServiceClient } from "./client.ts";
import { readHolds, removeHold } from "./holds.ts";
import type { Orders } from "./orders.ts";

export interface Reporter {
  /** True if the service does not know yet how the host is, or has not heard of it for long. */
  isDue(): boolean;
  /** Throws as the client does; the next is then due only after a while. */
  send(): Promise<void>;
  /** The next report is due, whatever was reported before. */
  changed(): void;
  /** sshd's address and keys are read again. */
  refresh(): void;
  /** The cursor that the next request for the state may report as applied; undefined if there is more to report, or no report was made yet. */
  applied(): string | undefined;
}

/** The most that the service takes in one report. */
const MAX_LOCKS = 100;
const MAX_HOLDS = 10;
const MAX_NAME = 64;

export function createReporter(parts: {
  readonly directory: string;
  readonly client: ServiceClient;
  readonly orders: Orders;
  readonly mode: HostMode;
  readonly clock: Clock;
  readonly ssh: () => Promise<SshAddress>;
  /** In milliseconds: between two reports at most; after one that failed, and after many. */
  readonly timing: { readonly report: number; readonly retry: number; readonly longest: number };
}): Reporter {
  const { directory, client, orders, clock, timing } = parts;
  let reported = "";
  let reportedAt = 0;
  let notBefore = 0;
  let failures = 0;
  let wholeCursor = "";
  let ssh: SshAddress | undefined;

  function facts(): Pick<HostReport, "problems" | "locks" | "holds" | "unknown" | "profiles"> {
    const locks = orders.locks().map(({ id, at, username, operator }) => ({
      ...{ id, username, operator: operator.slice(0, MAX_NAME) },
      at: formatTimestamp(at),
    }));
    const holds = readHolds(directory).map((hold) => ({ ...hold, operator: hold.operator.slice(0, MAX_NAME) }));
    const { problems } = orders.problems();
    // More are told with the next.
    const most = { locks: locks.slice(0, MAX_LOCKS), holds: holds.slice(0, MAX_HOLDS) };
    const profiles = orders.holding.states()?.slice(0, MAX_PROFILES);
    const told = profiles === undefined ? {} : { profiles };
    return { problems, ...most, unknown: orders.unknown().slice(0, MAX_UNKNOWN), ...told };
  }

  return {
    isDue: () => {
      if (orders.state() === undefined || performance.now() < notBefore) return false;
      return performance.now() - reportedAt > timing.report || reported !== JSON.stringify(facts());
    },
    send: async () => {
      // Unless it succeeds.
      notBefore = performance.now() + Math.min(timing.longest, timing.retry * 2 ** failures);
      failures = Math.min(failures + 1, 30);
      ssh ??= await parts.ssh();
      const about = { mode: parts.mode, version: VERSION, ssh, clock: formatTimestamp(clock.now()) };
      // Read together, with nothing awaited between. Where not all that was refused can be named, nothing after it is confirmed.
      if (orders.problems().whole) wholeCursor = orders.state()?.cursor ?? "";
      const said = facts();
      const body: HostReport = { cursor: wholeCursor, ...about, ...said };
      require2xx(await client.ask({ method: "POST", target: AGENT_ROUTES.report, body }));
      for (const { id } of said.holds) removeHold(directory, id);
      reported = JSON.stringify({ ...said, holds: [] });
      reportedAt = performance.now();
      failures = 0;
      notBefore = 0;
    },
    changed: () => {
      reported = "";
    },
    applied: () => {
      if (reported !== JSON.stringify(facts())) return undefined;
      if (orders.problems().whole) wholeCursor = orders.state()?.cursor ?? "";
      return wholeCursor === "" ? undefined : wholeCursor;
    },
    refresh: () => {
      ssh = undefined;
    },
  };
}
