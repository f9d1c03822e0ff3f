/**
 * The agent of a host: asks the service what the host should be, does it, says so, and asks again. Access that the
 * service does not confirm ends with the lease.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { AGENT_ROUTES, type SshAddress } from "../protocol/fleet.ts";
import { parseHostState } from "../protocol/fleet-answers.ts";
import type { HostMode } from "../protocol/host.ts";
import type { Log } from "../shared/log.ts";
import { NEWER_KEY_TYPES } from "../shared/product/ssh-key-types.ts";
import { type Clock, DAY, HOUR, MINUTE, SECOND } from "../shared/time/clock.ts";
import { NO_LEASE } from "../shared/time/lease.ts";
import { formatTimestamp } from "../shared/time/timestamp.ts";
import { VERSION } from "../shared/version.ts";
import { faultPoint } from "../shared/work/fault-point.ts";
import { require2xx, type ServiceClient, Unanswered } from "./client.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import type { Orders } from "./orders.ts";
import { createReporter } from "./reporting.ts";
import { createKeyRotation } from "./rotation.ts";
import { type AgentStatus, writeStatus } from "./status.ts";
import type { AgentIdentity } from "./store.ts";

/** The key types that the agent can read and older agents cannot; the host says whether its sshd can. */
const READS = NEWER_KEY_TYPES.join(",");

export interface AgentParts {
  readonly directory: string;
  readonly runDirectory: string;
  readonly identity: AgentIdentity;
  readonly client: ServiceClient;
  readonly orders: Orders;
  readonly lease: LeaseKeeper;
  readonly mode: HostMode;
  readonly clock: Clock;
  readonly log: Log;
  /** How clients reach the host's sshd, read anew. */
  readonly ssh: () => Promise<SshAddress>;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Told of each change of the connection. */
  readonly announce: (status: string) => void;
  /** In milliseconds; others only in tests. */
  readonly timing?: Partial<Timing>;
}

type Timing = Readonly<Record<keyof typeof TIMING, number>>;

const TIMING = {
  /** How long the service may hold a request; shorter than any usual proxy's limit. */
  wait: 55 * SECOND,
  /** Beyond that, until the connection counts as lost. */
  patience: 15 * SECOND,
  reconcile: MINUTE,
  /** The longest wait after failures, and between attempts at what the host refused. */
  longest: MINUTE,
  report: HOUR,
  /** Until a report that failed is tried again. */
  retry: 5 * SECOND,
  rotate: 30 * DAY,
};

/** In seconds: nine digits, as the service takes them. */
const LONGEST_HELD = 999_999_999;

