/** The texts of mails about codes, applications, accounts and keys; the other *-messages.ts have the rest. Pure; all values may come from strangers and cannot break out of the line they are on. */

import type { Site } from "../operation/context.ts";
import { whenOpen } from "./hours-phrases.ts";
import {
  type Block,
  button,
  code,
  date,
  endDate,
  fact,
  type Letter,
  letter,
  line,
  link,
  paragraph,
  token as secret,
} from "./letter.ts";
import { loginLink, resetLink, toPage } from "./links.ts";
import {
  accountFacts,
  accountName,
  type ConnectingUser,
  firstSteps,
  hello,
  howToConnect,
  jobsGone,
  type MailedJobs,
  type MailedUser,
  notMe,
  whomToAsk,
  yourKeys,
} from "./phrases.ts";
import type { SiteWithKeys } from "./site.ts";

export interface MailedApplication {
  readonly username: string;
  readonly email: string;
  readonly supervisor: string;
  readonly purpose: string;
}

export interface MailedKey {
  readonly name: string;
  readonly type: string;
  readonly fingerprint: string;
}

/** To a user who asked for one: the code to log in with. */
export function oneTimeCode(
  site: Site,
  { username, oneTime, ttl }: { readonly username: string; readonly oneTime: string; readonly ttl: number },
): Letter {
  return letter(`Your code for ${site.host}`, [
    hello(username),
    paragraph(`This is your code to log in to the user access management of ${site.host}:`),
    secret(oneTime),
    ...(site.console
      ? [
          paragraph(
            "Type it where you asked for it, or open this page: it fills in the code, and you press the button.",
          ),
          button("Log in", loginLink(site, username, oneTime)),
        ]
      : []),
    paragraph(
      `It is valid for ${minutes(ttl)} and works once. Nobody will ever ask you for it, by telephone or by mail.`,
    ),
    paragraph(
      "If you did not ask for a code, ignore this mail: without the code nobody can log in. If it happens again, tell the administrators.",
    ),
    whomToAsk(site),
  ]);
}

/** To an administrator who forgot the password: the token that sets a new one. */
export function adminReset(
  site: Site,
  { username, token, ttl }: { readonly username: string; readonly token: string; readonly ttl: number },
): Letter {
  return letter(`Reset your administrator password for ${site.host}`, [
    hello(username),
    paragraph(`Somebody, probably you, asked to reset your administrator password on ${site.host}.`),
    ...(site.console ? resetOnPage(site, token, ttl) : resetByHand(site, token, ttl)),
    paragraph(
      "The reset ends all your sessions, revokes your tokens for machines and lifts a lockout. If you did not ask for it, ignore this mail: your password stays as it is.",
    ),
  ]);
}

/** To the administrators: somebody applied for access. */
export function applicationReceived(
  site: Site,
  { id, ...application }: MailedApplication & { readonly id: number },
): Letter {
  return letter(`Access application from ${line(application.username)}`, [
    paragraph(`An application for access to ${site.host} is waiting for your review.`),
    ...applicationFacts(application),
    paragraph("Nothing in it has been checked."),
    ...(site.console
      ? [toPage(site, "See it and decide", "applications")]
      : [...pendingByHand(site, "it"), code(reviewByHand(site, id))]),
  ]);
}

/** To the administrators: several people applied since the last mail; `items` are the first of them. */
export function applicationsReceived(
  site: Site,
  { total, items }: { readonly total: number; readonly items: readonly MailedApplication[] },
): Letter {
  const left = total - items.length;
  return letter(`${total} new applications for ${site.host}`, [
    paragraph(`${total} people applied for access to ${site.host} since the last mail about applications:`),
    ...items.map(({ username, email }) => fact("Applicant", `${username}, ${email}`)),
    ...(left > 0 ? [paragraph(`And ${left} more.`)] : []),
    paragraph("Nothing in them has been checked."),
    ...(site.console ? [toPage(site, "See them and decide", "applications")] : pendingByHand(site, "them")),
  ]);
}

/** To the applicant: the application has arrived. Does not reveal whether the name is taken. */
export function applicationArrived(site: Site, { username }: { readonly username: string }): Letter {
  return letter(`Your application for ${site.host} has arrived`, [
    paragraph(`Hello ${line(username)},`),
    paragraph(
      `We have received an application for access to ${site.host} under the username ${line(username)}, with this address. An administrator will decide, and you will get a mail with the outcome.`,
    ),
    paragraph("If you did not apply, you can ignore this mail."),
  ]);
}

/** To the applicant: access is granted, and how to begin. */
export function applicationApproved(site: SiteWithKeys, user: ConnectingUser): Letter {
  return letter(`Your access to ${site.host} is ready`, [
    hello(user.username),
    paragraph(`Your application was approved, and your account on ${site.host} is ready.`),
    ...accountFacts(site, user),
    ...whenOpen(user),
    ...firstSteps(site, user),
    paragraph("If you did not apply, please tell the administrators, and do nothing else."),
    whomToAsk(site),
  ]);
}

/** To the applicant: an approval for which no account was created yet (`create_user: false`). */
export function applicationApprovedLater(site: Site, { username }: { readonly username: string }): Letter {
  return letter(`Your application for ${site.host} is approved`, [
    hello(username),
    paragraph(
      "Your application was approved. An administrator will create your account, and another mail will tell you how to begin. Until then there is nothing for you to do.",
    ),
    whomToAsk(site),
  ]);
}

