/** Mails about reviews. Pure, like messages.ts. */

import type { Site } from "../operation/context.ts";
import { code, date, day, fact, type Letter, letter, paragraph } from "./letter.ts";
import { toReview } from "./links.ts";
import { toDecision, whomToAsk, whose } from "./phrases.ts";
import type { MailedQuestion } from "./sponsor-messages.ts";

/** Users whom a mail names; of more it gives the number. */
const NAMED = 20;

/** A review as mails need it. */
export interface MailedReview {
  readonly id: number;
  /** Whom it is about, in words. */
  readonly scope: string;
  readonly dueAt: Date;
  /** Whether users who are not answered for lose their access on the day. */
  readonly disables: boolean;
}

/** To the administrators: a review has begun. */
export function reviewStarted(site: Site, review: MailedReview & { readonly total: number }): Letter {
  return letter(`${site.host}: ${people(review.total)} to answer for by ${day(review.dueAt)}`, [
    paragraph(`A review of the access to ${site.host} has begun: for each user, is it still right?`),
    ...facts(review),
    fact("Users", String(review.total)),
    consequence(review),
    ...howToAnswer(site, review),
  ]);
}

/** To the administrators: the day of a review is near, and somebody is not answered for. */
export function reviewReminder(
  site: Site,
  review: MailedReview & { readonly open: number; readonly days: number },
): Letter {
  const left = review.days === 1 ? "1 day" : `${review.days} days`;
  return letter(`${site.host}: ${left} left to answer for ${people(review.open)}`, [
    paragraph(
      `In a review of the access to ${site.host}, ${people(review.open)} ${verb(review.open)} not answered for.`,
    ),
    ...facts(review),
    fact("Not answered", String(review.open)),
    consequence(review),
    ...howToAnswer(site, review),
  ]);
}

/** To the sponsor: whether the access of their people is still right. */
export function reviewAsked(
  site: Site,
  {
    names,
    dueAt,
    disables,
    days,
    again,
  }: Pick<MailedReview, "dueAt" | "disables"> & {
    readonly names: readonly string[];
    readonly days?: number | undefined;
    /** Answers may be lost, because the service was set back to an earlier state. */
    readonly again?: boolean | undefined;
  },
  question: MailedQuestion,
): Letter {
  const whom = people(names.length);
  const left = days === undefined ? "" : days === 1 ? "1 day left: " : `${days} days left: `;
  const asked = again === true ? "Asked again: " : left;
  return letter(`${asked}Is the access of ${whom} to ${site.host} still right?`, [
    paragraph("Hello,"),
    ...(again === true
      ? [
          paragraph(
            `${site.host} was set back to an earlier state. Answers that you gave since then are lost, and the links in earlier mails no longer work: please answer once more.`,
          ),
        ]
      : []),
    paragraph(
      `You are named, with this address, as the person who answers for ${whom} of ${whose(site)}. For each: is the access still needed, only until a day, or not any more?`,
    ),
    ...named(names),
    fact("By", date(dueAt)),
    consequence({ disables }),
    paragraph("The page shows what is known of each. Opening it decides nothing."),
    ...toDecision(site, "See them and answer", question),
    whomToAsk(site, "Do you not answer for them?"),
  ]);
}

/** To the sponsor: nobody answered for their people, who lose their access. */
export function reviewEnded(site: Site, { names }: { readonly names: readonly string[] }): Letter {
  return letter(`The access of ${people(names.length)} to ${site.host} was ended`, [
    paragraph("Hello,"),
    paragraph(
      `In a review of the access to ${whose(site)} nobody answered for ${people(names.length)} by the day, you neither. Their access was ended:`,
    ),
    ...named(names),
    paragraph("Their files are kept for now, and an administrator can give the access again."),
    whomToAsk(site, "Was it still needed?"),
  ]);
}

/** The first of them. */
function named(names: readonly string[]) {
  const shown = names.slice(0, NAMED).map((name) => fact("User", name));
  const left = names.length - shown.length;
  return left === 0 ? shown : [...shown, paragraph(`And ${left} more.`)];
}

function facts({ id, scope, dueAt }: MailedReview) {
  return [fact("Review", String(id)), fact("About", scope === "all" ? "everybody" : scope), fact("By", date(dueAt))];
}

function consequence({ disables }: Pick<MailedReview, "disables">) {
  return paragraph(
    disables
      ? "Whoever is not answered for by then loses their access: their accounts are disabled."
      : "Whoever is not answered for by then is listed; nobody loses their access by that.",
  );
}

function howToAnswer(site: Site, { id }: MailedReview) {
  if (site.console) return [toReview(site, id)];
  return [
    paragraph("To see whom it is about, and to answer:"),
    code(`uam review show ${id}\nuam review answer ${id} keep USERNAME`),
  ];
}

function people(count: number): string {
  return count === 1 ? "1 user" : `${count} users`;
}

function verb(count: number): string {
  return count === 1 ? "is" : "are";
}
