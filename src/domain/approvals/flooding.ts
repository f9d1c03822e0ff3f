/**
 * Anybody can apply in anybody's name. What that must not do is fill a stranger's mailbox, or shut out everybody else; and no answer tells what
 * was applied for with an address.
 */

import { and, count, eq, gt, inArray, type SQL, sql } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { DAY, HOUR, shift } from "../../shared/time/clock.ts";
import type { Transaction } from "../../store/client.ts";
import { LOCKS } from "../../store/locks.ts";
import { approvals, outbox } from "../../store/schema.ts";
import type { Letter } from "../mail/letter.ts";
import { APPLICANT_MAIL, type Queueing, queueMail } from "../mail/outbox.ts";

/** Applications for access that may be pending at once, because anybody can submit them. */
const MAX_PENDING = 200;
/** How many of one mailbox may be pending before it counts as flooded. */
const MAX_OF_MAILBOX = 3;
/** While more than this are pending, further ones of a flooded mailbox are not kept: the rest of the places is for others. */
const SHARED = 50;
/** Mails about applications to one mailbox within a day. */
const MAX_MAILS = 3;

/**
 * Whether an application with that address may be kept. Throws `limited` while there are too many of all. Nobody else adds one while the notice
 * of applications is locked.
 */
export async function hasRoom(tx: Transaction, email: string): Promise<boolean> {
  const own = sql`count(*) filter (where ${mailboxIn(sql`${approvals.email}`)} = ${mailboxOf(email)})`;
  const [pending] = await tx
    .select({ all: count(), own: own.mapWith(Number) })
    .from(approvals)
    .where(and(eq(approvals.status, "pending"), eq(approvals.kind, "access")));
  const { all, own: ofMailbox } = pending ?? { all: 0, own: 0 };
  if (all < MAX_PENDING) return all < SHARED || ofMailbox < MAX_OF_MAILBOX;
  throw new UamError("limited", "Too many applications are waiting for a decision; try again in an hour", {
    retryAfter: HOUR / 1000,
    reason: "application.limit",
  });
}

/** Queues mail to an applicant, unless their mailbox was sent as many within a day as it may; then what is stored only looks like mail. */
export async function mailApplicant(op: Queueing, email: string, message: Letter, decoy = false): Promise<void> {
  const now = op.context.clock.now();
  // Two at the same instant would take the same slot, and the second mail would be lost.
  await op.tx.execute(sql`select pg_advisory_xact_lock(${LOCKS.applicantMail}, hashtext(${mailboxOf(email)}))`);
  const [today, yesterday] = [now, shift(now, -DAY)].map((at) => slotsOf(email, at)) as [string[], string[]];
  const sent = await op.tx
    .select({ key: outbox.dedupeKey })
    .from(outbox)
    .where(and(inArray(outbox.dedupeKey, [...today, ...yesterday]), gt(outbox.createdAt, shift(now, -DAY))));
  const free = today.find((slot) => !sent.some(({ key }) => key === slot));
  const isMail = !decoy && sent.length < MAX_MAILS && free !== undefined;
  await queueMail(op, { recipient: email, message, ...(isMail ? { dedupeKey: free } : { decoy: true }) });
}

function slotsOf(email: string, at: Date): readonly string[] {
  const day = at.toISOString().slice(0, "2026-11-20".length);
  return Array.from({ length: MAX_MAILS }, (_, n) => `${APPLICANT_MAIL}${mailboxOf(email)} ${day} ${n + 1}`);
}

/** Where mail to the address arrives: with many providers, whatever follows a `+`, however it is written, and with some without its dots. */
function mailboxOf(email: string): string {
  const [local = "", domain = ""] = email.toLowerCase().split("@");
  return `${local.replace(/^([^+]+)\+.*$/, "$1").replaceAll(".", "")}@${domain === "googlemail.com" ? "gmail.com" : domain}`;
}

/** The same of a column. */
function mailboxIn(email: SQL): SQL {
  const local = sql`replace(regexp_replace(split_part(lower(${email}), '@', 1), '^([^+]+)\\+.*$', '\\1'), '.', '')`;
  const domain = sql`regexp_replace(split_part(lower(${email}), '@', 2), '^googlemail\\.com$', 'gmail.com')`;
  return sql`(${local} || '@' || ${domain})`;
}
