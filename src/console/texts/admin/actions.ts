/** The actions of the audit log, in words for administrators. */

import type { AnswerOf } from "../../../contract/contract.ts";
import { count, inLanguage } from "../language.ts";
import {
  type ActionWords,
  accessOf,
  action,
  fields,
  named,
  of,
  SWITCHED,
  theKey,
  until,
  user,
  WAYS,
  webhook,
  whose,
} from "./action-words.ts";

export type AuditAction = AnswerOf<"GET /audit">["items"][number]["action"];

const actions: Readonly<Record<AuditAction | "session.end", ActionWords>> = {
  "auth.admin_login": action("Administrator logs in", ({ way }) => {
    const how = WAYS[way] === undefined ? "" : ` with ${WAYS[way]}`;
    return [`logged in${how}`, `log in as an administrator${how}`];
  }),
  "auth.admin_password_only": action("Right password, without a second factor", (facts) => [
    `showed the right password${whose(facts)}, and nothing else`,
    `log in${whose(facts)} with the right password, and nothing else`,
  ]),
  "auth.changes_refused": action("Too many changes", () => [
    "made too many changes within a minute",
    "make more changes within a minute than are let through",
  ]),
  "auth.otp_send": action("Login code asked for", (facts) =>
    facts.channel === "command line"
      ? [`printed a login code for ${user(facts)}`, `print a login code for ${user(facts)}`]
      : [`asked for a login code for ${user(facts)}`, `get a login code for ${user(facts)}`],
  ),
  "auth.otp_login": action("User logs in", () => ["logged in with a mailed code", "log in with a mailed code"]),
  "auth.sso_logout": action("Logout at the provider of single sign-on", (facts) => [
    `ended the sessions${whose(facts)} that ended at the provider`,
    `end the sessions${whose(facts)} that ended at the provider`,
  ]),
  "auth.logout": action("Logout", () => ["logged out", "log out"]),
  "auth.admin_forgot": action("Administrator's password forgotten", (facts) => [
    `asked for a new password${whose(facts)}`,
    `ask for a new password${whose(facts)}`,
  ]),
  "auth.admin_reset": action("Administrator's password set by a mailed link", (facts) => [
    `set a new password${whose(facts)} with a mailed link`,
    `set a new password${whose(facts)} with a mailed link`,
  ]),
  "auth.admin_password": action("Own password changed", () => ["changed their own password", "change their password"]),
  "auth.passkey_add": action("Passkey added", ({ key }) => [
    `added ${of("passkey", key)}`,
    `add ${of("passkey", key)}`,
  ]),
  "auth.passkey_rename": action("Passkey renamed", ({ key }) => [
    `renamed a passkey${key === "" ? "" : ` to ${key}`}`,
    "rename a passkey",
  ]),
  "auth.passkey_remove": action("Passkey removed", (facts) => [
    `removed ${of("passkey", facts.key)}${whose(facts)}`,
    `remove ${of("passkey", facts.key)}${whose(facts)}`,
  ]),
  "auth.totp_add": action("Authenticator app set up", () => [
    "set up an authenticator app",
    "set up an authenticator app",
  ]),
  "auth.totp_remove": action("Authenticator app removed", (facts) => [
    `removed the authenticator app${whose(facts)}`,
    `remove the authenticator app${whose(facts)}`,
  ]),
  "user.create": action("User created", (facts) => [
    `created ${user(facts)}${facts.until === "" ? "" : `,${until(facts)}`}`,
    `create ${user(facts)}`,
  ]),
  "user.update": action("User's data changed", (facts) => [
    `changed the ${fields(facts, "data")} of ${user(facts)}`,
    `change ${user(facts)}`,
  ]),
  "user.disable": action("User disabled", (facts) => [`disabled ${user(facts)}`, `disable ${user(facts)}`]),
  "user.enable": action("User enabled", (facts) => [`enabled ${user(facts)} again`, `enable ${user(facts)}`]),
  "user.terms": action("Terms accepted", () => ["accepted the terms of use", "accept the terms of use"]),
  "user.welcome": action("User welcomed", (facts) => [`welcomed ${user(facts)}`, `welcome ${user(facts)}`]),
  "user.extend": action("User extended", (facts) => [
    `extended ${user(facts)}${until(facts)}`,
    `extend ${user(facts)}`,
  ]),
  "user.shorten": action("User's end brought forward", (facts) => [
    `brought forward the end of ${user(facts)}${until(facts)}`,
    `bring forward the end of ${user(facts)}`,
  ]),
  "user.delete": action("User deleted", (facts) => [`deleted ${user(facts)}`, `delete ${user(facts)}`]),
  "user.lock": action("User shuts their own account", () => [
    "shut their own account (“this was not me”)",
    "shut their own account",
  ]),
  "user.adopt": action("Account adopted", (facts) => [`adopted ${user(facts)}`, `adopt ${user(facts)}`]),
  "user.give_back": action("Account given back", (facts) => [`gave back ${user(facts)}`, `give back ${user(facts)}`]),
  "extension.request": action("User asks for more time", ({ days }) => {
    const more = days === 0 ? "more time" : count(days, "more day", "more days");
    return [`asked for ${more}`, `ask for ${more}`];
  }),
  "extension.withdraw": action("Request for more time withdrawn", () => [
    "withdrew the request for more time",
    "withdraw the request for more time",
  ]),
  "key.update": action("Key's networks changed", (facts) => [
    `changed from where ${theKey(facts)} may be used`,
    `change from where ${theKey(facts)} may be used`,
  ]),
  "key.create": action("Key added", (facts) => [`added ${theKey(facts)}`, `add ${theKey(facts)}`]),
  "key.confirm": action("Key confirmed", (facts) => [`confirmed ${theKey(facts)}`, `confirm ${theKey(facts)}`]),
  "key.dismiss": action("Found keys dismissed", () => [
    "dismissed keys that were found",
    "dismiss keys that were found",
  ]),
  "key.rename": action("Key renamed", (facts) => [
    facts.key === "" ? "renamed a key" : `renamed a key to ${facts.key}`,
    "rename a key",
  ]),
  "key.revoke": action("Key revoked", (facts) => [
    `revoked ${theKey(facts)}${whose(facts)}`,
    `revoke ${theKey(facts)}${whose(facts)}`,
  ]),
  "session.end": action("SSH session ended", (facts) => [
    `ended an SSH session of ${user(facts)}`,
    `end an SSH session of ${user(facts)}`,
  ]),
  "approval.submit": action("Application arrives", ({ name }) => {
    const as = name === "" ? "" : ` as ${name}`;
    return [`applied for access${as}`, `apply for access${as}`];
  }),
  "approval.review": action("Application decided", (facts) => {
    const what = `the application${whose(facts)}`;
    if (facts.approved === undefined) return [`decided ${what}`, `decide ${what}`];
    return facts.approved ? [`approved ${what}`, `approve ${what}`] : [`rejected ${what}`, `reject ${what}`];
  }),
  "settings.update": action("Setting changed", ({ setting, value, old, effective }) => {
    const from = old === "" ? "" : ` from ${old}`;
    const at = effective === "" ? "" : `, in force from ${effective}`;
    return [`set ${setting}${from}${value === "" ? "" : ` to ${value}`}${at}`, `change ${setting}`];
  }),
  "lifecycle.expire": action("User expires", (facts) => [
    `ended the access of ${user(facts)}, whose time was up`,
    `end the access of ${user(facts)}, whose time was up`,
  ]),
  "lifecycle.recycle": action("Expired user deleted", (facts) => [
    `deleted ${user(facts)}, who had expired long enough ago`,
    `delete ${user(facts)}, who had expired long enough ago`,
  ]),
  "access.window": action("Hours end", (facts) => [
    `ended the sessions of ${user(facts)} with their hours`,
    `end the sessions of ${user(facts)} with their hours`,
  ]),
  "access.request": action("Access asked for", () => ["asked for access", "ask for access"]),
  "access.allow": accessOf("Access allowed", "opened", "open"),
  "access.refuse": accessOf("Access refused", "refused", "refuse"),
  "access.end": accessOf("Access ended early", "ended", "end", " before its time"),
  "admin.create": action("Administrator added", ({ name, role }) => {
    const as = role === "" ? "" : ` (${role})`;
    return [`added ${of("administrator", name)}${as}`, `add ${of("administrator", name)}${as}`];
  }),
  "admin.update": action("Administrator changed", (facts) => [
    `changed the ${fields(facts, "data")} of ${of("administrator", facts.name)}`,
    `change ${of("administrator", facts.name)}`,
  ]),
  "admin.remove": action("Administrator removed", ({ name }) => [
    `removed ${of("administrator", name)}`,
    `remove ${of("administrator", name)}`,
  ]),
  "admin.readmit": action("Removed administrator let in again", (facts) => [
    `let ${of("administrator", facts.name)} in again by single sign-on`,
    `let ${of("administrator", facts.name)} in again by single sign-on`,
  ]),
  "user.end_sessions": action("User signed out", (facts) => [`signed ${user(facts)} out`, `sign ${user(facts)} out`]),
  "admin.end_sessions": action("Administrator's sessions ended", (facts) => [
    `ended the sessions of ${of("administrator", facts.name)}`,
    `end the sessions of ${of("administrator", facts.name)}`,
  ]),
  "token.create": action("Token made", (facts) => [
    `made ${of("token", facts.key)}${whose(facts)}`,
    `make ${of("token", facts.key)}${whose(facts)}`,
  ]),
  "token.revoke": action("Token revoked", (facts) => [
    `revoked ${of("token", facts.key)}${whose(facts)}`,
    `revoke ${of("token", facts.key)}${whose(facts)}`,
  ]),
  "webhook.create": action("Webhook made", ({ to }) => [`made ${webhook(to)}`, `make ${webhook(to)}`]),
  "webhook.update": action("Webhook changed", ({ to, status }) => {
    const [did, tries] = SWITCHED[status] ?? ["changed", "change"];
    return [`${did} ${webhook(to)}`, `${tries} ${webhook(to)}`];
  }),
  "webhook.delete": action("Webhook deleted", ({ to }) => [`deleted ${webhook(to)}`, `delete ${webhook(to)}`]),
  "reconcile.repair": action("Account repaired on the host", (facts) => [
    `put the account of ${user(facts)} back in order${facts.found === "" ? "" : `: ${facts.found}`}`,
    `put the account of ${user(facts)} back in order${facts.found === "" ? "" : `: ${facts.found}`}`,
  ]),
  "audit.purge": action("Old audit records deleted", ({ removed }) => {
    const what = removed === 0 ? "audit records" : count(removed, "audit record", "audit records");
    return [`deleted ${what} that were old enough`, "delete old audit records"];
  }),
  "audit.export": action("Audit log exported", () => ["exported audit records", "export audit records"]),
  "audit.read": action("Audit log read", () => ["read the audit log", "read the audit log"]),
  "user.export": action("Users exported", () => ["exported users", "export users"]),
  "service.backup": action("Backup made", () => ["made a backup", "make a backup"]),
  "service.restore": action("Backup restored", () => ["restored a backup", "restore a backup"]),
  "host.enrol": action("Host joined", ({ host }) => [`joined ${of("host", host)}`, `join ${of("host", host)}`]),
  "host.lock": action("Host locked", ({ host }) => [`locked ${of("host", host)}`, `lock ${of("host", host)}`]),
  "host.unlock": action("Host unlocked", ({ host }) => [`unlocked ${of("host", host)}`, `unlock ${of("host", host)}`]),
  "host.update": action("Host changed", ({ host }) => [`changed ${of("host", host)}`, `change ${of("host", host)}`]),
  "host.retire": action("Host retiring", ({ host }) => [
    `began to retire ${of("host", host)}`,
    `retire ${of("host", host)}`,
  ]),
  "host.forget": action("Host forgotten", ({ host }) => [`forgot ${of("host", host)}`, `forget ${of("host", host)}`]),
  "host.rotate": action("Host key changed", ({ host }) => [
    `changed the key of the agent on ${of("host", host)}`,
    `change the key of the agent on ${of("host", host)}`,
  ]),
  "host.drift": action("Account differed on a host", (facts) => [
    `found the account of ${user(facts)} changed on ${of("host", facts.host)}${facts.found === "" ? "" : `: ${facts.found}`}`,
    `repair the account of ${user(facts)} on ${of("host", facts.host)}`,
  ]),
  "host.hold": action("Lease extended on a host", ({ host }) => [
    `extended the lease of ${of("host", host)}, on the host itself`,
    `extend the lease of ${of("host", host)}`,
  ]),
  "host_token.create": action("Host token made", ({ host }) => {
    const what = host === "" ? "a token for a host to join with" : `a token for ${host} to join with`;
    return [`made ${what}`, `make ${what}`];
  }),
  "host_group.create": named("Host group created", "host group", "created", "create"),
  "host_group.update": named("Host group changed", "host group", "changed", "change"),
  "host_group.delete": named("Host group deleted", "host group", "deleted", "delete"),
  "company.create": named("Company created", "company", "created", "create"),
  "company.update": named("Company changed", "company", "changed", "change"),
  "company.delete": named("Company deleted", "company", "deleted", "delete"),
  "company.end": named("Company ended", "company", "ended", "end"),
  "company.resume": named("Company resumed", "company", "resumed", "resume"),
  "profile.create": named("Profile created", "profile", "created", "create"),
  "profile.update": named("Profile changed", "profile", "changed", "change"),
  "profile.delete": named("Profile deleted", "profile", "deleted", "delete"),
  "review.start": action("Review begun", () => ["began a review", "begin a review"]),
  "review.answer": action("Answer in a review", (facts) => [
    `answered for ${user(facts)} in a review`,
    `answer for ${user(facts)} in a review`,
  ]),
  "review.unanswered": action("Not answered in a review", (facts) => [
    `got no answer for ${user(facts)} in a review`,
    `settle ${user(facts)} in a review`,
  ]),
  "review.close": action("Review closed", () => ["closed a review", "close a review"]),
  "sponsor.vouch": action("Sponsor vouches", (facts) => [`vouched for ${user(facts)}`, `vouch for ${user(facts)}`]),
  "sponsor.decline": action("Sponsor declines", (facts) => [
    `declined to vouch for ${user(facts)}`,
    `decline to vouch for ${user(facts)}`,
  ]),
  "sponsor.end": accessOf("Sponsor ends access", "ended", "end"),
  "sponsor.move": action("Sponsor replaced", () => ["replaced a sponsor", "replace a sponsor"]),
  "user.grant": action("Hosts of a user changed", (facts) => [
    `set the hosts of ${user(facts)}`,
    `set the hosts of ${user(facts)}`,
  ]),
  "fleet.confirmed": action("Change confirmed by the hosts", ({ name }) => [
    `knows what became of a change${name === "" ? "" : ` to ${name}`} on all hosts`,
    "learn what became of a change on all hosts",
  ]),
  "fleet.diverged": action("A host knows another history", ({ host }) => [
    `found that ${of("host", host)} knows records that the audit log does not have`,
    `compare the history of ${of("host", host)} with the audit log`,
  ]),
  "fleet.accept": action("History accepted", () => [
    "accepted the present history for all hosts",
    "accept the present history for all hosts",
  ]),
};

const en = {
  actions,
  who: {
    admin: (name: string) => `Administrator ${name}`,
    user: (name: string) => `User ${name}`,
    sponsor: (name: string) => `The sponsor ${name}`,
    cli: (name: string) => (name === "" ? "The command line" : `${name}, at the command line,`),
    token: (name: string, owner: string) => `The token ${name}${owner === "" ? "" : ` of ${owner}`}`,
    system: "The service",
    anonymous: "Somebody without a session",
  },
  did: (who: string, did: string) => `${who} ${did}.`,
  tried: (who: string, tried: string) => `${who} tried to ${tried}.`,
  unknown: (name: string) => [`did “${name}”`, `do “${name}”`] as const,
};

export const actionTexts = inLanguage({ en });
