/** Delivers to one webhook, in the order of the log. Each webhook has its own worker, so that none waits for another. */

import { whileKept } from "../../domain/events/delivering.ts";
import { type Message, messageOf, type SendMessage } from "../../domain/events/message.ts";
import {
  type Attempt,
  LONGEST_WAIT,
  PATIENCE,
  type Progress,
  progressAfter,
  waitAfter,
} from "../../domain/events/progress.ts";
import { actionsOf, secretOf } from "../../domain/events/webhooks.ts";
import type { Services } from "../../domain/operation/context.ts";
import { SECOND, shift } from "../../shared/time/clock.ts";
import type { Bell } from "../../shared/work/bell.ts";
import { faultPoint } from "../../shared/work/fault-point.ts";
import type { Transaction } from "../../store/client.ts";
import type { AuditRow } from "../../store/schema-audit.ts";
import type { WebhookRow } from "../../store/schema-events.ts";
import type { Ledger } from "./ledger.ts";
import { type Pace, pause } from "./pace.ts";
import type { Tail } from "./tail.ts";

/** Progress is stored after this many deliveries; a crash repeats those since. */
const CHUNK = 50;
/** And at the latest after so many milliseconds. */
const LONGEST = 2 * SECOND;

/** The dependencies that the workers share. */
export interface DeliveryParts {
  readonly services: Pick<Services, "clock" | "log" | "seal">;
  readonly send: SendMessage;
  readonly ledger: Ledger;
  readonly tail: Tail;
  readonly pace: Pace;
  readonly bell: Bell;
  /** The connection that has the job; what is delivered at the moment is locked on it. */
  readonly held: Transaction;
  /** Switches off a webhook that has taken nothing for too long. */
  readonly giveUp: (progress: Progress) => Promise<void>;
}

/** Delivers to the webhook until the signal says stop, or it is switched off. Throws what the database throws. */
export async function deliverTo(parts: DeliveryParts, webhook: WebhookRow, signal: AbortSignal): Promise<void> {
  const { services, bell, tail, ledger } = parts;
  const wants = actionsOf(webhook);
  let progress: Progress = webhook;
  let records: readonly AuditRow[] = [];
  while (!signal.aborted) {
    const rung = bell.next();
    if (waits(progress, services.clock.now())) {
      await Promise.race([pause(SECOND, signal), rung]);
      continue;
    }
    if (records.length === 0) records = await tail.after(progress.cursor);
    if (records.length === 0) {
      // The bell rings each second even if nothing is new.
      await Promise.race([pause(2 * SECOND, signal), rung]);
      continue;
    }
    const batch = { webhook, wants, progress, records };
    const delivered = await whileKept(parts.held, webhook, () => deliverSome(parts, batch, signal));
    // The webhook was removed or is just changing: the supervisor ends this worker, or begins another.
    if (delivered === undefined) {
      await pause(SECOND, signal);
      continue;
    }
    const { attempts, after } = delivered;
    progress = after;
    records = records.filter(({ id }) => id > after.cursor);
    faultPoint("webhook: delivered, not noted");
    if (!(await ledger.store(attempts, progress))) return;
    if (isHopeless(progress, services.clock.now())) {
      await parts.giveUp(progress);
      return;
    }
  }
}

interface Batch {
  readonly webhook: WebhookRow;
  readonly wants: ReadonlySet<string> | undefined;
  readonly progress: Progress;
  readonly records: readonly AuditRow[];
}

/** Up to a chunk of deliveries, and no more after one that failed. */
async function deliverSome(
  { services, send, pace }: DeliveryParts,
  { webhook, wants, progress: before, records }: Batch,
  signal: AbortSignal,
): Promise<{ readonly attempts: readonly Attempt[]; readonly after: Progress }> {
  const attempts: Attempt[] = [];
  let progress = before;
  const receiver = { url: webhook.url, secret: secretOf(services.seal, webhook) };
  const began = performance.now();
  for (const record of records) {
    if (attempts.length === CHUNK || performance.now() - began > LONGEST || signal.aborted) break;
    if (wants !== undefined && !wants.has(record.action)) {
      progress = { ...progress, cursor: record.id };
      continue;
    }
    await pace.turn(signal);
    if (signal.aborted) break;
    const message: Message = messageOf(record);
    const error = await send(receiver, message);
    const at = services.clock.now();
    const attempt = progress.failures + 1;
    const { id: messageId, type } = message;
    attempts.push({ webhookId: webhook.id, recordId: record.id, messageId, type, attempt, error, at });
    const after = progressAfter(progress, { error, at, cursor: record.id });
    progress = { ...after, dueAt: error === "" ? null : shift(at, waitAfter(after.failures)) };
    if (error !== "") break;
  }
  return { attempts, after: progress };
}

/** A wait that is longer than any means that the clock was set back. */
function waits({ dueAt }: Progress, now: Date): boolean {
  return dueAt !== null && dueAt > now && dueAt <= shift(now, LONGEST_WAIT);
}

function isHopeless({ failingSince }: Progress, now: Date): boolean {
  return failingSince !== null && shift(failingSince, PATIENCE) <= now;
}
