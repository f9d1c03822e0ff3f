/** The parts of a response that handlers set besides its body, by Elysia's own cookies: @elysiajs/cookie does nothing on Elysia 1.x. */

import type { NewSession } from "../../../domain/auth/sessions/sessions.ts";
import type { Web } from "../web.ts";
import type { Reply } from "./call.ts";
import { SESSION_COOKIE } from "./session-cookie.ts";
import { setBrowserCookie } from "./sso-cookie.ts";

/** The parts of Elysia's context that change the response. */
export interface Outgoing {
  readonly cookie: unknown;
  readonly set: { status?: number | string; readonly headers: Record<string, string | number | string[]> };
}

/** Sets cookies and headers for a handler. */
export function replyOf(web: Web, { cookie, set }: Outgoing): Reply {
  return {
    session: (session) => setSessionCookie(web, cookie, session),
    browser: (secret) => setBrowserCookie(cookie, secret),
    header: (name, value) => {
      set.headers[name] = value;
    },
    waiting: () => {
      set.status = 202;
    },
    redirect: (address) => {
      set.status = 303;
      set.headers.location = address;
    },
  };
}

/** The part of Elysia's cookie jar that is used here; its type is lost where the jar has no schema. */
type CookieJar = Record<string, { set(options: Record<string, unknown>): unknown }>;

/** Sets the client's session cookie, or clears it if undefined. */
function setSessionCookie(web: Web, cookie: unknown, session: NewSession | undefined): void {
  const now = web.services.clock.now().getTime();
  const maxAge = session === undefined ? 0 : Math.ceil((session.expiresAt.getTime() - now) / 1000);
  const sameSite = web.options.cookieSameSite.toLowerCase();
  const attributes = { path: "/", httpOnly: true, secure: true, sameSite, maxAge };
  (cookie as CookieJar)[SESSION_COOKIE]?.set({ ...attributes, value: session?.token ?? "" });
}
