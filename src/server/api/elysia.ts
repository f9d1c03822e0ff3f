/** Every trick that Elysia needs, each with its reason. The route files use Elysia as its manual says. */

import { Elysia, ParseError } from "elysia";
import type { Need } from "../../contract/route.ts";
import type { LimitKind } from "../../domain/auth/rate-limits.ts";
import type { NewSession } from "../../domain/auth/sessions.ts";
import { UamError } from "../../shared/errors.ts";
import type { LeastRole } from "../../shared/roles.ts";
import { isOfAgent, MAX_AGENT_BODY, readAgentBody, readEnrolment, requireAgent } from "./agent-request.ts";
import { readForm, readJson, refuseLargeBody } from "./body.ts";
import { refuseMisspelled } from "./misspelled.ts";
import { acceptContent } from "./refusals.ts";
import { authorize, contextOf, infoOf, SESSION_COOKIE } from "./request.ts";
import { isSafe, unknownRoute } from "./routing.ts";
import type { RegisteredRoute, Web } from "./web.ts";

/**
 * A router whose every failure is answered by `fail`. Both hooks come before any route: Elysia applies a hook only to what is
 * added after it. Without `standardHostname: false` a Host header without a port is a 404 on every route.
 */
export function createRouter(web: Web, prefix: string, fail: (thrown: unknown, request: Request) => Promise<Response>) {
  const router = new Elysia({ prefix, handler: { standardHostname: false } });
  router.onError(({ code, error, request }) =>
    // Elysia finds a path only with its method: whether it exists with others, only the list of routes can say.
    fail(code === "NOT_FOUND" ? unknownRoute(web.routes(), request) : asRefusal(error), request),
  );
  // After guards and validation, so that a caller without permission learns nothing of a limit; a route bounds what it reads itself.
  router.onBeforeHandle(({ request }) => {
    acceptContent(request);
    return refuseLargeBody(request, isOfAgent(request) ? MAX_AGENT_BODY : web.options.maxBody);
  });
  return router;
}

/** The address as the router finds its path: with standardHostname: false from the seventh character on, https:// is one too long. */
export function routableUrl(url: string): string {
  return url.replace(/^https:/, "http:");
}

/** The routes as registered, those of groups and plugins included, with the schemas and hooks that Elysia keeps of them. */
export function routesOf(router: { readonly routes: readonly unknown[] }): readonly RegisteredRoute[] {
  return router.routes as readonly RegisteredRoute[];
}

/**
 * Lets only callers with the right session through, and gives the routes `session` and `context`. For administrators it names the
 * least role that may change something here, and this is the one place that does. As a `derive` it runs
 * before validation, where `resolve`, `guard` and macros run after it: a caller without permission learns nothing of what would
 * be wrong with the request. `as: "scoped"` makes it hold in the plugin that uses it, and no further.
 */
export function requireSession(web: Web, permission: "admin", least: LeastRole): ReturnType<typeof guardedBy>;
export function requireSession(web: Web, permission: "user" | "session"): ReturnType<typeof guardedBy>;
export function requireSession(web: Web, permission: Need["permission"], least?: LeastRole) {
  return guardedBy(web, least === undefined ? { permission } : { permission, least });
}

/** The same for what is about the login itself: a token is refused. With "sets-up" it is open before a second factor is set up. */
export function requireLogin(web: Web, permission: "admin" | "session", when?: "sets-up") {
  const need = { permission, sessionOnly: true, setsUp: when === "sets-up" };
  return guardedBy(web, permission === "admin" ? { ...need, least: "any" } : need);
}

/** The same for what lets somebody in as an administrator: it asks who one is, which a machine cannot show. */
export function requireLoginAs(web: Web, least: LeastRole) {
  return guardedBy(web, { permission: "admin", sessionOnly: true, least });
}

function guardedBy(web: Web, need: Need) {
  async function guard({ request }: { readonly request: Request }) {
    const session = await authorize(web, request, need);
    checkQuery(web, request);
    return { session, context: contextOf(web.services, request, session.principal) };
  }
  needs.set(guard, need);
  const name = `session:${need.permission}:${need.least ?? ""}:${need.sessionOnly ?? false}:${need.setsUp ?? false}`;
  return new Elysia({ name }).derive({ as: "scoped" }, guard);
}

