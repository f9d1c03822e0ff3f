/** What every mail says. Pure; all values may come from strangers and cannot break out of the line they stand on. */

import { DAY } from "../../shared/clock.ts";
import { type Block, code, date, fact, type Letter, letter, line, link, paragraph } from "./letter.ts";

/** What all mails of one installation have in common. */
export interface Site {
  /** Without a slash at its end, as in `https://uam.example.org`. */
  readonly baseUrl: string;
  /** The name of the host that the accounts are for, as one gives it to `ssh`. */
  readonly host: string;
}

/** A user as the mails need it; `host_account` is `ext_` and the username. */
export interface MailedUser {
  readonly username: string;
  readonly expireAt: Date;
}

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
    paragraph(`Hello ${line(username)},`),
    paragraph(`this is your code to log in to the user access management of ${site.host}:`),
    code(line(oneTime)),
    paragraph(
      `It is good for ${minutes(ttl)} and works once. Nobody will ever ask you for it, by telephone or by mail.`,
    ),
    paragraph("If you did not ask for a code, you can ignore this mail: without the code nobody gets in."),
  ]);
}

/** To an administrator who forgot the password: the token that sets a new one. */
export function adminReset(
  site: Site,
  { username, token, ttl }: { readonly username: string; readonly token: string; readonly ttl: number },
): Letter {
  return letter(`Reset your administrator password for ${site.host}`, [
    paragraph(`Hello ${line(username)},`),
    paragraph(`somebody, probably you, asked to reset your administrator password on ${site.host}. Your reset token:`),
    code(line(token)),
    paragraph(
      `It is good for ${minutes(ttl)} and works once. Send it with the new password (15 characters or more) to the service:`,
    ),
    code(`POST ${site.baseUrl}/api/v1/auth/admin/reset\n{"token": "…", "new_password": "…"}`),
    paragraph(
      "The reset ends all your sessions and lifts a lock. If you did not ask for it, ignore this mail; your password stays as it is.",
    ),
  ]);
}

/** To the administrators: somebody applied for access. */
export function applicationReceived(
  site: Site,
  { id, ...application }: MailedApplication & { readonly id: number },
): Letter {
  return letter(`Access application from ${line(application.username)}`, [
    paragraph(`An application for access to ${site.host} waits for your review.`),
    ...applicationFacts(application),
    paragraph("Nothing in it has been checked. To see it and decide:"),
    link(`${site.baseUrl}/api/v1/approvals?status=pending`),
    code(`POST ${site.baseUrl}/api/v1/approvals/${id}/review\n{"approve": true, "reason": ""}`),
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
    ...items.map(({ username, email }) => fact(line(username), email)),
    ...(left > 0 ? [paragraph(`And ${left} more.`)] : []),
    paragraph("Nothing in them has been checked. To see them and decide:"),
    link(`${site.baseUrl}/api/v1/approvals?status=pending`),
  ]);
}

/** To the applicant: the application has arrived. Says nothing of what is known of the name. */
export function applicationArrived(site: Site, { username }: { readonly username: string }): Letter {
  return letter(`Your application for ${site.host} has arrived`, [
    paragraph(`Hello ${line(username)},`),
    paragraph(
      `we have received an application for access to ${site.host} under the username ${line(username)}, with this address. An administrator will decide, and you will get a mail with the outcome.`,
    ),
    paragraph("If you did not apply, you can ignore this mail."),
  ]);
}

/** To the applicant: access is granted, and how to begin. */
export function applicationApproved(site: Site, user: MailedUser): Letter {
  const { username } = user;
  return letter(`Your access to ${site.host} is ready`, [
    paragraph(`Hello ${line(username)},`),
    paragraph(
      `your application was approved. Your account on ${site.host} is ext_${line(username)}, until ${date(user.expireAt)}.`,
    ),
    ...firstSteps(site, username),
  ]);
}

/** To the applicant: an approval for which no account was made yet (`create_user: false`). */
export function applicationApprovedLater(site: Site, { username }: { readonly username: string }): Letter {
  return letter(`Your application for ${site.host} is approved`, [
    paragraph(`Hello ${line(username)},`),
    paragraph(
      "your application was approved. An administrator will make your account; until then there is nothing for you to do.",
    ),
  ]);
}

/** To the applicant: access is refused, and why. */
export function applicationRejected(
  site: Site,
  { username, reason }: { readonly username: string; readonly reason: string },
): Letter {
  return letter(`Your application for ${site.host}`, [
    paragraph(`Hello ${line(username)},`),
    paragraph(`your application for access to ${site.host} was not approved. The reason given:`),
    fact("Reason", reason),
    paragraph("If something in it can be put right, you are welcome to apply again."),
  ]);
}

