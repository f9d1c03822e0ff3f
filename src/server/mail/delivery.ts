/** Sending what is queued: claimed, handed to the transport, and finished or postponed. */

import { and, asc, eq, exists, getTableColumns, gt, isNull, lte, ne, or, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { OUTBOX_CHANNEL } from "../../domain/mail/outbox.ts";
import type { Services } from "../../domain/operation/context.ts";
import { HOUR, MINUTE, SECOND, shift } from "../../shared/time/clock.ts";
import { createShift } from "../../shared/work/bell.ts";
import { faultPoint } from "../../shared/work/fault-point.ts";
import { preparedOnce } from "../../store/client.ts";
import { listen } from "../../store/notify.ts";
import { type OutboxRow, outbox } from "../../store/schema.ts";
import { type MailTransport, SEND_TIMEOUT, type SendResult } from "./mail.ts";

/** As many as the SMTP transport has connections: one more would spend its time in that queue. */
const LANES = 2;
/** A process that claimed a mail this long ago, and did not finish it, has crashed; longer than a transport takes to give up. */
const LEASE = SEND_TIMEOUT + 2 * MINUTE;
/** The wait after the first failure; it doubles with each, up to `LONGEST_WAIT`. */
const FIRST_WAIT = 5 * SECOND;
const LONGEST_WAIT = HOUR;
/** With these waits about three days. */
export const MAX_ATTEMPTS = 80;
/** How often a delivery looks for mail that it was not told about: retries, and what a lost connection missed. */
const POLL = 5 * SECOND;

type Parts = Pick<Services, "db" | "clock" | "log">;

/** A delivery under way. */
export interface Delivery {
  /** Lets the mails under way finish and begins no other. */
  stop(): Promise<void>;
}

/**
 * Sends queued mail from now on: at once after the commit that queued it, and again later where that fails. It never
 * throws, and nobody waits for it; several instances on one database share the work.
 */
export function startDelivery(services: Parts, transport: MailTransport): Delivery {
  const { db, log } = services;
  const stopping = new AbortController();
  const lanes = createShift();
  const listening = listen(db, OUTBOX_CHANNEL, lanes.ring).catch((error: unknown) => {
    log.warn("the database sends no notifications about queued mail; it is polled every few seconds instead", {
      error,
    });
    return async () => {};
  });

  let dropAt = 0;
  /** Mail that can no longer be claimed need not be dropped at once. */
  async function dropSometimes(): Promise<void> {
    const now = performance.now();
    if (now < dropAt) return;
    dropAt = now + POLL;
    await dropExpired(services);
  }

  /** The lanes work independently: a mail that takes long keeps one lane busy, and the next mail takes the other. */
  async function work(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await dropSometimes();
        await runLane(services, transport, { signal: stopping.signal, another: lanes.ring });
      } catch (error) {
        log.error("queued mail could not be read", { error });
      }
      if (!stopping.signal.aborted) await lanes.wait(POLL);
    }
  }
  const working = Array.from({ length: LANES }, work);

  return {
    async stop() {
      stopping.abort();
      for (const _ of working) lanes.ring();
      await Promise.all(working);
      await (await listening)();
    },
  };
}

/**
 * Sends every mail that is due, most urgent first, and returns when none is left or `signal` says so. Of several deliveries
 * at once each mail is sent by one; one that was claimed by a process that crashed is sent again after a while, under the
 * same Message-ID.
 */
export async function deliverDue(services: Parts, transport: MailTransport, signal?: AbortSignal): Promise<void> {
  await dropExpired(services);
  await Promise.all(Array.from({ length: LANES }, () => runLane(services, transport, { signal })));
}

interface Lane {
  readonly signal?: AbortSignal | undefined;
  /** Called when there is work for another lane, too. */
  readonly another?: () => void;
}

async function runLane(services: Parts, transport: MailTransport, { signal, another }: Lane): Promise<void> {
  for (let isMore = true; isMore && signal?.aborted !== true; ) {
    const mail = await claim(services);
    if (mail === undefined) return;
    isMore = mail.isMore;
    if (isMore) another?.();
    faultPoint("mail: claimed, not sent");
    const { recipient, subject, text, html } = mail;
    const result = await transport.send({ to: recipient, subject, text, html }, `outbox-${mail.id}`);
    faultPoint("mail: sent, not noted");
    await finish(services, mail, result);
  }
}

/** A mail to be sent now. */
interface Claimed extends OutboxRow {
  /** Whether another one is due. */
  readonly isMore: boolean;
}

/** Hides one due mail from all others until the lease ends; its attempt is counted whatever becomes of it. */
async function claim({ db, clock }: Parts): Promise<Claimed | undefined> {
  const now = clock.now();
  const [mail] = await claimNext(db).execute({ now: now.toISOString(), until: shift(now, LEASE).toISOString() });
  return mail;
}

