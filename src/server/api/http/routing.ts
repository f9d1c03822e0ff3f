/** Looks up a path among the registered routes: its methods, and so 404, 405 and the answer to a preflight. */

import type { Route, Routes } from "../../../contract/route.ts";
import { UamError } from "../../../shared/errors.ts";
import type { Access } from "../../../shared/product/roles.ts";
import { HttpRefusal } from "./errors.ts";

/** A route as registered, e.g. `GET /api/v1/users/:id`. */
export interface RouteName {
  readonly method: string;
  readonly path: string;
}

/** A route of the contract, as it is registered. */
export interface RegisteredRoute extends RouteName {
  readonly contract: Route;
}

/** The contract's routes below `root`. */
export function routesBelow(root: string, contract: Routes): readonly RegisteredRoute[] {
  return Object.entries(contract).map(([key, route]) => {
    const [method = "", path = ""] = key.split(" ");
    return { method, path: root + path, contract: route };
  });
}

/** The registered routes by their paths. Built once: every request is looked up in it. */
export interface RouteIndex<R extends RouteName = RouteName> {
  /** The path of the routes that a request for this path is for, as registered; "other" if there are none. */
  readonly patternOf: (path: string) => string;
  /** The route of that method and registered path; a HEAD is answered as a GET is. */
  readonly find: (method: string, pattern: string) => R | undefined;
  /** The methods that this path has, in alphabetical order; none if it does not exist. */
  readonly allowed: (path: string) => readonly string[];
}

/** The index of these routes. */
export function indexRoutes<R extends RouteName>(routes: readonly R[]): RouteIndex<R> {
  const patterns = new Map<string, { readonly parts: readonly string[]; readonly methods: Map<string, R> }>();
  for (const route of routes) {
    const pattern = trimPath(route.path);
    const known = patterns.get(pattern) ?? { parts: pattern.split("/"), methods: new Map<string, R>() };
    known.methods.set(route.method, route);
    if (route.method === "GET") known.methods.set("HEAD", route);
    patterns.set(pattern, known);
  }
  function matching(path: string): readonly string[] {
    const given = trimPath(path).split("/");
    return [...patterns].filter(([, { parts }]) => matches(parts, given)).map(([pattern]) => pattern);
  }
  return {
    patternOf(path) {
      const trimmed = trimPath(path);
      // A route without parameters wins over one with them.
      return patterns.has(trimmed) ? trimmed : (matching(trimmed)[0] ?? "other");
    },
    find: (method, pattern) => patterns.get(pattern)?.methods.get(method),
    allowed: (path) => {
      const methods = matching(path).flatMap((pattern) => [...(patterns.get(pattern)?.methods.keys() ?? [])]);
      return [...new Set(methods)].sort();
    },
  };
}

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

/** Whether requests of that method only read (RFC 9110, section 9.2.1). */
export function isSafe(method: string): boolean {
  return SAFE_METHODS.has(method);
}

/** Whether a request of that method reads or changes: an auditor may only read. */
export function accessOf(method: string): Access {
  return isSafe(method) ? "read" : "change";
}

/** A name or an address, and perhaps a port (RFC 9110, section 7.2); empty where the target has no host. */
const HOST = /^(?:[^\s/?#@\\[\]]*|\[[0-9a-f:.]+\](?::\d+)?)$/i;

/**
 * Throws `invalid` for a target with a fragment, which no target may have and which runtimes pass on as part of the path,
 * and for an invalid Host (RFC 9112, section 3.2).
 */
export function checkTarget(request: Request): void {
  if (request.url.includes("#")) throw new UamError("invalid", "The address of a request must not contain #");
  if (!HOST.test(request.headers.get("host") ?? ""))
    throw new UamError("invalid", "The Host header does not name a host");
}

/**
 * The URL without empty query parameters, which count as absent: forms send them. Not `preview`: whoever writes it, with or without
 * a value, does not mean the thing itself to be done.
 */
export function withoutEmptyParameters(url: string): string {
  const [path = "", query, ...rest] = url.split("?");
  // A URL that is refused for a fragment (see checkTarget) keeps it.
  if (query === undefined || url.includes("#")) return url;
  const kept = [query, ...rest]
    .join("?")
    .split("&")
    .filter((parameter) => /=.|^preview=?$/.test(parameter));
  return kept.length === 0 ? path : `${path}?${kept.join("&")}`;
}

/** 405 with what is allowed where the path exists, else 404. */
export function unknownRoute(routes: RouteIndex, request: Request): Error {
  const allowed = routes.allowed(pathOf(request));
  if (allowed.length === 0)
    return new UamError("not_found", "There is nothing at this path", { reason: "route.unknown" });
  const list = allowed.join(", ");
  return new HttpRefusal(405, `${request.method} is not allowed here; allowed: ${list}`, list);
}

/**
 * The answer to a browser that asks on behalf of a listed origin whether it may call (CORS preflight); undefined for any
 * other request, which is then treated as usual. The headers that name the origin are on every response.
 */
export function preflight(corsOrigins: readonly string[], routes: RouteIndex, request: Request): Response | undefined {
  const { headers } = request;
  if (request.method !== "OPTIONS" || !headers.has("access-control-request-method")) return undefined;
  if (!corsOrigins.includes(headers.get("origin") ?? "")) return undefined;
  const allowed = routes.allowed(pathOf(request));
  if (allowed.length === 0) return undefined;
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-methods": allowed.join(", "),
      "access-control-allow-headers": "Content-Type",
      "access-control-max-age": "600",
    },
  });
}

/** The path of a request, percent-encoded as it came. */
export function pathOf(request: Request): string {
  return new URL(request.url).pathname;
}

/** The path without a trailing slash, which routes ignore. */
export function trimPath(path: string): string {
  return path.replace(/(.)\/$/, "$1");
}

function matches(wanted: readonly string[], given: readonly string[]): boolean {
  return (
    wanted.length === given.length &&
    wanted.every((part, index) => (part.startsWith(":") ? given[index] !== "" : part === given[index]))
  );
}
