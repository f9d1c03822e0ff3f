/**
 * Asks sponsors whether they answer for people who applied, and whether they allow access on request. Anybody can make the service mail a
 * stranger by an application, so one mailbox gets few mails, each with all that waits.
 */

import { and, asc, eq, gt, inArray, ne, sql } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { DAY, HOUR, shift } from "../../shared/time/clock.ts";
import { LOCKS } from "../../store/advisory-locks.ts";
import { type ApprovalRow, approvals } from "../../store/schema.ts";
import { questions } from "../../store/schema-auth.ts";
import { accessAsked } from "../mail/access-messages.ts";
import { mailboxOf } from "../mail/mailbox.ts";
import { queueMail } from "../mail/outbox.ts";
import { vouchAsked } from "../mail/sponsor-messages.ts";
import type { Services, SponsorPolicy } from "../operation/context.ts";
import { askQuestion, QUESTION_TTL } from "./questions.ts";
import { parseSponsor, requireSponsor } from "./sponsor-email.ts";
import { keyOf, type Telling } from "./telling.ts";

/** What is asked about which requests, and how many mails about it one mailbox gets in an hour and in a day. */
const ASKED = {
  vouch: { kind: "access", hour: 1, day: 5, write: vouchAsked },
  access: { kind: "access_request", hour: 6, day: 24, write: accessAsked },
} as const;
type Asked = keyof typeof ASKED;
/** For how long after an application its sponsor is asked again: nobody is reminded for ever of what they do not answer. */
const ASKED_AGAIN = 2 * QUESTION_TTL;
/** What is stored of a request about which its sponsor was not asked. */
export const UNASKED = { sponsorAnswer: "none", sponsorReason: "", sponsorAnsweredAt: null } as const;
/** Applications that one mail asks about. */
const AT_ONCE = 20;

/**
 * Mails the sponsor everything that they have not been asked about, unless their mailbox has had its maximum: then a later call does it. What
 * they were asked, and their link is dead without an answer, they are asked again, once.
 */
export async function askSponsor(op: Telling, email: string, asked: Asked = "vouch"): Promise<void> {
  const { tx, context } = op;
  const { clock, policy } = context;
  if (email === "" || policy.sponsor.mode === "off") return;
  // Two at the same instant would both find room.
  await tx.execute(sql`select pg_advisory_xact_lock(${LOCKS.sponsorMail}, hashtext(${mailboxOf(email)}))`);
  const now = clock.now();
  if (!(await hasRoom(op, { email, asked }, now))) return;
  const waiting = await tx
    .select()
    .from(approvals)
    .where(and(isWaiting(asked, now), eq(approvals.sponsorEmail, email)))
    .orderBy(asc(approvals.id))
    .limit(AT_ONCE);
  if (waiting.length === 0) return;
  const ids = waiting.map(({ id }) => id);
  const question = await askQuestion(op, { kind: asked, email, about: ids });
  const message = ASKED[asked].write(policy.site, waiting, question);
  await queueMail(op, { recipient: email, message, expiresAt: question.expiresAt, dedupeKey: keyOf(question.id) });
  await tx.update(approvals).set({ sponsorAnswer: "asked" }).where(inArray(approvals.id, ids));
}

/** Asks every sponsor whom something waits for; run it each minute. */
export async function askWaitingSponsors({ db, clock, policy }: Services): Promise<void> {
  if (policy.sponsor.mode === "off") return;
  const { sponsorEmail } = approvals;
  for (const asked of ["access", "vouch"] as const) {
    const waiting = isWaiting(asked, clock.now());
    const rows = await db.selectDistinct({ email: sponsorEmail }).from(approvals).where(waiting);
    for (const { email } of rows)
      await db.transaction((tx) => askSponsor({ tx, context: { clock, policy } }, email, asked));
  }
}

/** Throws `conflict` if the application needs a sponsor who answers for the applicant, and nobody has said so, or not the one who is chosen. */
export function requireVouched(
  policy: SponsorPolicy,
  { sponsorEmail, sponsorAnswer, email }: ApprovalRow,
  { sponsorEmail: chosen = sponsorEmail }: { readonly sponsorEmail?: string | undefined } = {},
): void {
  requireSponsor(policy, sponsorEmail);
  if (policy.mode !== "required") return;
  const other = parseSponsor(policy, { sponsorEmail: chosen, email });
  if (other !== sponsorEmail)
    throw new UamError(
      "conflict",
      `The sponsor must be whoever answered for the applicant, and ${sponsorEmail} was asked`,
      { reason: "sponsor.pending" },
    );
  if (sponsorAnswer === "vouched") return;
  const said = sponsorAnswer === "declined" ? "does not answer" : "has not said that they answer";
  throw new UamError("conflict", `${sponsorEmail} ${said} for the applicant`, { reason: "sponsor.pending" });
}

async function hasRoom(
  { tx }: Telling,
  { email, asked }: { readonly email: string; readonly asked: Asked },
  now: Date,
): Promise<boolean> {
  const rows = await tx
    .select({ email: questions.email, createdAt: questions.createdAt })
    .from(questions)
    .where(and(eq(questions.kind, asked), gt(questions.createdAt, shift(now, -DAY))));
  const sent = rows.filter((row) => mailboxOf(row.email) === mailboxOf(email));
  const lately = sent.filter(({ createdAt }) => createdAt > shift(now, -HOUR));
  return sent.length < ASKED[asked].day && lately.length < ASKED[asked].hour;
}

/** Pending, and no living link asks about it. */
function isWaiting(asked: Asked, now: Date) {
  const isAsked = sql`exists (select 1 from ${questions} q where q.kind = ${asked} and q.email = ${approvals.sponsorEmail}
    and ${approvals.id} = any(q.about) and q.expires_at > ${now.toISOString()}::timestamptz)`;
  return and(
    eq(approvals.status, "pending"),
    eq(approvals.kind, ASKED[asked].kind),
    ne(approvals.sponsorEmail, ""),
    sql`(${approvals.sponsorAnswer} = 'none' or (${approvals.sponsorAnswer} = 'asked' and not ${isAsked}
      and ${approvals.createdAt} > ${shift(now, -ASKED_AGAIN).toISOString()}::timestamptz))`,
  );
}
