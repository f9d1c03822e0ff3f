/** Receivers of audit records, webhooks and the stream, as monitoring sees them. */

import { asc, eq } from "drizzle-orm";
import { HOUR, shift } from "../../shared/time/clock.ts";
import type { Database } from "../../store/client.ts";
import { auditStreams, webhooks } from "../../store/schema-events.ts";
import type { Context } from "../operation/context.ts";
import { originOf } from "./address.ts";
import { readHead } from "./head.ts";

/** A receiver that accepts nothing for this long is a problem that somebody has to look at. */
const LONG_AWAY = HOUR;

/** How a receiver is doing. */
export interface ReceiverState {
  readonly kind: "webhook" | "stream";
  /** A webhook's number. */
  readonly id: number | null;
  /** Where it is, without what may be secret. */
  readonly name: string;
  readonly isOn: boolean;
  /** Records that it has not taken yet. */
  readonly lag: number;
  readonly failingSince: Date | null;
  readonly lastError: string;
  readonly deliveredAt: Date | null;
}

/**
 * The stream that the configuration names; undefined without one. Until the service first starts it, all records count as
 * outstanding.
 */
export async function readStream({ db, policy }: Pick<Context, "db" | "policy">): Promise<ReceiverState | undefined> {
  const { auditStream: target } = policy;
  if (target === undefined) return undefined;
  const [row] = await db.select().from(auditStreams).where(eq(auditStreams.target, target));
  const { cursor = 0, failingSince = null, lastError = "", deliveredAt = null } = row ?? {};
  const lag = Math.max(0, (await readHead(db)) - cursor);
  return { kind: "stream", id: null, name: target, isOn: true, lag, failingSince, lastError, deliveredAt };
}

/** All receivers. */
export async function readReceivers(services: {
  readonly db: Database;
  readonly policy: Context["policy"];
}): Promise<readonly ReceiverState[]> {
  const stream = await readStream(services);
  const rows = await services.db.select().from(webhooks).orderBy(asc(webhooks.id));
  const head = await readHead(services.db);
  return [
    ...(stream === undefined ? [] : [stream]),
    ...rows.map(
      ({ id, url, status, cursor, failingSince, lastError, deliveredAt }): ReceiverState => ({
        ...{ kind: "webhook", id, name: originOf(url), isOn: status === "active" },
        ...{ lag: Math.max(0, head - cursor), failingSince, lastError, deliveredAt },
      }),
    ),
  ];
}

type FailingReceiver = ReceiverState & { readonly failingSince: Date };

/** Receivers that should accept records, and did not accept the last one that they were sent. */
export async function failingReceivers(services: Pick<Context, "db" | "policy">): Promise<readonly FailingReceiver[]> {
  const isFailing = (state: ReceiverState): state is FailingReceiver => state.isOn && state.failingSince !== null;
  return (await readReceivers(services)).filter(isFailing);
}

/** Those of them that have accepted none for an hour. */
export async function longAway(
  services: Pick<Context, "db" | "policy" | "clock">,
): Promise<readonly FailingReceiver[]> {
  const before = shift(services.clock.now(), -LONG_AWAY);
  return (await failingReceivers(services)).filter(({ failingSince }) => failingSince <= before);
}
