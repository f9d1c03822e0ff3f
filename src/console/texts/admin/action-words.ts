/** The parts of the sentences about actions. */

import type { ActionFacts } from "../action-facts.ts";

/** The name of the action in lists; the phrase after its actor, and the one for a failed attempt. */
export interface ActionWords {
  readonly label: string;
  readonly say: (facts: ActionFacts) => readonly [did: string, tried: string];
}

export function action(label: string, say: ActionWords["say"]): ActionWords {
  return { label, say };
}

export function of(word: string, name: string): string {
  return name === "" ? `a ${word}` : `the ${word} ${name}`;
}

/** Something that is done to a thing with a name. */
export function named(
  label: string,
  word: string,
  ...[did, tries]: readonly [did: string, tries: string]
): ActionWords {
  return action(label, ({ key }) => [`${did} ${of(word, key)}`, `${tries} ${of(word, key)}`]);
}

/** Something that is done to a user's access. */
export function accessOf(label: string, did: string, tries: string, how = ""): ActionWords {
  return action(
    label,
    (facts) => [did, tries].map((verb) => `${verb} the access of ${user(facts)}${how}`) as [string, string],
  );
}

export function theKey({ key, fingerprint }: ActionFacts): string {
  return of("key", key === "" ? fingerprint : key);
}

export function whose({ name }: ActionFacts): string {
  return name === "" ? "" : ` of ${name}`;
}

export const WAYS: Readonly<Record<string, string>> = {
  password: "a password",
  "password+passkey": "a password and a passkey",
  "password+totp": "a password and a code of an authenticator app",
  passkey: "a passkey",
  oidc: "single sign-on",
};

const FIELDS: Readonly<Record<string, string>> = {
  email: "e-mail address",
  full_name: "full name",
  supervisor: "supervisor",
  purpose: "purpose",
  note: "note",
  role: "role",
  password: "password",
  source_networks: "networks",
  company: "company",
  profile: "profile",
  sponsor_email: "sponsor",
};

export function fields({ changed }: ActionFacts, otherwise: string): string {
  return changed.length === 0 ? otherwise : changed.map((field) => FIELDS[field] ?? field).join(" and ");
}

export const webhook = (to: string) => (to === "" ? "a webhook" : `the webhook to ${to}`);
export const SWITCHED: Readonly<Record<string, readonly [did: string, tries: string]>> = {
  active: ["switched on", "switch on"],
  disabled: ["switched off", "switch off"],
};
export const user = (facts: ActionFacts) => of("user", facts.name);
export const until = ({ until: end, oldUntil: before }: ActionFacts) =>
  end === "" ? "" : ` until ${end}${before === "" ? "" : `, instead of ${before}`}`;
