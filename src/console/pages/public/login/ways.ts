/** Which of the two logins, and where it leads: kept in the address, so that it can be sent to somebody. */

import { isPage, PAGES } from "../../../../shared/product/pages.ts";
import { USERNAME, withoutPrefix } from "../../../../shared/text/account-name.ts";
import { searchOf } from "../../../api.ts";
import { homeOf } from "../../../navigation.ts";

export type Way = "admin" | "user";

type Query = Readonly<Record<string, string | undefined>>;

/**
 * The login that the address asks for: itself, or by the page that follows; else the one that was chosen last. Never by the name that
 * is typed: that would tell which names are an administrator's.
 */
export function wayOf({ as, step, next }: Query, remembered: string | null): Way {
  if (as === "admin" || as === "user") return as;
  if (step === "code") return "user";
  const follows = next === undefined ? undefined : ourPage(next);
  if (follows !== undefined) {
    if (isFor("admin", follows)) return "admin";
    if (isFor("user", follows)) return "user";
  }
  return remembered === "admin" ? "admin" : "user";
}

/** The address of a login that leads to where this one would. */
export function loginUrl(where: { readonly as?: Way; readonly step?: "code" }, { next }: Query): string {
  return `${PAGES.login}${searchOf({ ...where, next })}`;
}

/** Where a login leads: the page that was asked for if it is one of ours and for that kind of session, else the kind's first page. */
export function nextOf(next: string | undefined, kind: Way): string {
  const page = next === undefined ? undefined : ourPage(next);
  return page !== undefined && isFor(kind, page) ? page.pathname + page.search : homeOf(kind);
}

/** No address in use; whatever resolves to another origin than this one is not ours. */
const HERE = "http://console.invalid";

function ourPage(address: string): URL | undefined {
  if (!/^\/(?![/\\])/.test(address)) return undefined;
  if (!URL.canParse(address, HERE)) return undefined;
  const url = new URL(address, HERE);
  return url.origin === HERE && isPage(url.pathname) ? url : undefined;
}

function isFor(kind: Way, { pathname }: URL): boolean {
  const home = homeOf(kind);
  return pathname === home || pathname.startsWith(`${home}/`);
}

/** The part of a mailed link behind "#". */
export interface MailedCode {
  readonly name: string;
  /** "" if the link was cut off. */
  readonly code: string;
}

/** Name and code of `#alice.12345678`; undefined for any other fragment. */
export function mailedCode(fragment: string): MailedCode | undefined {
  const [, typed = "", digits = ""] = /^#?([^.]{1,64})\.(.{0,64})$/s.exec(decoded(fragment)) ?? [];
  const name = nameOf(typed);
  return name === undefined ? undefined : { name, code: codeOf(digits) ?? "" };
}

/** The name of `#alice`, which a mail brings along for whoever has no code yet; undefined for any other fragment. */
export function mailedName(fragment: string): string | undefined {
  // The link that skips to the content is no name.
  return /^#?content$/.test(fragment) ? undefined : nameOf(decoded(fragment).replace(/^#/, ""));
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return "";
  }
}

/** The username that somebody means: keyboards begin words with a capital, and some know their account's name. */
export function nameOf(typed: string): string | undefined {
  const name = withoutPrefix(typed.trim().normalize("NFC").toLowerCase());
  return USERNAME.test(name) ? name : undefined;
}

/** The eight digits of a code, however they are grouped. */
export function codeOf(typed: string): string | undefined {
  const code = typed.replace(/[\s\p{Dash}]/gu, "");
  return /^\d{8}$/.test(code) ? code : undefined;
}
