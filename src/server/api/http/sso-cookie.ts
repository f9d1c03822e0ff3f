/** The cookie that binds a login by single sign-on to the browser that began it. */

import { LOGIN_TTL } from "../../../domain/auth/sso/login-requests.ts";
import { SECOND } from "../../../shared/time/clock.ts";

/** Not Strict, as the session's is: the provider's answer is another site's link. No other host can set it (`__Host-`). */
const NAME = "__Host-uam_sso";

const COOKIE = new RegExp(`(?:^|;\\s*)${NAME}=([A-Za-z0-9_-]{43})(?:;|$)`);

/** The secret that the browser keeps, or undefined. */
export function browserOf(request: Request): string | undefined {
  return COOKIE.exec(request.headers.get("cookie") ?? "")?.[1];
}

/** The part of Elysia's cookie jar that is used here. */
type CookieJar = Record<string, { set(options: Record<string, unknown>): unknown }>;

/** Gives the browser its secret for as long as a login may take; undefined takes it away. */
export function setBrowserCookie(cookie: unknown, secret: string | undefined): void {
  const maxAge = secret === undefined ? 0 : LOGIN_TTL / SECOND;
  const attributes = { path: "/", httpOnly: true, secure: true, sameSite: "lax", maxAge };
  (cookie as CookieJar)[NAME]?.set({ ...attributes, value: secret ?? "" });
}