/** To a user whom an administrator created without an application: the account, and how to begin. */
export function accountCreated(site: Site, user: MailedUser): Letter {
  return letter(`Your account on ${site.host}`, [
    paragraph(`Hello ${line(user.username)},`),
    paragraph(
      `you have been given the account ext_${line(user.username)} on ${site.host}, until ${date(user.expireAt)}.`,
    ),
    ...firstSteps(site, user.username),
  ]);
}

/** To the user, or to the supervisor where `to` says so: access ends soon. */
export function expiryReminder(
  site: Site,
  user: MailedUser,
  { now, to }: { readonly now: Date; readonly to: "user" | "supervisor" },
): Letter {
  const account = `ext_${line(user.username)}`;
  const left = Math.max(1, Math.ceil((user.expireAt.getTime() - now.getTime()) / DAY));
  const soon = left === 1 ? "within a day" : `in ${left} days`;
  const whose = to === "user" ? "Your access" : `The access of ${line(user.username)}`;
  return letter(`${whose} to ${site.host} ends ${soon}`, [
    paragraph(to === "user" ? `Hello ${line(user.username)},` : "Hello,"),
    paragraph(
      `${to === "user" ? "your" : "the"} account ${account} on ${site.host} ends on ${date(user.expireAt)}. From then on its keys are refused.`,
    ),
    paragraph(
      to === "user"
        ? "If you need it for longer, please ask an administrator to extend it. If not, there is nothing to do, but save what you want to keep: the home directory is deleted some time after."
        : "You are named as the supervisor. If the account is needed for longer, please ask an administrator to extend it; if not, there is nothing to do.",
    ),
  ]);
}

/** To the user: access has ended; `recycleAt` is when the account and its files are deleted. */
export function expired(site: Site, user: MailedUser, recycleAt: Date): Letter {
  return letter(`Your access to ${site.host} has ended`, [
    paragraph(`Hello ${line(user.username)},`),
    paragraph(
      `your account ext_${line(user.username)} on ${site.host} ended on ${date(user.expireAt)}. Your keys no longer open it.`,
    ),
    paragraph(
      `The account and everything in its home directory will be deleted on ${date(recycleAt)}. Until then an administrator can extend it, and you will find all as it was.`,
    ),
  ]);
}

/** To the user: a key was added to the account. */
export function keyAdded(site: Site, username: string, key: MailedKey): Letter {
  return letter(`A key was added to your account on ${site.host}`, [
    paragraph(`Hello ${line(username)},`),
    paragraph(`from now on this key opens your account ext_${line(username)} on ${site.host}:`),
    ...keyFacts(key),
    paragraph("If that was not you, revoke the key at once and tell an administrator."),
  ]);
}

/** To the user: a key was revoked. */
export function keyRemoved(site: Site, username: string, key: MailedKey): Letter {
  return letter(`A key was removed from your account on ${site.host}`, [
    paragraph(`Hello ${line(username)},`),
    paragraph(`this key no longer opens your account ext_${line(username)} on ${site.host}:`),
    ...keyFacts(key),
    paragraph("If that was not you, tell an administrator."),
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
    paragraph("Please check the clock. If it is right, this goes on at once:"),
    code("uam recycle --now"),
  ]);
}

/** To the administrators, daily: the head of the audit log, so that a log rewritten later can be told from the true one. */
export function auditHead(
  site: Site,
  { at, count, head }: { readonly at: Date; readonly count: number; readonly head: string },
): Letter {
  return letter(`${site.host}: audit log head of ${date(at)}`, [
    paragraph(`The audit log of ${site.host} held ${count} records at ${date(at)}. The seal of the last one:`),
    code(line(head)),
    paragraph("Keep this mail: whoever changes a record up to here changes this seal. To check the log:"),
    code("uam audit verify"),
  ]);
}

function firstSteps(site: Site, username: string): readonly Block[] {
  const api = `${site.baseUrl}/api/v1`;
  return [
    paragraph(
      `1. Log in with the username ${line(username)} (without ext_). There is no password: a one-time code comes to this mailbox.`,
    ),
    link(site.baseUrl),
    paragraph("2. Make a key if you have none, and upload the public half, the file that ends in .pub:"),
    code("ssh-keygen -t ed25519"),
    paragraph("3. Connect:"),
    code(`ssh ext_${line(username)}@${site.host}`),
    paragraph("Without a web page at that address, steps 1 and 2 are these calls:"),
    code(`GET ${api}/auth/captcha\nPOST ${api}/auth/otp/send\nPOST ${api}/auth/otp/login\nPOST ${api}/me/keys`),
  ];
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
