/** /auth/oidc: single sign-on of administrators. */

import * as v from "valibot";
import { statusOf, text } from "./fields.ts";
import { anyone, type Routes, type Success } from "./route.ts";

const SsoBegin = v.object({
  next: v.optional(text("/admin/users", "The console's page that the login leads to; any other is ignored")),
});

const SsoLogoutToken = v.pipe(
  v.object({ logout_token: text("eyJhbGciOiJSUzI1NiJ9.e30.c2lnbmF0dXJl", "A JWT that the provider signed") }),
  v.title("SsoLogout"),
);

const NOT_SET_UP = "Single sign-on is not set up";

const REDIRECT = {
  description: "Where to go",
  headers: { Location: { schema: { type: "string", format: "uri" } } },
} as const satisfies Success;

export const sso = {
  "GET /auth/oidc/login": {
    operationId: "beginSso",
    summary: "Log in by single sign-on, in a browser",
    description:
      "Leads to the provider, and from there to `/auth/oidc/callback`. If the provider is away, it leads to the login page, which says so.",
    who: anyone,
    query: SsoBegin,
    status: 303,
    success: REDIRECT,
    refusals: { 404: NOT_SET_UP },
    reasons: ["sso.off"],
  },
  "GET /auth/oidc/callback": {
    operationId: "finishSso",
    summary: "The provider sends the browser back here",
    description:
      "Opens the session, and leads to the console's login page, which says what went wrong or goes on to the page that was asked for.",
    who: anyone,
    status: 303,
    success: REDIRECT,
    refusals: { 404: NOT_SET_UP },
    reasons: ["sso.off"],
  },
  "POST /auth/oidc/backchannel-logout": {
    operationId: "logoutBySso",
    summary: "End the sessions that ended at the provider",
    description:
      "For the provider itself: OpenID Connect Back-Channel Logout 1.0. The token must be its own, about a logout, for this service, and not used before.",
    who: anyone,
    body: SsoLogoutToken,
    bodyAs: "form",
    answer: statusOf("logged_out"),
    refusals: { 404: NOT_SET_UP, 429: true, 503: "The provider's keys cannot be had: send it again" },
    reasons: ["sso.off", "sso.invalid", "sso.unavailable", "rate.limited"],
  },
} as const satisfies Routes;
