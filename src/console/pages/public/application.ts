/** An application as it is typed: what is sent of it, and what is wrong with it by the rules of the service. */

import { ACCOUNT_PREFIX, USERNAME } from "../../../shared/text/account-name.ts";
import { isEmail, MAX_FULL_NAME, MAX_HOURS_WISH, MAX_PURPOSE, MAX_SUPERVISOR } from "../../../shared/text/person.ts";
import { lengthOf } from "../../../shared/text/text.ts";
import { publicTexts } from "../../texts/public.ts";
import { oneLine, textFault } from "../../typed-text.ts";

export interface Typed {
  readonly username: string;
  readonly email: string;
  readonly full_name: string;
  readonly supervisor: string;
  readonly sponsor_email: string;
  readonly purpose: string;
  readonly hours_wish: string;
}

export type Faults = Partial<Record<keyof Typed, string>>;

/** The application as it is sent: keyboards begin words with a capital, and pasted texts have line breaks. */
export function sentOf({ username, email, full_name, supervisor, sponsor_email, purpose, hours_wish }: Typed): Typed {
  return {
    username: username.trim().toLowerCase(),
    email: email.trim(),
    full_name: oneLine(full_name),
    supervisor: oneLine(supervisor),
    sponsor_email: sponsor_email.trim(),
    purpose: oneLine(purpose),
    hours_wish: oneLine(hours_wish),
  };
}

/** The faults, as a sentence for each field; empty if the service would take it. */
export function faultsOf(typed: Typed): Faults {
  const { username, email, full_name, supervisor, sponsor_email, purpose, hours_wish } = sentOf(typed);
  const faults = {
    username: usernameFault(username),
    email: emailFault(email),
    full_name: textFault(full_name, MAX_FULL_NAME),
    supervisor: textFault(supervisor, MAX_SUPERVISOR),
    sponsor_email: sponsor_email === "" ? undefined : emailFault(sponsor_email),
    purpose: textFault(purpose, MAX_PURPOSE),
    hours_wish: textFault(hours_wish, MAX_HOURS_WISH),
  };
  return Object.fromEntries(Object.entries(faults).filter(([, fault]) => fault !== undefined));
}

/** The field that a refusal of the service is about, with what it says; undefined if it names none. */
export function refusedField(sentence: string): Faults | undefined {
  const named = /^The (username|e-mail|full name|supervisor|purpose|hours)\b/.exec(sentence)?.[1];
  if (named === undefined) return undefined;
  return { [FIELDS[named] ?? named]: `${sentence}.` };
}

/** The fields that the service calls something else. */
const FIELDS: Readonly<Record<string, keyof Typed>> = {
  "e-mail": "email",
  "full name": "full_name",
  hours: "hours_wish",
};

/** How many more characters the purpose may have; negative if it has too many. */
export function leftOf(purpose: string): number {
  return MAX_PURPOSE - lengthOf(oneLine(purpose));
}

function usernameFault(username: string): string | undefined {
  const { apply } = publicTexts;
  if (username === "") return apply.nameMissing;
  if (username.startsWith(ACCOUNT_PREFIX)) return apply.namePrefix;
  return USERNAME.test(username) ? undefined : apply.nameStrange;
}

function emailFault(email: string): string | undefined {
  const { apply } = publicTexts;
  if (email === "") return apply.emailMissing;
  return isEmail(email) ? undefined : apply.emailStrange;
}
