/** Origin checks on the way in, and the headers that every response carries. */

import { UamError } from "../../../shared/errors.ts";
import type { WebOptions } from "../web.ts";
import { bearerOf, infoOf } from "./request.ts";
import { isSafe } from "./routing.ts";

/**
 * Throws `forbidden` for a state-changing request that another site made a browser send: one whose Origin is neither the
 * service's own nor listed, or that says it is cross-site without being from a listed origin. SameSite is only one layer.
 */
export function checkOrigin(options: WebOptions, request: Request): void {
  // No site can have a browser send a token that it does not know, nor any at all without asking first (CORS preflight).
  if (isSafe(request.method) || bearerOf(request) !== undefined) return;
  const origin = request.headers.get("origin");
  const listed = origin !== null && options.corsOrigins.includes(origin);
  if (listed) return;
  const foreign = origin !== null && origin !== options.baseUrl;
  if (foreign || request.headers.get("sec-fetch-site") === "cross-site") {
    const sentence = "Requests from another origin are refused; see UAM_BASE_URL and UAM_CORS_ORIGINS";
    throw new UamError("forbidden", sentence, { reason: "request.origin" });
  }
}

/** Gives the response the headers that every response carries. */
export function completeHeaders(options: WebOptions, request: Request, { headers }: Response): void {
  // A page of the console comes with its own policy, and it and its files with how long they may be kept.
  for (const [name, value] of HARDENING) if (!headers.has(name)) headers.set(name, value);
  const { id, entry } = infoOf(request);
  headers.set("x-request-id", id);
  if (entry?.isCacheable !== true && !headers.has("cache-control")) headers.set("cache-control", "no-store");
  if (options.baseUrl.startsWith("https:"))
    headers.set("strict-transport-security", "max-age=31536000; includeSubDomains");
  const origin = request.headers.get("origin");
  if (options.corsOrigins.length > 0) {
    headers.append("vary", "Origin");
    if (origin !== null && options.corsOrigins.includes(origin)) {
      headers.set("access-control-allow-origin", origin);
      headers.set("access-control-allow-credentials", "true");
      headers.set("access-control-expose-headers", "X-Request-Id, Retry-After, Content-Disposition, Uam-Error");
      headers.set("cross-origin-resource-policy", "cross-origin");
    }
  }
  // Bun adds a charset and Deno does not; JSON has none (RFC 8259, section 11).
  if (headers.get("content-type")?.startsWith("application/json;")) headers.set("content-type", "application/json");
}

const HARDENING: readonly [string, string][] = [
  ["x-content-type-options", "nosniff"],
  ["x-frame-options", "DENY"],
  ["content-security-policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"],
  ["referrer-policy", "no-referrer"],
  ["cross-origin-resource-policy", "same-origin"],
  ["cross-origin-opener-policy", "same-origin"],
];
