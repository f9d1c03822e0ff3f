/** The page about administrators. */

import type { AdminRole } from "../../../shared/product/statuses.ts";
import { count, inLanguage } from "../language.ts";

const explained: Readonly<Record<AdminRole, string>> = {
  owner: "Everything, also the settings and the administrators themselves.",
  operator: "The daily work: users, their keys and sessions, applications. No settings, no audit log.",
  reviewer: "Decides applications, and so who gets access and for how long. Sees no users.",
  auditor: "Reads everything, changes nothing.",
};

const en = {
  title: "Administrators",
  lead: "Who looks after the users of this service, and what each may do.",
  caption: "Administrators, newest first",
  columns: {
    ...{ name: "Name", role: "Role", status: "Status", email: "E-mail" },
    ...{ factor: "Second factor", login: "Last login", act: "Change" },
  },
  you: "you",
  status: { active: "active", invited: "invited" },
  invitedHint: "no password yet",
  ssoHint: "by single sign-on",
  never: "never",
  factors: { both: "Passkey and app", passkey: "Passkey", app: "App", none: "None" },
  factorMissing: (has: string) => `${has}, which is not enough here`,
  empty: "This page is past the end of the list.",
  shell: "If no owner can log in any more, make one at the shell of the host:",
  shellLabel: "Command that adds an administrator at the shell",
  explained,
  rolesTitle: "What the roles may do",
  invite: {
    open: "Invite an administrator",
    title: "Invite an administrator",
    name: "Name",
    nameHint: "To log in with: 1 to 64 of a–z, 0–9, dot, _ and -.",
    nameError: "Use 1 to 64 of a–z, 0–9, dot, _ and -, beginning and ending with a letter or digit.",
    email: "E-mail address",
    emailHint: "The link that sets the password goes here.",
    emailError: "Type the e-mail address.",
    role: "Role",
    submit: "Send the invitation",
    busy: "Sending the invitation …",
    done: (name: string, email: string) =>
      `${name} is invited: a link that sets the password is on its way to ${email}. It works once, within 72 hours; after that, “Forgotten your password?” at the login sends another one.`,
  },
  change: {
    open: "Change",
    openOf: (name: string) => `Change ${name}`,
    title: (name: string) => `Change ${name}`,
    own: "This is you. Only another owner can give back a role that you take from yourself.",
    emailHint: "A new address voids a link that was mailed to the old one; both addresses are told.",
    roleHint: "It holds at once, in open sessions too. Tokens and invitations of theirs that it does not allow end.",
    ssoRole: "Their role comes from single sign-on at each login; it is changed at the provider.",
    submit: "Save the changes",
    busy: "Saving …",
    nothing: "Nothing is different yet.",
    done: (name: string) => `${name} is changed.`,
  },
  endSessions: {
    open: "End sessions",
    openOf: (name: string) => `End sessions of ${name}`,
    title: (name: string) => `End the sessions of ${name}`,
    text: "They are logged out everywhere, and log in again. Their tokens for machines stay; those are revoked on the page Tokens.",
    own: "This is you: this session ends, too.",
    submit: "End the sessions",
    busy: "Ending the sessions …",
    done: (name: string, sessions: number) =>
      sessions === 0 ? `${name} had no open session.` : `${count(sessions, "session", "sessions")} of ${name} ended.`,
  },
  remove: {
    open: "Remove",
    openOf: (name: string) => `Remove ${name}`,
    title: (name: string) => `Remove ${name}`,
    effects: [
      "They are logged out everywhere and cannot log in again.",
      "Their tokens for machines end. So do the tokens for joining hosts and the invitations that they made, unless they are used, and those whom they let in again do not come in unless they have.",
      "What they did stays in the audit log.",
      "The users and keys stay as they are.",
    ],
    webhooks:
      "These webhooks that they made stay and go on, so that no receiver misses anything. Look whether they should:",
    ssoEffect: "They do not come in again by single sign-on, until an owner lets them in again, on this page.",
    own: "This is you: your session ends at once.",
    confirm: (name: string) => `Type ${name} to confirm`,
    confirmError: (name: string) => `Type the name exactly: ${name}`,
    submit: "Remove for good",
    busy: "Removing …",
    done: (name: string) => `${name} is removed and logged out everywhere.`,
  },
  removed: {
    title: "Removed, and not let in again",
    text: "The provider may still give them a role; here they were removed, and that holds.",
    caption: "Who was removed and does not come in again by single sign-on, newest first",
    provider: "At the provider",
    first: "Came first",
    open: "Let in again",
    openOf: (name: string) => `Let in again: ${name}`,
    titleOf: (name: string) => `Let ${name} in again`,
    effect:
      "At their next login by single sign-on they are an administrator again, with the role that the provider gives them.",
    submit: "Let them in again",
    busy: "Letting them in …",
    done: (name: string) => `${name} may come in again by single sign-on.`,
  },
  lastOwner: {
    title: "Nobody else is an owner who can log in",
    text: "Without an owner, nobody could look after the administrators here. Make somebody else an owner first; one who is only invited does not count until they have set a password.",
  },
};

export const adminsTexts = inLanguage({ en });