/** Lets only agents through, by their signature, and gives the routes `agent`. */
export function agentOnly(web: Web) {
  async function guard({ request }: { readonly request: Request }) {
    return { agent: await requireAgent(web, request), context: contextOf(web.services, request) };
  }
  needs.set(guard, { permission: "agent" });
  return new Elysia({ name: "agent" }).derive({ as: "scoped" }, guard);
}

/** Parses the body of an agent's request, once its signature was found to hold. */
export function agentBody(web: Web) {
  return async ({ request }: { readonly request: Request }) => await readAgentBody(web, request);
}

/** Parses an enrolment, which anyone may try. */
export function enrolmentBody(web: Web) {
  return async ({ request }: { readonly request: Request }) => {
    countRequest(web, request, "join");
    return await readEnrolment(request);
  };
}

/** The same for an anonymous caller: lets in what the limit of that kind allows the client's address, and gives `context`. */
export function anonymous(web: Web, kind: LimitKind) {
  return new Elysia({ name: `anonymous:${kind}` }).derive({ as: "scoped" }, ({ request }) => {
    countRequest(web, request, kind);
    checkQuery(web, request);
    return { context: contextOf(web.services, request) };
  });
}

/** The same without a limit: for a route that counts by itself, because what it answers is for a person. */
export function unlimited(web: Web) {
  return new Elysia({ name: "unlimited" }).derive({ as: "scoped" }, ({ request }) => {
    checkQuery(web, request);
    return { context: contextOf(web.services, request) };
  });
}

/**
 * Parses a route's body, as its `parse` hook: Elysia itself would accept forms, and JSON that is sent as text, which a browser
 * sends anywhere without asking. It parses before any other hook runs, so the session is asked for here too.
 */
export function jsonBody(web: Web, permission: Need["permission"], options: BodyOptions = {}) {
  async function parse({ request }: { readonly request: Request }) {
    // The role is the guard's, and stands nowhere else.
    const need = needOf(routeOf(web, request)?.hooks ?? {});
    await authorize(web, request, { ...need, permission });
    return await readBody(web, request, options);
  }
  if (options.optional === true) optionalBodies.add(parse);
  return parse;
}

/** The same for a route that anyone may call: a request counts against its limit when it arrives, whatever its body holds. */
export function anonymousBody(web: Web, kind: LimitKind) {
  return async ({ request }: { readonly request: Request }) => {
    countRequest(web, request, kind);
    return await readBody(web, request, {});
  };
}

/** Parses a form, which only other services send: a browser that is made to send one has no login that counts there. */
export function anonymousForm(web: Web) {
  async function parse({ request }: { readonly request: Request }) {
    return await readForm(request, web.options.maxBody);
  }
  forms.add(parse);
  return parse;
}

interface BodyOptions {
  /** Whether a request without a body counts as one with an empty object. */
  readonly optional?: boolean;
}

/** What each guard asks for, so that the document says what is enforced and not what somebody wrote beside it. */
const needs = new WeakMap<object, Need>();
/** The parsers that accept a request without a body, likewise. */
const optionalBodies = new WeakSet<object>();
/** The parsers of forms. */
const forms = new WeakSet<object>();

/** What the guards of a route ask of the caller; undefined where anyone may call it. Elysia keeps a `derive` among the hooks that transform a request. */
export function needOf({ transform, detail }: RegisteredRoute["hooks"]): Need | undefined {
  const who = detail?.route?.who;
  if (who !== undefined) return who.permission === "public" ? undefined : who;
  for (const { fn } of hooksOf(transform)) {
    const need = fn === undefined ? undefined : needs.get(fn);
    if (need !== undefined) return need;
  }
  return undefined;
}

/** Whether a route accepts a request without a body. */
export function isBodyOptional({ parse, detail }: RegisteredRoute["hooks"]): boolean {
  return (
    detail?.route?.bodyAs === "optional" || hooksOf(parse).some(({ fn }) => fn !== undefined && optionalBodies.has(fn))
  );
}

