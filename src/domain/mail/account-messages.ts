/** Mails to users about their account: its changes, its coming end, and its end. Pure, like messages.ts. */

import { DAY } from "../../shared/time/clock.ts";
import type { Site } from "../operation/context.ts";
import { type Block, code, date, endDate, endDay, fact, type Letter, letter, line, paragraph } from "./letter.ts";
import { toPage } from "./links.ts";
import {
  accountFacts,
  accountName,
  backAgain,
  type ConnectingUser,
  hello,
  type MailedUser,
  UNEXPECTED,
  whomToAsk,
} from "./phrases.ts";
import type { SiteWithKeys } from "./site.ts";

/** A user whose account may currently be disabled. */
export interface MailedUserWithStatus extends MailedUser {
  readonly status: "active" | "disabled" | "expired";
}

type ConnectingUserWithStatus = MailedUserWithStatus & ConnectingUser;

/** To a user whose account now lasts longer. */
export function accountExtended(site: SiteWithKeys, user: ConnectingUserWithStatus): Letter {
  return letter(`Your account on ${site.host} now lasts until ${endDay(user.expireAt)}`, [
    hello(user.username),
    paragraph(`Your account on ${site.host} has been extended.`),
    ...accountFacts(site, user),
    ...(user.status === "disabled"
      ? [paragraph("It is currently disabled, and stays so until an administrator enables it.")]
      : [paragraph("The keys that you uploaded open it until then."), ...backAgain(site, user)]),
    whomToAsk(site, UNEXPECTED),
  ]);
}

/** To a user whose account now ends sooner than `before`. */
export function accountShortened(site: Site, user: MailedUserWithStatus, before: Date): Letter {
  return letter(`Your account on ${site.host} now ends on ${endDay(user.expireAt)}`, [
    hello(user.username),
    paragraph(
      `Your account on ${site.host} now ends sooner: on ${endDate(user.expireAt)} instead of ${endDate(before)}. From then on your keys are refused.`,
    ),
    ...accountFacts(site, user),
    ...(user.status === "disabled"
      ? [paragraph("It is currently disabled, and stays so until an administrator enables it.")]
      : []),
    paragraph("Save what you want to keep before then: the home directory is deleted some time later."),
    whomToAsk(site, UNEXPECTED),
  ]);
}

/** To a user whose account can be used again. */
export function accountEnabled(site: SiteWithKeys, user: ConnectingUser): Letter {
  return letter(`Your account on ${site.host} is enabled again`, [
    hello(user.username),
    paragraph(`Your account on ${site.host} is enabled again. The keys that you uploaded open it as before.`),
    ...accountFacts(site, user),
    ...backAgain(site, user),
    whomToAsk(site, UNEXPECTED),
  ]);
}

/** To a user whose account was shut before its time; `reason` is a sentence, where there is one to tell. */
export function accountDisabled(
  site: Site,
  user: MailedUser,
  { at, reason }: { readonly at: Date; readonly reason?: string },
): Letter {
  return letter(`Your account on ${site.host} is disabled`, [
    hello(user.username),
    paragraph(
      `Your account on ${site.host} was disabled on ${date(at)}. Your keys no longer open it, and your SSH sessions have ended. Your files are kept.`,
    ),
    ...(reason === undefined ? [] : [fact("Reason", reason)]),
    ...accountFacts(site, user),
    paragraph(
      "If it is not enabled again, it ends on that date, and is deleted some time later with everything in its home directory.",
    ),
    whomToAsk(site, UNEXPECTED),
  ]);
}

/** To a user whose account is gone. */
export function accountDeleted(site: Site, user: MailedUser, { at }: { readonly at: Date }): Letter {
  return letter(`Your account on ${site.host} is deleted`, [
    hello(user.username),
    paragraph(
      `Your account ${accountName(user)} on ${site.host} was deleted on ${date(at)}, with your keys and everything in its home directory. This cannot be undone.`,
    ),
    paragraph("If you need access again, please apply for a new account."),
    ...(site.console ? [toPage(site, "Apply for access", "apply")] : []),
    whomToAsk(site, UNEXPECTED),
  ]);
}

