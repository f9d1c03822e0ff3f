/** Mails about users who lock their own account or ask for more time. Pure, like messages.ts. */

import { counted } from "../../shared/text/counted.ts";
import type { Site } from "../operation/context.ts";
import { code, date, endDate, fact, type Letter, letter, line, paragraph } from "./letter.ts";
import { toPage, toUser } from "./links.ts";
import { accountName, hello, whomToAsk } from "./phrases.ts";

/** A user who locked their own account. */
export interface MailedLock {
  readonly at: Date;
  /** The address that the request came from; "" where it is not known. */
  readonly from: string;
  /** Steps that the host could not do yet, in sentences. */
  readonly owed: readonly string[];
}

/** To the administrators: a user says that somebody else is at their account. */
export function lockedByOwner(
  site: Site,
  user: { readonly id: number; readonly username: string; readonly email: string },
  { at, from, owed }: MailedLock,
): Letter {
  const username = line(user.username);
  return letter(`${site.host}: ${username} shut their account: "This was not me"`, [
    paragraph(
      `${username} reported something that was not their doing, and shut the account. Somebody else may have had access to it.`,
    ),
    fact("Account", accountName(user)),
    fact("E-mail", user.email),
    fact("When", date(at)),
    fact("From", from),
    ...owed.map((sentence) => fact("Left to do", sentence)),
    paragraph(
      `${owed.length === 0 ? "No key opens the account now, and everything that ran in it has ended." : "The service keeps trying until all of it is done."} Their sessions with this service have ended, and a code that was mailed is void. The files are kept.`,
    ),
    paragraph(
      "Ask them, by another way than mail, what they saw. Then look at what was done in their name, from which addresses, and at the keys:",
    ),
    ...(site.console ? [toUser(site, user.id)] : [code(`uam audit list --user ${username}\nuam key list ${username}`)]),
    paragraph(
      "Revoke the keys that are not theirs. If somebody else may read their mail, change the address first: whoever reads it can log in as them. Only then enable the account again.",
    ),
    ...(site.console ? [] : [code(`uam user enable ${username}`)]),
  ]);
}

/** To the user: the account is shut, by somebody who was logged in as them. */
export function lockedByYou(site: Site, user: { readonly username: string }, { at, from, owed }: MailedLock): Letter {
  return letter(`Your account on ${site.host} is shut`, [
    hello(user.username),
    paragraph(`Somebody who was logged in as you chose "This was not me" for your account on ${site.host}.`),
    fact("Account", accountName(user)),
    fact("When", date(at)),
    fact("From", from),
    paragraph(
      `${owed.length === 0 ? "Your keys no longer open the account, and your sessions have ended." : "Not all of it could be done at once; the service keeps trying."} Your files are kept. The administrators have been told, and only they can open the account again.`,
    ),
    whomToAsk(site, "What to do next?"),
  ]);
}

/** A request for more time. */
export interface MailedRequest {
  readonly id: number;
  readonly username: string;
  readonly email: string;
  readonly supervisor: string;
  /** Why. */
  readonly purpose: string;
  readonly days: number | null;
}

/** To the administrators: a user asks for more time. */
export function extensionRequested(site: Site, request: MailedRequest): Letter {
  const username = line(request.username);
  return letter(`${username} asks for more time on ${site.host}`, [
    paragraph(`A request for more time on ${site.host} is waiting for your review.`),
    fact("Username", username),
    fact("E-mail", request.email),
    fact("Supervisor", request.supervisor),
    fact("For", daysMore(request.days)),
    fact("Reason", request.purpose),
    ...(site.console
      ? [toPage(site, "See it and decide", "applications")]
      : [
          paragraph("To see the user, and decide:"),
          code(
            `uam user show ${username}\nuam approval approve ${request.id}\nuam approval reject ${request.id} --reason TEXT`,
          ),
        ]),
  ]);
}

/** To the administrators: people applied, and users asked for more time or for access; `items` are the first of them. */
export function requestsReceived(
  site: Site,
  {
    total,
    extensions,
    accesses = 0,
    items,
  }: {
    readonly total: number;
    readonly extensions: number;
    readonly accesses?: number;
    readonly items: readonly (Omit<MailedRequest, "id"> & { readonly hours?: number | null })[];
  },
): Letter {
  const left = total - items.length;
  const numbers = { access: total - extensions - accesses, "more time": extensions, "some hours": accesses };
  const said = Object.entries(numbers)
    .filter(([, number]) => number > 0)
    .map(([what, number]) => `${number} for ${what}`)
    .join(", ");
  return letter(`${total} new requests for ${site.host}`, [
    paragraph(`Since the last mail about applications, these came for ${site.host}: ${said}.`),
    ...items.map(({ username, email, days, hours = null }) => {
      const more = [...(days === null ? [] : [daysMore(days)]), ...(hours === null ? [] : [counted(hours, "hour")])];
      return fact(line(username), [email, ...more].join(", "));
    }),
    ...(left > 0 ? [paragraph(`And ${left} more.`)] : []),
    paragraph("Nothing in applications for access has been checked."),
    ...(site.console
      ? [toPage(site, "See them and decide", "applications")]
      : [paragraph("To see all of them and decide:"), code("uam approval list --status pending")]),
  ]);
}

/** To the user: they get no more time, and why. `expireAt` is undefined for a user who is gone. */
export function extensionRejected(
  site: Site,
  {
    username,
    reason,
    expireAt,
  }: { readonly username: string; readonly reason: string; readonly expireAt: Date | undefined },
): Letter {
  return letter(`Your request for more time on ${site.host}`, [
    hello(username),
    paragraph(`Your request for more time on ${site.host} was not approved. The reason given:`),
    fact("Reason", reason),
    ...(expireAt === undefined ? [] : [paragraph(`Nothing has changed: your access ends on ${endDate(expireAt)}.`)]),
    ...(expireAt === undefined || !site.console ? [] : [toPage(site, "See your account", "me")]),
    whomToAsk(site),
  ]);
}

function daysMore(days: number | null): string {
  return days === 1 ? "1 day more" : `${days ?? 0} days more`;
}
