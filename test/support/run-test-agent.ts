/** An agent put together as `uam agent run` does, on the directories, the host and the clocks of a test. */

import { runAgent } from "../../src/agent/agent.ts";
import { createClient, type Send } from "../../src/agent/client.ts";
import { watchClock } from "../../src/agent/hours.ts";
import type { LeaseFiles, Moment } from "../../src/agent/lease.ts";
import { createLeaseKeeper } from "../../src/agent/lease-keeper.ts";
import { type OrdersParts, openOrders } from "../../src/agent/orders.ts";
import { findIdentity, nextEpoch, readKeys } from "../../src/agent/store.ts";
import { openTurn } from "../../src/agent/turn.ts";
import type { HostMode } from "../../src/protocol/host.ts";
import { bunRuntime } from "../../src/runtime/bun.ts";
import { type Log, silentLog } from "../../src/shared/log.ts";
import { systemClock } from "../../src/shared/time/clock.ts";

export interface TestAgentParts extends Pick<OrdersParts, "directory" | "openHost" | "managed"> {
  readonly files: LeaseFiles;
  readonly mode: HostMode;
  /** What the lease is counted on. */
  readonly now: () => Moment;
  readonly log: Log;
  /** How clients reach the host's sshd. */
  readonly sshHost: string;
  readonly random: () => number;
  readonly send?: Send;
  /** In seconds, by which the lease ends early; 0 by default. */
  readonly early?: number;
  /** In milliseconds. */
  readonly timing: Readonly<Record<string, number>>;
}

/** Runs the agent that has joined in this directory, until `stopped`. Throws at once where none has. */
export function runTestAgent(parts: TestAgentParts, stopped: AbortSignal): Promise<void> {
  const { directory, files, mode, now, log, openHost, managed, random, timing } = parts;
  const { send = (url, init) => fetch(url, init) } = parts;
  const identity = findIdentity(directory);
  const { present: seed } = readKeys(directory);
  if (identity === undefined || seed === undefined) throw new Error("not joined");
  const clocks = watchClock(files.directory, now);
  const common = { directory, runDirectory: files.directory, log };
  return runAgent(
    {
      ...{ ...common, identity, mode, clock: systemClock, random, timing, clocks, announce: () => {} },
      client: createClient({
        ...{ service: identity.service, host: identity.host_id, seed, epoch: nextEpoch(directory), send },
        fleetKey: Buffer.from(identity.fleet_key, "base64"),
      }),
      orders: openOrders({
        ...common,
        openHost,
        managed,
        turn: openTurn(directory, bunRuntime.openKernel()),
        times: clocks.times,
      }),
      lease: createLeaseKeeper({ files, now, early: parts.early ?? 0, log, openHost }),
      ssh: async () => ({ host: parts.sshHost, port: 22, host_keys: [] }),
    },
    stopped,
  );
}

/** For an agent in a process of its own: aborted once that is told to end. */
export function untilTerminated(): AbortSignal {
  const stop = new AbortController();
  process.on("SIGTERM", () => stop.abort());
  return stop.signal;
}

/** What goes wrong, to standard error; `warnings` too, where asked. */
export function errorLog({ warnings }: { readonly warnings: boolean }): Log {
  const say = (message: string, fields: unknown = {}) => console.error(message, JSON.stringify(fields));
  return { ...silentLog, error: say, ...(warnings ? { warn: say } : {}) };
}