/**
 * Selected in a statement, it makes the statement's commit wait for no disk. What a crash of the database takes back then is that a mail of its last
 * moments was claimed or sent: it is sent again under its Message-ID, as after a crash between sending and noting.
 */
const soon = { soon: sql`set_config('synchronous_commit', 'off', true)` };

const claimNext = preparedOnce((db) => {
  const now = sql`${sql.placeholder("now")}`;
  const due = (one: typeof outbox | ReturnType<typeof alias<typeof outbox, "another">>) =>
    // Expired mail is not claimed; it is dropped later.
    and(eq(one.status, "queued"), lte(one.dueAt, now), or(isNull(one.expiresAt), gt(one.expiresAt, now)));
  const another = alias(outbox, "another");
  const rest = db
    .select({ id: another.id })
    .from(another)
    .where(and(due(another), ne(another.id, outbox.id)));
  const next = db
    .select({ id: outbox.id })
    .from(outbox)
    .where(due(outbox))
    // One-time codes are the first to become useless, and somebody waits for them.
    .orderBy(sql`${outbox.expiresAt} asc nulls last`, asc(outbox.dueAt), asc(outbox.id))
    .limit(1)
    .for("update", { skipLocked: true });
  return (
    db
      .update(outbox)
      .set({ dueAt: sql`${sql.placeholder("until")}`, attempts: sql`${outbox.attempts} + 1` })
      // Not IN: the planner may run the subquery of an IN more than once, and claim more than one.
      .where(eq(outbox.id, sql`(${next})`))
      .returning({ ...getTableColumns(outbox), isMore: sql<boolean>`${exists(rest)}`, ...soon })
      .prepare("claim_mail")
  );
});

async function finish({ db, clock, log }: Parts, mail: OutboxRow, result: SendResult): Promise<void> {
  const now = clock.now();
  const ours = and(eq(outbox.id, mail.id), eq(outbox.status, "queued"), eq(outbox.attempts, mail.attempts));
  const fields = { mail: mail.id, recipient: mail.recipient, subject: mail.subject, attempts: mail.attempts };
  if (result.kind === "sent") {
    await noteSent(db).execute({ id: mail.id, attempts: mail.attempts, now: now.toISOString() });
    log.debug("mail sent", fields);
  } else if (result.kind === "reject" || mail.attempts >= MAX_ATTEMPTS) {
    await db
      .update(outbox)
      .set({ ...finished("dead", now), lastError: result.reason })
      .where(ours);
    log.error("a mail was given up", { ...fields, reason: result.reason });
  } else {
    const again = shift(now, waitAfter(mail.attempts));
    // Not past its own end, so that it is dropped, and its text emptied, as soon as it is useless.
    const dueAt = mail.expiresAt !== null && mail.expiresAt < again ? mail.expiresAt : again;
    await db.update(outbox).set({ dueAt, lastError: result.reason }).where(ours);
    log.warn("a mail could not be sent and will be retried", { ...fields, dueAt, reason: result.reason });
  }
}

const noteSent = preparedOnce((db) => {
  const { placeholder } = sql;
  const ours = and(
    eq(outbox.id, placeholder("id")),
    eq(outbox.status, "queued"),
    eq(outbox.attempts, placeholder("attempts")),
  );
  return db
    .update(outbox)
    .set({ ...EMPTIED, status: "sent", finishedAt: sql`${placeholder("now")}` })
    .where(ours)
    .returning(soon)
    .prepare("mail_sent");
});

/** Milliseconds until the next attempt, up to a quarter more or less, so that many do not come back at once. */
export function waitAfter(attempts: number): number {
  const wait = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** (attempts - 1));
  return Math.round(wait * (0.75 + Math.random() / 2));
}

async function dropExpired({ db, clock, log }: Parts): Promise<void> {
  const now = clock.now();
  const dropped = await db
    .update(outbox)
    .set(finished("dropped", now))
    // One that is being sent right now is not due, and is left to whoever sends it.
    .where(and(eq(outbox.status, "queued"), lte(outbox.dueAt, now), lte(outbox.expiresAt, now)))
    .returning({ mail: outbox.id, subject: outbox.subject, reason: outbox.lastError })
    .prepare("drop_mail")
    .execute();
  for (const mail of dropped) log.warn("a mail was dropped: it could not be sent while it was of use", mail);
}

function finished(status: "dead" | "dropped", now: Date) {
  return { ...EMPTIED, status, finishedAt: now } as const;
}

/** Replaces the text of a mail that will not be sent: it held codes and tokens. */
const EMPTIED = { text: "", html: "" } as const;
