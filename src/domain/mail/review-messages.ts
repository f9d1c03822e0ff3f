/** Mails about reviews. Pure, like messages.ts. */

import type { Site } from "../operation/context.ts";
import { code, date, day, fact, type Letter, letter, line, paragraph } from "./letter.ts";

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
    ...howToAnswer(review),
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
    ...howToAnswer(review),
  ]);
}

function facts({ id, scope, dueAt }: MailedReview) {
  return [fact("Review", String(id)), fact("About", scope === "all" ? "everybody" : scope), fact("By", date(dueAt))];
}

function consequence({ disables }: MailedReview) {
  return paragraph(
    disables
      ? "Whoever is not answered for by then loses their access: their accounts are disabled."
      : "Whoever is not answered for by then is listed; nobody loses their access by that.",
  );
}

function howToAnswer({ id }: MailedReview) {
  return [
    paragraph("To see whom it is about, and to answer:"),
    code(`uam review show ${line(String(id))}\nuam review answer ${id} --keep USERNAME`),
  ];
}

function people(count: number): string {
  return count === 1 ? "1 user" : `${count} users`;
}

function verb(count: number): string {
  return count === 1 ? "is" : "are";
}
