/**
 * /auth/oidc: single sign-on of administrators. A browser comes and goes here, so that what goes wrong leads to the login page,
 * which says it: with a word of a fixed list, and with nothing of what the provider sent.
 */

import type { sso } from "../../../contract/sso.ts";
import { finishLogin } from "../../../domain/auth/sso/login.ts";
import { beginLogin, newSecret } from "../../../domain/auth/sso/login-requests.ts";
import { endProviderSessions } from "../../../domain/auth/sso/logout.ts";
import type { ProviderLogout, SsoProvider } from "../../../domain/auth/sso/provider.ts";
import type { Context } from "../../../domain/operation/context.ts";
import { UamError } from "../../../shared/errors.ts";
import { isPage, PAGES } from "../../../shared/product/pages.ts";
import { outcomeOf, type SsoOutcome } from "../../../shared/product/sso-outcomes.ts";
import type { Handlers, Reply } from "../http/call.ts";
import { isFault } from "../http/errors.ts";
import { infoOf } from "../http/request.ts";
import { tokenOf } from "../http/session-cookie.ts";
import { browserOf } from "../http/sso-cookie.ts";
import type { Web } from "../web.ts";

/** Where the provider sends the browser back to, below the API's root. */
export const SSO_CALLBACK = "/auth/oidc/callback";

export const ssoHandlers: Handlers<typeof sso> = {
  "GET /auth/oidc/login": async ({ web, context, request, query, reply }) => {
    const provider = requireProvider(web);
    reply.redirect(await begin(web, provider, { context, request, reply, next: query.next }));
    return undefined;
  },

  "GET /auth/oidc/callback": async ({ web, context, request, reply }) => {
    const provider = requireProvider(web);
    reply.redirect(await finish(web, provider, { context, request, reply }));
    return undefined;
  },

  "POST /auth/oidc/backchannel-logout": async ({ web, context, request, body }) => {
    const provider = requireProvider(web);
    const logout = await readLogout(web, provider, { request, token: body.logout_token });
    await endProviderSessions(context, provider, logout);
    return { status: "logged_out" };
  },
};

interface Browser {
  readonly context: Context;
  readonly request: Request;
  readonly reply: Reply;
}

async function begin(
  web: Web,
  provider: SsoProvider,
  { context, request, reply, next }: Browser & { readonly next: string | undefined },
): Promise<string> {
  // A HEAD asks where this leads, and begins nothing.
  if (request.method === "HEAD") return loginPage(web, {});
  return await orLoginPage(web, request, async () => {
    // A login in another tab goes on: both have the same cookie.
    const browser = browserOf(request) ?? newSecret();
    const beginning = { next: pageOf(next), browser, replaces: tokenOf(request) };
    const address = await beginLogin(context, provider, beginning);
    reply.browser(browser);
    return address;
  });
}

async function finish(web: Web, provider: SsoProvider, { context, request, reply }: Browser): Promise<string> {
  if (request.method === "HEAD") return loginPage(web, {});
  return await orLoginPage(web, request, async () => {
    const { searchParams: answer } = new URL(request.url);
    const brought = { answer, browser: browserOf(request), replaces: tokenOf(request) };
    const { session, next } = await finishLogin(context, provider, brought);
    reply.session(session);
    reply.browser(undefined);
    return loginPage(web, { sso: "done", next });
  });
}

/** Where the browser goes: the answer's target, or the login page with the failure. */
async function orLoginPage(web: Web, request: Request, answer: () => Promise<string>): Promise<string> {
  const { id, route, address } = infoOf(request);
  try {
    web.limits.take("sso", address);
    return await answer();
  } catch (error) {
    const reason = error instanceof UamError ? error.reason : "internal";
    const fields = { requestId: id, route, address, reason };
    // For tools that watch for guessing, and for whoever looks after the service.
    if (isFault(error)) web.services.log.error("a login by single sign-on failed", { ...fields, error });
    else web.services.log.warn("a login by single sign-on failed", fields);
    return loginPage(web, { sso: outcomeOf(reason) });
  }
}

function loginPage({ options }: Web, said: { readonly sso?: SsoOutcome; readonly next?: string }): string {
  return `${options.baseUrl}${PAGES.login}?${new URLSearchParams({ as: "admin", ...said })}`;
}

/** A page of ours, with what its address asks for; the console checks again whose page it is. */
function pageOf(next: string | undefined): string {
  const path = next?.split("?")[0] ?? "";
  const isOurs = next !== undefined && next.length <= 512 && path !== "" && isPage(path);
  return isOurs ? next : PAGES.dashboard;
}

/** Only an invalid logout token counts against the address: many people log out there. */
async function readLogout(
  web: Web,
  provider: SsoProvider,
  { request, token }: { readonly request: Request; readonly token: string },
): Promise<ProviderLogout> {
  try {
    return await provider.readLogout(token);
  } catch (error) {
    web.limits.take("logout", infoOf(request).address);
    if (!(error instanceof UamError) || error.reason !== "sso.invalid") throw error;
    const sentence = "This is no logout token of the provider's for this service";
    throw new UamError("invalid", sentence, { reason: "sso.invalid" });
  }
}

function requireProvider({ options }: Web): SsoProvider {
  if (options.sso !== undefined) return options.sso;
  throw new UamError("not_found", "Single sign-on is not set up; see UAM_OIDC_ISSUER", { reason: "sso.off" });
}
