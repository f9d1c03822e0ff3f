/** Mails to sponsors, who have no account: each has a link to one page, which decides nothing by itself. Pure, like messages.ts. */

import type { Site } from "../operation/context.ts";
import { type Block, date, endDate, fact, type Letter, letter, line, paragraph, quote } from "./letter.ts";
import { accountName, toDecision, whomToAsk, whose } from "./phrases.ts";

/** Somebody whom the sponsor answers for. */
export interface SponsoredUser {
  readonly username: string;
  readonly email: string;
  readonly fullName: string;
  readonly purpose: string;
  readonly expireAt: Date;
}

/** An application, of which nothing has been checked. */
export interface SponsoredApplication {
  readonly username: string;
  readonly email: string;
  readonly fullName: string;
  readonly purpose: string;
}

/** What the link of a mail is made from. */
export interface MailedQuestion {
  readonly token: string;
  readonly expiresAt: Date;
}

/** People whom a mail names; of more it gives the number. */
const SHOWN = 20;

/** To the sponsor: whether they answer for people who applied and named them. What the applicants typed is quoted. */
export function vouchAsked(
  site: Site,
  applications: readonly SponsoredApplication[],
  question: MailedQuestion,
): Letter {
  const one = applications.length === 1;
  const people = one ? "Somebody" : `${applications.length} people`;
  return letter(
    `Do you answer for ${one ? "somebody" : `${applications.length} people`} who ${one ? "applies" : "apply"} for access to ${site.host}?`,
    [
      paragraph("Hello,"),
      paragraph(
        `${people} applied for access to ${whose(site)} and named you as the person who answers for them: who knows who they are, and what they need it for. Nothing of this has been checked; it is what they typed:`,
      ),
      ...applications.map(quoted),
      paragraph("Opening the page decides nothing. It asks for your answer, and an administrator decides after you."),
      ...toDecision(site, "See it and answer", question),
      paragraph("If you do not know them, say so there, or ignore this mail: no access comes from ignoring it."),
      whomToAsk(site),
    ],
  );
}

/** To the sponsor: somebody is theirs from now on, and how to end that access. */
export function sponsoring(site: Site, users: readonly SponsoredUser[], question: MailedQuestion): Letter {
  const [only] = users.length === 1 ? users : [];
  const subject =
    only === undefined
      ? `You answer for ${users.length} people on ${site.host}`
      : `You answer for ${line(only.username)} on ${site.host}`;
  return letter(subject, [
    paragraph("Hello,"),
    paragraph(
      `You are named, with this address, as the person who answers for the access of ${only === undefined ? `${users.length} people` : line(only.username)} to ${whose(site)}.`,
    ),
    ...(only === undefined ? several(users) : facts(only)),
    ...ending(site, only === undefined ? "any of them" : "they", question),
    whomToAsk(site, "Do you not answer for them?"),
  ]);
}

/** To the sponsor: the access of somebody who is theirs ends soon. */
export function sponsoredEnds(
  site: Site,
  user: SponsoredUser,
  { soon, question }: { readonly soon: string; readonly question: MailedQuestion },
): Letter {
  return letter(`The access of ${line(user.username)} to ${site.host} ends ${soon}`, [
    paragraph("Hello,"),
    paragraph(
      `The access of ${line(user.username)} to ${whose(site)} ends ${soon}. You are named as the person who answers for them.`,
    ),
    ...facts(user),
    paragraph("If it is needed for longer, ask for an extension before that date. If not, there is nothing to do."),
    ...ending(site, "they", question),
    whomToAsk(site),
  ]);
}

function facts(user: SponsoredUser): readonly Block[] {
  return [
    fact("Account", accountName(user)),
    fact("Name", user.fullName),
    fact("E-mail", user.email),
    fact("Purpose", user.purpose),
    fact("Until", endDate(user.expireAt)),
  ];
}

function several(users: readonly SponsoredUser[]): readonly Block[] {
  const shown = users
    .slice(0, SHOWN)
    .map(({ username, email, expireAt }) => fact(line(username), `${email}, until ${endDate(expireAt)}`));
  const left = users.length - shown.length;
  return left === 0 ? shown : [...shown, paragraph(`And ${left} more, who are on the page.`)];
}

/** The way to end somebody's access. */
function ending(site: Site, who: string, question: MailedQuestion): readonly Block[] {
  const verb = who === "they" ? "they are" : `${who} is`;
  return [
    paragraph(
      `If ${verb} no longer with you, end the access on this page, until ${date(question.expiresAt)}. Opening it decides nothing.`,
    ),
    ...toDecision(site, "No longer with us", question),
  ];
}

function quoted({ username, fullName, email, purpose }: SponsoredApplication): Block {
  const name = fullName === "" ? [] : [`Name: ${fullName}`];
  return quote([`Username: ${username}`, ...name, `E-mail: ${email}`, `Purpose: ${purpose === "" ? "-" : purpose}`]);
}
