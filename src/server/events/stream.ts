/** The stream of all audit records to one receiver: syslog or a file. */

import { recordsAfter } from "../../domain/audit/follow.ts";
import { openStream, progressAfter, storeStream, waitAfter } from "../../domain/events/progress.ts";
import type { Services } from "../../domain/operation/context.ts";
import { MINUTE, SECOND } from "../../shared/time/clock.ts";
import type { Bell } from "../../shared/work/bell.ts";
import { faultPoint } from "../../shared/work/fault-point.ts";
import type { Database } from "../../store/client.ts";
import type { AuditRow } from "../../store/schema-audit.ts";
import type { AuditStreamRow } from "../../store/schema-events.ts";
import { type Pace, pause } from "./pace.ts";

/** Records that are read and written at once. */
const BATCH = 500;
/** The wait after failures doubles up to this. */
const LONGEST_WAIT = MINUTE;

/** Where the records go. */
export interface Sink {
  /** Takes the records, in their order. Throws an error with a sentence if it does not take all of them. */
  write(records: readonly AuditRow[]): Promise<void>;
  /**
   * The last record of those written that the receiver has for all that can be known; what came after it is written again after a
   * failure. Throws if the receiver is gone.
   */
  settled(): number | undefined;
  /** Opens the file again, before the next record. */
  reopen(): void;
  close(): Promise<void>;
}

export interface StreamParts {
  /** As the configuration names it: by this it is known how far the stream has got. */
  readonly target: string;
  readonly sink: Sink;
}

interface Surroundings {
  readonly services: Pick<Services, "clock" | "log">;
  readonly db: Database;
  readonly pace: Pace;
  readonly bell: Bell;
}

/** Streams until the signal says stop; it waits for a receiver that is away for as long as it takes. Never throws. */
export async function runStream(around: Surroundings, stream: StreamParts, signal: AbortSignal): Promise<void> {
  const { log } = around.services;
  while (!signal.aborted) {
    try {
      await streamOn(around, stream, signal);
    } catch (error) {
      if (signal.aborted) return;
      log.error("the stream of audit records cannot go on; it is tried again", { target: stream.target, error });
      await pause(SECOND, signal);
    }
  }
}

/** Throws only what the database throws. */
async function streamOn(around: Surroundings, { target, sink }: StreamParts, signal: AbortSignal): Promise<void> {
  const { services, db, pace, bell } = around;
  let stored = await openStream(db, target);
  // Records written after this may not have arrived.
  await sink.close();
  let written = stored.cursor;
  const store = async (next: AuditStreamRow) => {
    await storeStream(db, next);
    report(services.log, stored, next);
    stored = next;
  };
  const succeed = async () => {
    const cursor = sink.settled() ?? stored.cursor;
    if (cursor > stored.cursor || stored.failures > 0) {
      await store(
        progressAfter(stored, { error: "", at: services.clock.now(), cursor: Math.max(cursor, stored.cursor) }),
      );
    }
  };
  while (!signal.aborted) {
    const rung = bell.next();
    try {
      const began = performance.now();
      const limit = pace.portion(BATCH);
      const records = await recordsAfter(db, written, limit);
      if (records.length > 0) {
        await taken(sink.write(records), signal);
        faultPoint("stream: written, not noted");
        written = records.at(-1)?.id ?? written;
      }
      await succeed();
      if (records.length < limit) await Promise.race([pause(2 * SECOND, signal), rung]);
      await pause(pace.restAfter(performance.now() - began), signal);
    } catch (error) {
      if (!(error instanceof SinkError)) throw error;
      if (signal.aborted) break;
      await sink.close();
      written = stored.cursor;
      await store(progressAfter(stored, { error: error.message, at: services.clock.now(), cursor: written }));
      await pause(waitAfter(stored.failures, LONGEST_WAIT), signal);
    }
  }
  try {
    await succeed();
  } catch (error) {
    if (!(error instanceof SinkError)) throw error;
  }
}

/** The receiver did not take what was written, for the reason that the sentence says. */
export class SinkError extends Error {
  override readonly name = "SinkError";
}

/** A receiver that has stopped reading must not keep the service from stopping. */
async function taken(writing: Promise<void>, signal: AbortSignal): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const cut = () => reject(new SinkError("The service stopped"));
  if (signal.aborted) cut();
  signal.addEventListener("abort", cut, { once: true });
  try {
    await Promise.race([writing, promise]);
  } finally {
    signal.removeEventListener("abort", cut);
    writing.catch(() => {});
    promise.catch(() => {});
  }
}

/** Once when it begins to fail, and once when it goes on. */
function report(log: Services["log"], before: AuditStreamRow, after: AuditStreamRow): void {
  const { target, lastError: reason } = after;
  if (before.failures === 0 && after.failures > 0)
    log.warn("the audit stream's receiver takes no records", { target, reason });
  if (before.failures > 0 && after.failures === 0)
    log.info("the audit stream's receiver takes records again", { target });
}
