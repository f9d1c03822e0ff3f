/** Tells sponsors whom they answer for: when somebody becomes theirs, and before that access ends. Each mail can end it. */

import { counted } from "../../shared/text/counted.ts";
import { DAY } from "../../shared/time/clock.ts";
import type { UserRow } from "../../store/schema.ts";
import { type Queueing, queueMail, SPONSOR_MAIL } from "../mail/outbox.ts";
import { type SponsoredUser, sponsoredEnds, sponsoring } from "../mail/sponsor-messages.ts";
import type { Policy } from "../operation/context.ts";
import { askQuestion } from "./questions.ts";

/** Where a mail is queued: an operation, or a transaction of a job. */
export interface Telling extends Queueing {
  readonly context: Queueing["context"] & { readonly policy: Pick<Policy, "sponsor" | "site"> };
}

/** People of one mail: the page shows all of them. */
const MOST = 200;

/** Mails a sponsor that they answer for these users from now on; nothing if the address is "" or sponsors are off. */
export async function tellSponsor(op: Telling, email: string, users: readonly UserRow[]): Promise<void> {
  if (email === "" || op.context.policy.sponsor.mode === "off") return;
  for (let at = 0; at < users.length; at += MOST) {
    const some = users.slice(at, at + MOST);
    const question = await askQuestion(op, { kind: "end", email, about: some.map(({ id }) => id) });
    const message = sponsoring(op.context.policy.site, some, question);
    await queueMail(op, { recipient: email, message, expiresAt: question.expiresAt, dedupeKey: keyOf(question.id) });
  }
}

/** The same for users with several sponsors; each gets one mail. */
export async function tellSponsors(op: Telling, users: readonly UserRow[]): Promise<void> {
  for (const [email, theirs] of Map.groupBy(users, ({ sponsorEmail }) => sponsorEmail)) {
    await tellSponsor(op, email, theirs);
  }
}

/** Mails a sponsor that a user's access ends soon. The key keeps it from being mailed twice. */
export async function remindSponsor(
  op: Telling,
  user: SponsoredUser & { readonly id: number },
  { email, key }: { readonly email: string; readonly key: string },
): Promise<void> {
  const { policy, clock } = op.context;
  if (email === "" || policy.sponsor.mode === "off") return;
  const question = await askQuestion(op, { kind: "end", email, about: [user.id] });
  const days = Math.max(1, Math.ceil((user.expireAt.getTime() - clock.now().getTime()) / DAY));
  const soon = days === 1 ? "within a day" : `in ${counted(days, "day")}`;
  const message = sponsoredEnds(policy.site, user, { soon, question });
  await queueMail(op, { recipient: email, message, expiresAt: user.expireAt, dedupeKey: `${SPONSOR_MAIL}${key}` });
}

/** The key of the mail about a question. */
export function keyOf(questionId: number): string {
  return `${SPONSOR_MAIL}${questionId}`;
}
