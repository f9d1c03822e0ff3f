/** The router that the routes are added to, and what Elysia needs around it. */

import { Elysia, ParseError } from "elysia";
import { UamError } from "../../../shared/errors.ts";
import type { Web } from "../web.ts";
import { isOfAgent, MAX_AGENT_BODY } from "./agent-request.ts";
import { refuseLargeBody } from "./body.ts";
import { acceptContent } from "./refusals.ts";
import { infoOf } from "./request.ts";
import { unknownRoute } from "./routing.ts";

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
    const most = infoOf(request).entry?.bodyLimit ?? web.options.maxBody;
    return refuseLargeBody(request, isOfAgent(request) ? MAX_AGENT_BODY : most);
  });
  return router;
}

/** The address as the router finds its path: with standardHostname: false from the seventh character on, https:// is one too long. */
export function routableUrl(url: string): string {
  return url.replace(/^https:/, "http:");
}

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