/** To the applicant: access is refused, and why. */
export function applicationRejected(
  site: Site,
  { username, reason }: { readonly username: string; readonly reason: string },
): Letter {
  return letter(`Your application for ${site.host}`, [
    hello(username),
    paragraph(`Your application for access to ${site.host} was not approved. The reason given:`),
    fact("Reason", reason),
    paragraph("If that can be resolved, you are welcome to apply again."),
    ...(site.console ? [toPage(site, "Apply again", "apply")] : []),
    whomToAsk(site),
  ]);
}

/** To a user whom an administrator created without an application: the account, and how to begin. */
export function accountCreated(site: SiteWithKeys, user: ConnectingUser): Letter {
  return letter(`Your account on ${site.host}`, [
    hello(user.username),
    paragraph(`You have been given an account on ${site.host}.`),
    ...accountFacts(site, user),
    ...whenOpen(user),
    ...firstSteps(site, user),
    paragraph("If you do not expect an account there, please tell the administrators, and do nothing else."),
    whomToAsk(site),
  ]);
}

/** To the user: a key was added to the account. */
export function keyAdded(site: SiteWithKeys, user: ConnectingUser, key: MailedKey): Letter {
  return letter(`A key was added to your account on ${site.host}`, [
    hello(user.username),
    paragraph(`From now on this key opens your account ${accountName(user)} on ${site.host}:`),
    ...keyFacts(key),
    fact("Until", endDate(user.expireAt)),
    paragraph("To connect:"),
    ...howToConnect(site, user),
    ...(site.console
      ? [...yourKeys(site, user), ...notMe(site, "If you did not add it")]
      : [
          paragraph(
            "If you did not add it, revoke it at once and tell the administrators. Log in with a one-time code here:",
          ),
          link(site.baseUrl),
        ]),
    whomToAsk(site),
  ]);
}

/** To the user: a key was revoked, and their scheduled jobs on the host are gone, if there were any. */
export function keyRemoved(site: Site, user: MailedUser, key: MailedKey, jobs: MailedJobs): Letter {
  return letter(`A key was removed from your account on ${site.host}`, [
    hello(user.username),
    paragraph(`This key no longer opens your account ${accountName(user)} on ${site.host}:`),
    ...keyFacts(key),
    ...jobsGone(jobs),
    paragraph(`Nothing else has changed: the account lasts until ${endDate(user.expireAt)}.`),
    ...(site.console
      ? [...yourKeys(site, user), ...notMe(site, "If you did not remove it")]
      : [paragraph("If you did not remove it, tell the administrators at once.")]),
    whomToAsk(site),
  ]);
}

/** To the administrators: the clock jumped or the service was stopped, and nothing is deleted until `resumesAt`. */
export function clockJump(
  site: Site,
  { from, to, resumesAt }: { readonly from: Date; readonly to: Date; readonly resumesAt: Date },
): Letter {
  return letter(`${site.host}: recycling is on hold after a gap in time`, [
    paragraph(
      `The service on ${site.host} last noted the time as ${date(from)}; now its clock says ${date(to)}. It was stopped, or the clock was set.`,
    ),
    paragraph(
      `To be safe, no account is recycled and no audit record purged until ${date(resumesAt)}. Expiry works as always.`,
    ),
    paragraph("Please check the clock. If it is right, end the wait with:"),
    code("uam recycle --now"),
  ]);
}

/** To the administrators, daily: the head of the audit log, so that a log rewritten later can be told from the original. */
export function auditHead(
  site: Site,
  { at, count, head }: { readonly at: Date; readonly count: number; readonly head: string },
): Letter {
  return letter(`${site.host}: audit log head of ${date(at)}`, [
    paragraph(`The audit log of ${site.host} held ${count} records at ${date(at)}. The seal of the last one:`),
    code(line(head)),
    paragraph("Keep this mail: whoever changes a record up to here changes this seal. To check the log:"),
    code("uam audit verify"),
    ...(site.console ? [toPage(site, "See the audit log", "audit")] : []),
  ]);
}

function resetOnPage(site: Site, token: string, ttl: number): readonly Block[] {
  return [
    paragraph(`Open this page to set a new one of 15 characters or more. It works once, within ${minutes(ttl)}.`),
    button("Set a new password", resetLink(site, token)),
    paragraph("If the page asks for the reset token, it is this:"),
    code(token),
  ];
}

function resetByHand(site: Site, token: string, ttl: number): readonly Block[] {
  return [
    paragraph("Your reset token:"),
    code(token),
    paragraph(
      `It is valid for ${minutes(ttl)} and works once. Send it with the new password (15 characters or more) to the service:`,
    ),
    code(`POST ${site.baseUrl}/api/v1/auth/admin/reset\n{"token": "…", "new_password": "…"}`),
  ];
}

function pendingByHand(site: Site, what: "it" | "them"): readonly Block[] {
  return [paragraph(`To see ${what} and decide:`), link(`${site.baseUrl}/api/v1/approvals?status=pending`)];
}

function reviewByHand(site: Site, id: number): string {
  return `POST ${site.baseUrl}/api/v1/approvals/${id}/review\n{"approve": true, "reason": ""}`;
}

function applicationFacts({ username, email, supervisor, purpose }: MailedApplication): readonly Block[] {
  return [fact("Username", username), fact("E-mail", email), fact("Supervisor", supervisor), fact("Purpose", purpose)];
}

function keyFacts({ name, type, fingerprint }: MailedKey): readonly Block[] {
  return [fact("Name", name), fact("Type", type), fact("Fingerprint", fingerprint)];
}

function minutes(milliseconds: number): string {
  const count = Math.max(1, Math.floor(milliseconds / 60_000));
  return count === 1 ? "one minute" : `${count} minutes`;
}