/** To the address that a user had until now: it is no longer theirs as far as the service knows. */
export function addressRemoved(site: Site, user: MailedUser, { at }: { readonly at: Date }): Letter {
  return letter(`Mail about your account on ${site.host} now goes to another address`, [
    hello(user.username),
    paragraph(
      `The e-mail address of your account was changed on ${date(at)}. Mail about it, and the one-time codes to log in with, no longer come here.`,
    ),
    ...accountFacts(site, user),
    paragraph(
      "If you did not ask for this, tell the administrators at once: whoever reads the other mailbox can log in as you.",
    ),
    whomToAsk(site),
  ]);
}

/** To the address that a user has from now on. */
export function addressSet(site: SiteWithKeys, user: ConnectingUserWithStatus, { at }: { readonly at: Date }): Letter {
  return letter(`This is now the address of your account on ${site.host}`, [
    hello(user.username),
    paragraph(
      `This became the e-mail address of your account on ${date(at)}. Mail about it, and the one-time codes to log in with, come here from now on.`,
    ),
    ...accountFacts(site, user),
    ...(user.status === "active" ? backAgain(site, user) : []),
    paragraph(
      "If you know nothing about this account, please tell the administrators: the mail was meant for somebody else.",
    ),
    whomToAsk(site),
  ]);
}

/** To the user, or to the supervisor where `to` says so: access ends soon. */
export function expiryReminder(
  site: Site,
  user: MailedUserWithStatus,
  { now, to }: { readonly now: Date; readonly to: "user" | "supervisor" },
): Letter {
  const left = Math.max(1, Math.ceil((user.expireAt.getTime() - now.getTime()) / DAY));
  const soon = left === 1 ? "within a day" : `in ${left} days`;
  const own = to === "user";
  const disabled = user.status === "disabled" ? " It is currently disabled." : "";
  return letter(`${own ? "Your access" : `The access of ${line(user.username)}`} to ${site.host} ends ${soon}`, [
    own ? hello(user.username) : paragraph("Hello,"),
    paragraph(
      `${own ? "Your account" : `The account of ${line(user.username)}`} on ${site.host} ends ${soon}.${disabled} From then on its keys are refused.${own ? "" : " You are named as the supervisor."}`,
    ),
    ...accountFacts(site, user),
    ...(own
      ? [
          paragraph(
            `If you need it for longer, ask for ${site.console ? "more time" : "an extension"} before that date.`,
          ),
          // Nobody who is disabled can log in to ask.
          ...(user.status === "active" ? moreTime(site) : []),
          paragraph(
            "If not, there is nothing to do, but save what you want to keep: the home directory is deleted some time later.",
          ),
        ]
      : [
          paragraph(
            "If it is needed for longer, ask for an extension before that date. If not, there is nothing to do.",
          ),
        ]),
    whomToAsk(site),
  ]);
}

/** To the user: access has ended; `recycleAt` is when the account and its files are deleted. */
export function expired(site: Site, user: MailedUser, recycleAt: Date): Letter {
  return letter(`Your access to ${site.host} has ended`, [
    hello(user.username),
    paragraph(
      `Your account on ${site.host} has expired. Your keys no longer open it, and your SSH sessions have ended.`,
    ),
    fact("Account", accountName(user)),
    fact("Ended", endDate(user.expireAt)),
    paragraph(
      "Stop what still logs in by itself (scripts, synchronisation, an editor). A server that has refused several logins may refuse everybody behind the same address for some minutes.",
    ),
    paragraph(
      `The account and everything in its home directory will be deleted on ${date(recycleAt)}. If you still need it, ask the administrators for an extension before then: you will find everything as it was.`,
    ),
    whomToAsk(site),
  ]);
}

/** To a user who was there before the terms of use, or before these. */
export function termsAsked(site: Site, user: Pick<MailedUser, "username">): Letter {
  return letter(`Terms of use for ${site.host}`, [
    hello(user.username),
    paragraph(`The terms of use for ${site.host} are new, or have changed. Please log in, read them, and accept them.`),
    ...(site.console ? [toPage(site, "Read the terms of use", "me")] : [code(`GET ${site.baseUrl}/api/v1/me/terms`)]),
    paragraph("Until then your keys open the account as before."),
    whomToAsk(site),
  ]);
}

/** A request for more time is reviewed by an administrator, as an application is. */
function moreTime(site: Site): readonly Block[] {
  return site.console ? [toPage(site, "Ask for more time", "me")] : [];
}