/** Whether a route's body is a form. */
export function isForm({ parse, detail }: RegisteredRoute["hooks"]): boolean {
  return detail?.route?.bodyAs === "form" || hooksOf(parse).some(({ fn }) => fn !== undefined && forms.has(fn));
}

/** Elysia keeps one hook as it was given, and several as a list of objects that hold them. */
function hooksOf(hooks: unknown): readonly { readonly fn?: object }[] {
  const list: readonly unknown[] = Array.isArray(hooks) ? hooks : [hooks];
  return list.map((hook) => (typeof hook === "function" ? { fn: hook } : ((hook ?? {}) as { fn?: object })));
}

async function readBody(web: Web, request: Request, { optional = false }: BodyOptions): Promise<object> {
  const body = await readJson(request, { maximum: web.options.maxBody, optional });
  refuseMisspelled(routeOf(web, request)?.hooks.body, body, "field");
  return body;
}

/** Throws `invalid` for a name that looks like a known one, and where somebody takes for a preview what would be the thing itself. */
export function checkQuery(web: Web, request: Request): void {
  if (!request.url.includes("?")) return;
  const query = routeOf(web, request)?.hooks.query;
  const { searchParams } = new URL(request.url);
  if (query !== undefined) refuseMisspelled(query, Object.fromEntries(searchParams), "parameter");
  const hasPreview = query !== undefined && "preview" in query.entries;
  if (searchParams.has("preview") && !hasPreview && !isSafe(request.method))
    throw new UamError("invalid", "There is no preview of this request");
}

export function routeOf(web: Web, request: Request): RegisteredRoute | undefined {
  return web.routes().find(request.method, infoOf(request).route);
}

const counted = new WeakSet<Request>();

/** Counts a request once, by whichever hook sees it first; throws `limited`. */
export function countRequest(web: Web, request: Request, kind: LimitKind): void {
  if (counted.has(request)) return;
  counted.add(request);
  web.limits.take(kind, infoOf(request).address);
}

/** The part of Elysia's cookie jar that is used here; its type is lost where the jar has no schema. */
type CookieJar = Record<string, { set(options: Record<string, unknown>): unknown }>;

/** Sets the client's session cookie, or clears it if undefined. Elysia's own cookies: @elysiajs/cookie does nothing on Elysia 1.x. */
export function setSessionCookie(web: Web, cookie: unknown, session: NewSession | undefined): void {
  const now = web.services.clock.now().getTime();
  const maxAge = session === undefined ? 0 : Math.ceil((session.expiresAt.getTime() - now) / 1000);
  const sameSite = web.options.cookieSameSite.toLowerCase();
  const attributes = { path: "/", httpOnly: true, secure: true, sameSite, maxAge };
  (cookie as CookieJar)[SESSION_COOKIE]?.set({ ...attributes, value: session?.token ?? "" });
}

/** For the document: the session cookie is set, or cleared. */
export const cookieSet = {
  200: { description: "Done", headers: { "Set-Cookie": { schema: { type: "string" as const } } } },
};

/** Elysia says that a HEAD's empty body has the length 0; the export's length is unknown, and then none is said (RFC 9110, 8.6). */
export function withoutLength({ status, headers }: Response): Response {
  headers.delete("content-length");
  // A runtime measures what it can; a stream it could only read, which for a HEAD it does not.
  const unread = new ReadableStream({ pull: (controller) => controller.close() }, { highWaterMark: 0 });
  return new Response(unread, { status, headers });
}

/**
 * Turns what Elysia throws into a refusal that says what is wrong; leaves anything else as it is. A ParseError hides why a
 * body was refused. A ValidationError is about our own answer, and so a fault of the service: of requests, see refuseAtFirstFault.
 */
function asRefusal(thrown: unknown): unknown {
  if (thrown instanceof ParseError) {
    return thrown.cause ?? new UamError("invalid", "The body could not be read");
  }
  return thrown;
}
