/** One's own audit trail in words. */

import { count } from "../language.ts";

/** The facts that a sentence about a record can name; "" and 0 where the record does not say. */
export interface TrailFacts {
  readonly key: string;
  readonly fingerprint: string;
  readonly until: string;
  readonly days: number;
  readonly channel: string;
  /** Which fields of the user were changed. */
  readonly changed: readonly string[];
  readonly approved: boolean | undefined;
}

/** The phrase after the actor, "added the key laptop", and the one for a failed attempt, "add the key laptop". */
export interface Phrase {
  readonly did: string;
  readonly tried: string;
}

const FIELDS: Readonly<Record<string, string>> = {
  email: "e-mail address",
  full_name: "full name",
  supervisor: "supervisor",
  purpose: "purpose",
  source_networks: "networks",
};

function phrase(did: string, tried: string): Phrase {
  return { did, tried };
}

function theKey({ key, fingerprint }: TrailFacts): string {
  return key === "" ? (fingerprint === "" ? "a key" : `the key ${fingerprint}`) : `the key ${key}`;
}

function until({ until: when }: TrailFacts): string {
  return when === "" ? "" : ` to ${when}`;
}

/** By action. What is not here is shown as it is recorded. */
const ACTIONS: Readonly<Record<string, (facts: TrailFacts) => Phrase>> = {
  "auth.otp_send": ({ channel }) =>
    channel === "command line"
      ? phrase("made a login code for you", "make a login code for you")
      : phrase("asked for a login code, which was mailed to you", "have a login code mailed to you"),
  "auth.otp_login": () => phrase("logged in to this service", "log in to this service as you"),
  "auth.logout": () => phrase("logged out of this service", "log out of this service"),
  "auth.changes_refused": () =>
    phrase("made too many changes within a minute", "make more changes within a minute than are let through"),
  "user.create": (facts) =>
    phrase(`created your account${facts.until === "" ? "" : `, until ${facts.until}`}`, "create your account"),
  "user.update": ({ changed }) => {
    const what = changed.map((field) => FIELDS[field] ?? field).join(", ");
    return phrase(`changed your ${what === "" ? "data" : what}`, `change your ${what === "" ? "data" : what}`);
  },
  "user.disable": () => phrase("disabled your account", "disable your account"),
  "user.enable": () => phrase("opened your account again", "open your account again"),
  "user.extend": (facts) => phrase(`extended your access${until(facts)}`, "extend your access"),
  "user.shorten": (facts) => phrase(`brought forward the end of your access${until(facts)}`, "shorten your access"),
  "user.grant": () => phrase("changed on which hosts you have an account", "change on which hosts you have an account"),
  "user.terms": () => phrase("accepted the terms of use", "accept the terms of use"),
  "user.welcome": () => phrase("had you told how to log in", "have you told how to log in"),
  "user.give_back": () => phrase("gave your account back to the host", "give your account back to the host"),
  "user.delete": () => phrase("deleted your account", "delete your account"),
  "user.lock": () => phrase("shut your account (“this was not me”)", "shut your account (“this was not me”)"),
  "review.answer": () => phrase("answered for you in a review of access", "answer for you in a review of access"),
  "review.unanswered": () => phrase("got no answer for you in a review of access", "settle your access in a review"),
  "sponsor.end": () => phrase("ended your access", "end your access"),
  "extension.request": ({ days }) => {
    const time = days === 0 ? "more time" : count(days, "more day", "more days");
    return phrase(`asked for ${time}`, `ask for ${time}`);
  },
  "extension.withdraw": () => phrase("withdrew the request for more time", "withdraw the request for more time"),
  "approval.submit": () => phrase("applied for access", "apply for access"),
  "approval.review": ({ approved }) =>
    approved === false
      ? phrase("rejected your request", "reject your request")
      : phrase("approved your request", "approve your request"),
  "key.create": (facts) => phrase(`added ${theKey(facts)}`, `add ${theKey(facts)}`),
  "user.adopt": () => phrase("made the account on the host yours", "make the account on the host yours"),
  "key.confirm": (facts) => phrase(`confirmed ${theKey(facts)}`, `confirm ${theKey(facts)}`),
  "key.dismiss": () => phrase("dismissed keys that were found", "dismiss keys that were found"),
  "key.update": (facts) =>
    phrase(`changed from where ${theKey(facts)} may be used`, `change from where ${theKey(facts)} may be used`),
  "key.rename": ({ key }) =>
    key === "" ? phrase("renamed a key", "rename a key") : phrase(`renamed a key to ${key}`, `rename a key to ${key}`),
  "key.revoke": (facts) => phrase(`revoked ${theKey(facts)}`, `revoke ${theKey(facts)}`),
  "session.end": () => phrase("ended one of your SSH sessions", "end one of your SSH sessions"),
  "user.end_sessions": () => phrase("signed you out", "sign you out"),
  "lifecycle.expire": () => phrase("ended your access, because its time was up", "end your access at its time"),
  "lifecycle.recycle": () =>
    phrase(
      "deleted your account, some time after it had expired",
      "delete your account, some time after it had expired",
    ),
  "access.window": () => phrase("ended your sessions with your hours", "end your sessions with your hours"),
  "access.request": () => phrase("asked for access", "ask for access"),
  "access.allow": ({ until: end }) =>
    phrase(`opened your access${end === "" ? "" : `, until ${end}`}`, "open your access"),
  "access.refuse": () => phrase("refused your request for access", "refuse your request for access"),
  "access.end": () => phrase("ended your access before its time", "end your access before its time"),
  "reconcile.repair": () =>
    phrase("put your account on the host back as it should be", "put your account on the host back as it should be"),
};

export const trailTexts = {
  title: "Your activity",
  lead: "What you did, and what was done to your account, newest first. What is recorded cannot be changed.",
  caption: "Your activity, newest first",
  none: "Nothing is recorded yet.",
  when: "When",
  what: "What",
  from: (address: string) => `from ${address}`,
  failed: "failed",
  why: "Why:",
  unknown: (action: string) => `did “${action}”`,
  unknownTried: (action: string) => `do “${action}”`,
  did: (who: string, { did }: Phrase) => `${who} ${did}.`,
  tried: (who: string, { tried }: Phrase) => `${who} tried to ${tried}.`,
  who: {
    you: "You",
    user: (name: string) => `The user ${name}`,
    admin: (name: string) => `The administrator ${name}`,
    token: (name: string) => `A system of the administrators, ${name},`,
    sponsor: (name: string) => `Your sponsor, ${name},`,
    cli: "An administrator of the host, at the command line,",
    system: "The service",
    anonymous: "Somebody, perhaps you,",
  },
  notYou: "Was something here not you?",
  notYouLink: "What to do then",
  actions: ACTIONS,
};
