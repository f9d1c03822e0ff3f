/** An application as it is typed: what is sent of it, and what is wrong with it by the rules of the service. */

import { ACCOUNT_PREFIX, USERNAME } from "../../../shared/text/account-name.ts";
import { isEmail, MAX_PURPOSE, MAX_SUPERVISOR } from "../../../shared/text/person.ts";
import { blankControlCharacters, changesDirection, lengthOf, parseText } from "../../../shared/text/text.ts";
import { publicTexts } from "../../texts/public.ts";

export interface Typed {
  readonly username: string;
  readonly email: string;
  readonly supervisor: string;
  readonly purpose: string;
}

export type Faults = Partial<Record<keyof Typed, string>>;

/** The application as it is sent: keyboards begin words with a capital, and pasted texts have line breaks. */
export function sentOf({ username, email, supervisor, purpose }: Typed): Typed {
  return {
    username: username.trim().toLowerCase(),
    email: email.trim(),
    supervisor: oneLine(supervisor),
    purpose: oneLine(purpose),
  };
}

/** The faults, as a sentence for each field; empty if the service would take it. */
export function faultsOf(typed: Typed): Faults {
  const { username, email, supervisor, purpose } = sentOf(typed);
  const faults = {
    username: usernameFault(username),
    email: emailFault(email),
    supervisor: textFault(supervisor, MAX_SUPERVISOR),
    purpose: textFault(purpose, MAX_PURPOSE),
  };
  return Object.fromEntries(Object.entries(faults).filter(([, fault]) => fault !== undefined));
}

/** The field that a refusal of the service is about, with what it says; undefined if it names none. */
export function refusedField(sentence: string): Faults | undefined {
  const named = /^The (username|e-mail|supervisor|purpose)\b/.exec(sentence)?.[1];
  if (named === undefined) return undefined;
  return { [named === "e-mail" ? "email" : named]: `${sentence}.` };
}

/** How many more characters the purpose may have; negative if it has too many. */
export function leftOf(purpose: string): number {
  return MAX_PURPOSE - lengthOf(oneLine(purpose));
}

function oneLine(text: string): string {
  return blankControlCharacters(text).replace(/ {2,}/g, " ").trim().normalize("NFC");
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

function textFault(text: string, most: number): string | undefined {
  const { apply } = publicTexts;
  if (lengthOf(text) > most) return apply.tooLong(most);
  if (changesDirection(text)) return apply.direction;
  try {
    parseText("text", text, most);
    return undefined;
  } catch {
    return apply.unreadable;
  }
}
