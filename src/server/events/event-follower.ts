/**
 * Follows the audit log for the webhooks and the stream. Of several instances on one database one does; when it
 * dies, another goes on where it was. Nobody who writes the log waits for any of this.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { watchLog } from "../../domain/audit/follow.ts";
import { type Progress, readWebhooks, switchOff } from "../../domain/events/progress.ts";
import type { Services } from "../../domain/operation/context.ts";
import { SECOND } from "../../shared/time/clock.ts";
import { createBell } from "../../shared/work/bell.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { holdJobLock } from "../../store/job-lock.ts";
import type { WebhookRow } from "../../store/schema-events.ts";
import { type DeliveryParts, deliverTo } from "./delivery-worker.ts";
import { createLedger } from "./ledger.ts";
import { createPace, pause } from "./pace.ts";
import type { Sender } from "./sender.ts";
import { runStream, type StreamParts } from "./stream.ts";
import { createTail } from "./tail.ts";

/** The job, by which instances agree on who does it. */
const JOB = "events";
/** How often an instance that does not do it looks whether it may. */
const STANDBY = 5 * SECOND;
/** How often changes of the webhooks are looked for. */
const REFRESH = SECOND;
/** Records that are read at once for the webhooks. */
const READ = 100;
/** In busy times: deliveries a second, of all webhooks together, and the part of the time that the stream takes. */
const PACE = { perSecond: 30, share: 0.1 };

export interface FollowerParts {
  /** Of its own, so that it never waits for a connection that an operation needs, nor an operation for one of these. */
  readonly db: Database;
  readonly sender: Sender;
  /** Where records are streamed to; undefined: nowhere. */
  readonly stream: StreamParts | undefined;
}

export interface EventFollower {
  /** Opens the stream's file again, after it was moved away. */
  reopen(): void;
  /** Finishes what is being delivered, and ends. */
  stop(): Promise<void>;
}

/** Follows the log from now on, as soon as no other instance does; never throws. */
export function startEventFollower(services: Services, parts: FollowerParts): EventFollower {
  const stopping = new AbortController();
  const { signal } = stopping;
  const working = lead(services, parts, signal);
  return {
    reopen: () => parts.stream?.sink.reopen(),
    async stop() {
      stopping.abort();
      await working;
      parts.sender.close();
      await parts.stream?.sink.close();
    },
  };
}

async function lead(services: Services, parts: FollowerParts, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await holdJobLock(parts.db, JOB, signal, (lost, tx) => follow(services, parts, lost, tx));
    } catch (error) {
      if (!signal.aborted) services.log.error("the audit log is not followed; it is tried again", { error });
    }
    if (!signal.aborted) await sleep(STANDBY, undefined, { signal }).catch(() => {});
  }
}

/** Does the work until the signal says stop; `held` is the connection that has the job. */
async function follow(
  services: Services,
  { db, sender, stream }: FollowerParts,
  signal: AbortSignal,
  held: Transaction,
): Promise<void> {
  const bell = createBell();
  const pace = createPace(PACE);
  const tail = createTail(db, READ);
  const stopWatching = watchLog({ db, log: services.log }, () => {
    pace.heard();
    tail.moved();
    bell.ring();
  });
  const ledger = createLedger({ db, log: services.log, pace }, signal);
  const giveUp = (progress: Progress) => switchOff(services, progress);
  const shared: DeliveryParts = { services, send: sender.send, ledger, tail, pace, bell, giveUp, held };
  const streaming = stream === undefined ? undefined : runStream({ services, db, pace, bell }, stream, signal);
  try {
    await superviseWorkers(services, db, shared, signal);
  } finally {
    await stopWatching();
    await streaming;
  }
}

interface Worker {
  readonly generation: number;
  readonly stopping: AbortController;
  readonly done: Promise<void>;
}

/** Runs one worker for each active webhook. */
async function superviseWorkers(
  services: Services,
  db: Database,
  parts: DeliveryParts,
  signal: AbortSignal,
): Promise<void> {
  const workers = new Map<number, Worker>();
  function begin(webhook: WebhookRow): void {
    const stopping = new AbortController();
    const done = deliverTo(parts, webhook, AbortSignal.any([signal, stopping.signal]))
      // Such as a database that is away: the next look begins it again, where it is stored to have got to.
      .catch((error: unknown) => services.log.error("deliveries to a webhook failed", { webhook: webhook.id, error }))
      .then(() => {
        if (workers.get(webhook.id)?.stopping === stopping) workers.delete(webhook.id);
      });
    workers.set(webhook.id, { generation: webhook.generation, stopping, done });
  }
  while (!signal.aborted) {
    try {
      const rows = await readWebhooks(db);
      const wanted = new Map(rows.filter(({ status }) => status === "active").map((row) => [row.id, row]));
      for (const [id, worker] of [...workers]) {
        // One that sends may take as long as a receiver does: the others are not kept waiting.
        if (wanted.get(id)?.generation !== worker.generation) worker.stopping.abort();
      }
      for (const row of wanted.values()) if (!workers.has(row.id)) begin(row);
    } catch (error) {
      services.log.error("the webhooks could not be read; it is tried again", { error });
    }
    await pause(REFRESH, signal);
  }
  await Promise.all([...workers.values()].map(({ done }) => done));
}
