/**
 * Anybody can apply in anybody's name. Applications must not fill a stranger's mailbox or shut out everybody else, and no answer reveals
 * applications for an address.
 */

import { and, count, eq, gt, inArray, isNull, type SQL, sql } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { DAY, HOUR, shift } from "../../shared/time/clock.ts";
import { LOCKS } from "../../store/advisory-locks.ts";
import type { Transaction } from "../../store/client.ts";
import { approvals, outbox } from "../../store/schema.ts";
import type { Letter } from "../mail/letter.ts";
import { mailboxOf } from "../mail/mailbox.ts";
import { APPLICANT_MAIL, type Queueing, queueMail } from "../mail/outbox.ts";

/** Most applications for access that may be pending at once, because anybody can submit them. */
const MAX_PENDING = 200;
/** How many pending applications make a mailbox count as flooded. */
const MAX_OF_MAILBOX = 3;
/** Above this number, further applications from a flooded mailbox are dropped: the remaining places are for others. */
const SHARED = 50;
/** Most applications of one company's managers that may be pending at once; they are none of the above. */
const MAX_OF_COMPANY = 50;
/** Mails about applications to one mailbox within a day. */
const MAX_MAILS = 3;

/**
 * Whether to keep an application with that address. Throws `limited` while there are too many in all. The caller has locked the notice of
 * applications, so that nobody else adds one meanwhile.
 */
export async function hasRoom(tx: Transaction, email: string): Promise<boolean> {
  const own = sql`count(*) filter (where ${mailboxIn(sql`${approvals.email}`)} = ${mailboxOf(email)})`;
  const [pending] = await tx
    .select({ all: count(), own: own.mapWith(Number) })
    .from(approvals)
    .where(and(eq(approvals.status, "pending"), eq(approvals.kind, "access"), isNull(approvals.companyId)));
  const { all, own: ofMailbox } = pending ?? { all: 0, own: 0 };
  if (all < MAX_PENDING) return all < SHARED || ofMailbox < MAX_OF_MAILBOX;
  throw new UamError("limited", "Too many applications are waiting for a decision; try again in an hour", {
    retryAfter: HOUR / 1000,
    reason: "application.limit",
  });
}

/** Throws `limited` while too many applications of the company's managers are pending. The caller has locked the notice of applications. */
export async function requireRoomOf(tx: Transaction, companyId: number): Promise<void> {
  const pending = and(
    eq(approvals.status, "pending"),
    eq(approvals.kind, "access"),
    eq(approvals.companyId, companyId),
  );
  if ((await tx.$count(approvals, pending)) < MAX_OF_COMPANY) return;
  throw new UamError("limited", "Too many applications of your company are waiting for a decision; try again later", {
    retryAfter: HOUR / 1000,
    reason: "application.limit",
  });
}

/** Queues mail to an applicant, unless their mailbox has had its maximum for a day; then it stores a decoy that only looks like mail. */
export async function mailApplicant(op: Queueing, email: string, message: Letter, decoy = false): Promise<void> {
  const now = op.context.clock.now();
  // Two mails at the same instant would take the same slot, and the second would be lost.
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

/** `mailboxOf` of a column. */
function mailboxIn(email: SQL): SQL {
  const local = sql`replace(regexp_replace(split_part(lower(${email}), '@', 1), '^([^+]+)\\+.*$', '\\1'), '.', '')`;
  const domain = sql`regexp_replace(split_part(lower(${email}), '@', 2), '^googlemail\\.com$', 'gmail.com')`;
  return sql`(${local} || '@' || ${domain})`;
}
