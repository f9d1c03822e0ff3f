/** Mail waiting to be sent, stored in the transaction of the change that it reports. */

import { and, count, eq, isNotNull, isNull, like, lte, ne, or, sql } from "drizzle-orm";
import { type Clock, DAY, shift } from "../../shared/time/clock.ts";
import { preparedOnce, type Transaction } from "../../store/client.ts";
import { notified, notify } from "../../store/notify.ts";
import { outbox } from "../../store/schema.ts";
import type { Services } from "../operation/context.ts";
import type { Letter } from "./letter.ts";

/** A mail to be queued. */
export interface QueuedMail {
  readonly recipient: string;
  readonly message: Letter;
  /** After that it is useless, and is dropped. */
  readonly expiresAt?: Date;
  /** Mail with a key that was queued before is not queued again, for at least `DEDUPE_PERIOD`. */
  readonly dedupeKey?: string;
  /** Stored like mail, but without its text, and never sent. */
  readonly decoy?: boolean;
}

/** Where mail is queued: an operation, or any other transaction. */
export interface Queueing {
  readonly tx: Transaction;
  readonly context: { readonly clock: Clock };
}

/** How the keys of mails to applicants begin: they count for a day, so that they need not be kept for as long as others. */
export const APPLICANT_MAIL = "applicant ";
/** How the keys of mails to sponsors begin: whether an address accepts mail is looked up among these. */
export const SPONSOR_MAIL = "sponsor ";
/** PostgreSQL notifies this channel's listeners of each commit that queued mail. */
export const OUTBOX_CHANNEL = "uam_outbox";
/** Finished mail is kept for this long, to answer what was sent. */
const KEPT = 30 * DAY;
/** And for this long if its key keeps it from being sent again: a reminder may be due a year before the expiry it is about. */
export const DEDUPE_PERIOD = 400 * DAY;

/** Queues a mail; it is sent after the operation's commit, and never if the operation fails. */
export async function queueMail(op: Queueing, mail: QueuedMail): Promise<void> {
  const { expiresAt, finishedAt, ...row } = rowOf(mail, op.context.clock.now());
  const times = { expiresAt: expiresAt?.toISOString() ?? null, finishedAt: finishedAt?.toISOString() ?? null };
  // For a decoy, too: it must cost as much as a mail.
  await insertMail(op.tx).execute({ ...row, ...times });
}

const insertMail = preparedOnce((tx) => {
  const { placeholder } = sql;
  return tx
    .insert(outbox)
    .values({
      dedupeKey: placeholder("dedupeKey"),
      recipient: placeholder("recipient"),
      subject: placeholder("subject"),
      text: placeholder("text"),
      html: placeholder("html"),
      createdAt: placeholder("createdAt"),
      dueAt: placeholder("dueAt"),
      status: placeholder("status"),
      // As SQL, because a column's own encoder takes no null in a placeholder.
      expiresAt: sql`${placeholder("expiresAt")}`,
      finishedAt: sql`${placeholder("finishedAt")}`,
    })
    .onConflictDoNothing({ target: outbox.dedupeKey })
    .returning({ told: notified(OUTBOX_CHANNEL) })
    .prepare("queue_mail");
});

/** The same for many at once. */
export async function queueMails(op: Queueing, mails: readonly QueuedMail[]): Promise<void> {
  if (mails.length === 0) return;
  const now = op.context.clock.now();
  const rows = mails.map((mail) => rowOf(mail, now));
  await op.tx.insert(outbox).values(rows).onConflictDoNothing({ target: outbox.dedupeKey });
  await notify(op.tx, OUTBOX_CHANNEL);
}

/** How many mails were given up: refused by the mail server, or not accepted in all the time that they were tried. */
export async function countDeadLetters({ db }: Pick<Services, "db">): Promise<number> {
  const [row] = await db.select({ dead: count() }).from(outbox).where(eq(outbox.status, "dead"));
  return row?.dead ?? 0;
}

/** Deletes finished mail once it is no longer needed. */
export async function purgeOutbox({ db, clock }: Pick<Services, "db" | "clock">): Promise<void> {
  const now = clock.now();
  const isShort = or(isNull(outbox.dedupeKey), like(outbox.dedupeKey, `${APPLICANT_MAIL}%`));
  const old = or(
    and(isShort, lte(outbox.finishedAt, shift(now, -KEPT))),
    and(isNotNull(outbox.dedupeKey), lte(outbox.finishedAt, shift(now, -DEDUPE_PERIOD))),
  );
  await db.delete(outbox).where(and(ne(outbox.status, "queued"), old));
}

function rowOf(mail: QueuedMail, now: Date): typeof outbox.$inferInsert {
  const decoy = mail.decoy === true;
  return {
    dedupeKey: mail.dedupeKey ?? null,
    recipient: mail.recipient,
    subject: mail.message.subject,
    text: decoy ? "" : mail.message.text,
    html: decoy ? "" : mail.message.html,
    createdAt: now,
    dueAt: now,
    expiresAt: mail.expiresAt ?? null,
    status: decoy ? "dropped" : "queued",
    finishedAt: decoy ? now : null,
  };
}
