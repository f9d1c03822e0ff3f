/** Links in mails. Secrets stand in the fragment: neither a server nor a mail scanner is sent it. */

import { PAGES, type PageName, reviewPage, userPage } from "../../shared/product/pages.ts";
import type { Site } from "../operation/context.ts";
import { type Block, button, line } from "./letter.ts";

type Where = Pick<Site, "baseUrl">;

/** Opens a page, says what it is for, and shows its address. */
export function toPage(site: Where, label: string, page: Exclude<PageName, "user">): Block {
  return button(label, site.baseUrl + PAGES[page]);
}

/** The same for the page about one user. */
export function toUser(site: Where, id: number): Block {
  return button("See the user", site.baseUrl + userPage(id));
}

/** The same for the page of a review, where its users are answered for. */
export function toReview(site: Where, id: number): Block {
  return button("See them and answer", site.baseUrl + reviewPage(id));
}

/** The page that asks for a code, with the name filled in. */
export function codeRequestLink(site: Where, username: string): string {
  return `${site.baseUrl}${PAGES.login}#${escaped(username)}`;
}

/** The page with the name and the code filled in; the reader still has to press the button. */
export function loginLink(site: Where, username: string, code: string): string {
  return `${site.baseUrl}${PAGES.login}#${escaped(username)}.${escaped(code)}`;
}

/** The page that sets a new password with the token. */
export function resetLink(site: Where, token: string): string {
  return `${site.baseUrl}${PAGES.reset}#${escaped(token)}`;
}

/** The page that asks a sponsor. */
export function decisionLink(site: Where, token: string): string {
  return `${site.baseUrl}${PAGES.decide}#${escaped(token)}`;
}

/** On one line, and well-formed: lone surrogates would throw. */
function escaped(value: string): string {
  return encodeURIComponent(line(value));
}