/** Runs until `stopped`, after finishing any work under way on the host. Never throws for what the service or the network does. */
export async function runAgent(parts: AgentParts, stopped: AbortSignal): Promise<void> {
  const { client, orders, lease, clock, log, identity } = parts;
  const timing: Timing = { ...TIMING, ...parts.timing };
  const reporter = createReporter({ ...parts, timing });
  const rotation = createKeyRotation({ ...parts, timing });
  const pause = (milliseconds: number) => sleep(milliseconds, undefined, { signal: stopped }).catch(() => undefined);
  let interrupt = new AbortController();
  let failures = 0;
  let connection: Pick<AgentStatus, "since" | "last_answer" | "failure"> = {
    since: undefined,
    last_answer: undefined,
    failure: "not asked yet",
  };

  function wake(): void {
    interrupt.abort();
  }

  async function follow(): Promise<void> {
    let isReady = false;
    while (!stopped.aborted) {
      try {
        // Finish the work that a crash interrupted before reporting anything.
        if (!isReady) await orders.retry();
        isReady = true;
        if (hasNews()) await report();
        else if (rotation.isDue()) await rotation.rotate();
        else if (!(await askState())) continue;
        answered();
      } catch (error) {
        if (!stopped.aborted) await failed(error);
      }
    }
  }

  // After a report that failed, or that interrupted a request, the state comes first, at once: news must not cost the lease.
  let isStateFirst = false;
  let isInterrupted = false;
  const hasNews = () => !isStateFirst && reporter.isDue();

  async function report(): Promise<void> {
    isStateFirst = true;
    faultPoint("agent: all stored, not reported");
    await reporter.send();
    faultPoint("agent: reported, not noted");
    isStateFirst = isInterrupted;
  }

  /** False where it was interrupted, because there is something to say first. */
  async function askState(): Promise<boolean> {
    interrupt = new AbortController();
    const { signal } = interrupt;
    const since = encodeURIComponent(orders.state()?.cursor ?? "");
    const wait = isStateFirst ? 0 : Math.round(timing.wait / SECOND);
    const applied = reporter.applied();
    const said = applied === undefined ? "" : `&applied=${applied}`;
    const target = `${AGENT_ROUTES.state}?since=${since}&wait=${wait}&held=${held()}&reads=${READS}${said}`;
    const sent = lease.now();
    const began = performance.now();
    let given: unknown;
    try {
      const timeout = timing.wait + timing.patience;
      given = require2xx(await client.ask({ method: "GET", target, timeout, signal })).data;
    } catch (error) {
      if (!signal.aborted) throw error;
      isInterrupted = true;
      return false;
    }
    const told = parseHostState(given);
    if (told === undefined)
      throw new Unanswered("The service's answer is not one that this version of uam understands");
    isStateFirst = false;
    isInterrupted = false;
    // One call shuts all of it, whatever else is under way.
    if (told.status === "active") {
      lease.shorten(sent, told);
    } else {
      lease.end();
      faultPoint("agent: lease ended, accounts as they were");
    }
    const isNew = await orders.take(told);
    // Only now: what was to be shut is shut.
    if (told.status === "active") lease.renew(sent, told);
    // The next request reports the work done now, if the service reads it from there.
    if (told.full || (isNew && told.applied === undefined)) reporter.changed();
    if (isNew) retry();
    // A service that does not hold the request must not be asked without a pause.
    else if (performance.now() - began < SECOND) await pause(parts.random() * SECOND);
    return true;
  }

  /** How long the host may stay open if this is the last that the service hears of it. */
  function held(): string {
    const left = lease.left();
    return left > LONGEST_HELD ? NO_LEASE : String(left);
  }

  function answered(): void {
    const now = formatTimestamp(clock.now());
    failures = 0;
    rotation.confirmed();
    if (connection.since === undefined) log.info("connected to the service", { service: identity.service });
    connection = { since: connection.since ?? now, last_answer: now, failure: undefined };
    show(`connected to ${identity.service}`);
  }

  async function failed(error: unknown): Promise<void> {
    const failure = error instanceof Error ? error.message : String(error);
    if (!(error instanceof Unanswered)) log.error("the agent failed", { error });
    else if (connection.failure !== failure) log.warn("the service cannot be asked", { problem: failure });
    const { status, wait = 0 } = error instanceof Unanswered ? error : {};
    if (status === 401) rotation.tryOther();
    connection = { ...connection, since: undefined, failure };
    show(`not connected: ${failure}`);
    failures = Math.min(failures + 1, 30);
    await pause(wait * SECOND + parts.random() * Math.min(timing.longest, 2 ** failures * SECOND));
  }

  function show(text: string): void {
    parts.announce(text);
    try {
      writeStatus(parts.runDirectory, { version: VERSION, ...connection, problems: orders.problems().problems });
    } catch (error) {
      log.warn("the agent's status cannot be written", { error });
    }
  }

  let delay: number = SECOND;
  let retrying = false;
  /** Begins again with what the host refused, after a second, then twice as long. */
  function retry(): void {
    delay = SECOND;
    if (retrying) return;
    retrying = true;
    void retryAll()
      .catch((error: unknown) => log.error("what the host refused could not be tried again", { error }))
      .finally(() => {
        retrying = false;
      });
  }

  async function retryAll(): Promise<void> {
    while (!stopped.aborted) {
      const left = await orders.retry();
      if (left === "done") return;
      if (left === "more") continue;
      await pause(delay);
      delay = Math.min(2 * delay, timing.longest);
    }
  }

  async function every(milliseconds: number, work: () => Promise<void>): Promise<void> {
    while (!stopped.aborted) {
      await work().catch((error: unknown) => log.error("the agent failed at what it does again and again", { error }));
      await pause(milliseconds);
    }
  }

  stopped.addEventListener("abort", wake);
  lease.resume(orders.state());
  show("starting");
  await Promise.all([
    follow(),
    every(timing.reconcile, async () => {
      await orders.reconcile();
      reporter.refresh();
      retry();
      if (hasNews()) wake();
    }),
    every(timing.report, () => orders.examine()),
    every(HOUR, () => orders.forgetJobs()),
    every(SECOND, async () => {
      await lease.tick(orders.state());
      if (hasNews()) wake();
    }),
  ]);
}
