/** What the route files share: the services, the options of the HTTP side, and the guards. */

import { Elysia } from "elysia";
import type { LimitKind, RateLimits } from "../../domain/auth/rate-limits.ts";
import type { SessionFinder } from "../../domain/auth/sessions.ts";
import type { Services } from "../../domain/operation/context.ts";
import type { Slots } from "../../shared/bounded.ts";
import { readJson } from "./body.ts";
import { authorize, contextOf, infoOf, type Permission } from "./request.ts";

/** The options of the HTTP side, from the configuration. */
export interface WebOptions {
  readonly baseUrl: string;
  readonly corsOrigins: readonly string[];
  readonly cookieSameSite: "Strict" | "Lax" | "None";
  /** Bytes. */
  readonly maxBody: number;
  readonly version: string;
  /** Runtime and its version, e.g. "bun 1.4.4". */
  readonly runtime: string;
  /** Whether anonymous routes are limited for each client address. */
  readonly rateLimit: boolean;
  /** Addresses, ranges and the word `unix`: whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  /** Told of every answer; for monitoring. */
  readonly observe?: ((answered: Answered) => void) | undefined;
}

/** A request that was answered. */
export interface Answered {
  readonly method: string;
  /** As registered, or "other". */
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
}

export interface Web {
  readonly services: Services;
  readonly options: WebOptions;
  readonly startedAt: Date;
  readonly findSession: SessionFinder;
  readonly limits: RateLimits;
  readonly exportSlots: Slots;
}

/**
 * Lets only callers with the right session through, and gives the routes `session` and `context`. As a `derive` it runs
 * before validation, so that a caller who may not ask learns nothing of what would be wrong with the request.
 */
export function requireSession(web: Web, permission: Exclude<Permission, "public">) {
  async function guard({ request }: { readonly request: Request }) {
    const session = await authorize(web.findSession, request, permission);
    return { session, context: contextOf(web.services, request, session.principal) };
  }
  guards.set(guard, permission);
  return new Elysia({ name: `session:${permission}` }).derive({ as: "scoped" }, guard);
}

/** What each guard asks for, so that the document says what is enforced and not what somebody wrote beside it. */
const guards = new WeakMap<object, Permission>();

/** What the guards among a route's `transform` hooks ask of the caller. */
export function permissionOf(transform: unknown): Permission {
  for (const hook of Array.isArray(transform) ? transform : []) {
    const permission = guards.get(hook?.fn);
    if (permission !== undefined) return permission;
  }
  return "public";
}

/** Lets in what the limit of that kind allows the client's address, and gives the routes `context`, for an anonymous caller. */
export function anonymous(web: Web, kind: LimitKind) {
  return new Elysia({ name: `anonymous:${kind}` }).derive({ as: "scoped" }, ({ request }) => {
    countRequest(web, request, kind);
    return { context: contextOf(web.services, request) };
  });
}

/** Parses a route's body. Elysia parses before any other hook, so the session is asked for here too. */
export function jsonBody(web: Web, permission: Exclude<Permission, "public">) {
  return async ({ request }: { readonly request: Request }) => {
    await authorize(web.findSession, request, permission);
    return await readJson(request, web.options.maxBody);
  };
}

/** The same for a route that anyone may call: a request counts against its limit when it arrives, whatever its body holds. */
export function anonymousBody(web: Web, kind: LimitKind) {
  return async ({ request }: { readonly request: Request }) => {
    countRequest(web, request, kind);
    return await readJson(request, web.options.maxBody);
  };
}

const counted = new WeakSet<Request>();

/** Counts a request once, by whichever hook sees it first; throws `limited`. */
function countRequest(web: Web, request: Request, kind: LimitKind): void {
  if (counted.has(request)) return;
  counted.add(request);
  web.limits.take(kind, infoOf(request).address);
}
