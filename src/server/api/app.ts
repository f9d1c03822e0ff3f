/** The service as a Web-standard fetch handler: routes, errors, and what every response carries. */

import { Elysia } from "elysia";
import { createRateLimits } from "../../domain/auth/rate-limits.ts";
import { createSessionFinder } from "../../domain/auth/sessions.ts";
import type { Services } from "../../domain/operation/context.ts";
import { clientAddress, parseTrustedProxies } from "../../shared/client-address.ts";
import { createSlots } from "../../shared/slots.ts";
import { approvalRoutes } from "./approvals.ts";
import { auditRoutes } from "./audit.ts";
import { authRoutes } from "./auth.ts";
import { refuseLargeBody } from "./body.ts";
import { documentRoutes } from "./document.ts";
import { errorResponse, isFault } from "./errors.ts";
import { checkOrigin, completeHeaders } from "./headers.ts";
import { healthRoutes } from "./health.ts";
import { meRoutes } from "./me.ts";
import { createOpenApiDocument, type DescribedRoute, type OpenApiDocument } from "./openapi.ts";
import { acceptContent, recordRefusal } from "./refusals.ts";
import { infoOf, noteRequest } from "./request.ts";
import { checkTarget, preflight, type RouteName, routeOf, trimPath, unknownRoute } from "./routing.ts";
import { settingRoutes } from "./settings.ts";
import { statsRoutes } from "./stats.ts";
import { userRoutes } from "./users.ts";
import type { Web, WebOptions } from "./web.ts";

export const API_ROOT = "/api/v1";

/** Audit exports at once; each keeps one connection of the database busy. */
const MAX_EXPORTS = 2;

/** A fetch handler; `peer` is the address of the socket's other end, undefined on a unix socket. It never throws. */
export type FetchHandler = (request: Request, peer: string | undefined) => Promise<Response>;

export interface App {
  readonly fetch: FetchHandler;
  readonly routes: readonly RouteName[];
  /** True for a request whose answer may pause while it is made: the export waits for the database and for its reader. */
  readonly mayPause: (request: Request) => boolean;
}

/** Builds the application on the services; nothing else is needed to answer requests. */
export function createApp(services: Services, options: WebOptions): App {
  const web: Web = {
    services,
    options,
    startedAt: services.clock.now(),
    findSession: createSessionFinder({ db: services.side, clock: services.clock }),
    limits: createRateLimits({ enabled: options.rateLimit, clock: services.clock }),
    exportSlots: createSlots(MAX_EXPORTS, "Two exports are running already; try again when one is done", 30),
  };
  const trusted = parseTrustedProxies(options.trustedProxies);
  const elysia = buildRoutes(web);
  const routes = elysia.routes.map(({ method, path }) => ({ method, path: trimPath(path) }));
  return {
    routes,
    mayPause: isExport,
    fetch: (received, peer) => {
      const request = withoutTls(received);
      noteRequest(request, clientAddress(peer, request.headers.get("x-forwarded-for"), trusted));
      return answer(web, elysia, request);
    },
  };
}

/** The OpenAPI document of the application that these options make; needs no services. */
export function describeApi(options: WebOptions): OpenApiDocument {
  const web: Web = {
    options,
    startedAt: new Date(0),
    findSession: absent,
    get services() {
      return absent();
    },
    get limits() {
      return absent();
    },
    get exportSlots() {
      return absent();
    },
  };
  return documentOf(web, buildRoutes(web).routes);
}

function absent(): never {
  throw new Error("Routes that are only described answer nothing");
}

function documentOf({ options }: Web, routes: readonly DescribedRoute[]): OpenApiDocument {
  return createOpenApiDocument(routes, { root: API_ROOT, baseUrl: options.baseUrl, version: options.version });
}

/** Elysia with standardHostname: false looks for the path from the seventh character on, where https:// has its own slash. */
function withoutTls(request: Request): Request {
  return request.url.startsWith("https:") ? new Request(request.url.replace("https:", "http:"), request) : request;
}

function buildRoutes(web: Web) {
  // Without standardHostname: false, a Host header without a port is a 404 on every route.
  const elysia = new Elysia({ handler: { standardHostname: false } });
  elysia.onError(async ({ code, error, request }) => {
    const thrown = code === "NOT_FOUND" ? unknownRoute(elysia.routes, request) : error;
    if (isFault(thrown)) {
      const { id } = infoOf(request);
      web.services.log.error("a request failed", {
        requestId: id,
        method: request.method,
        path: new URL(request.url).pathname,
        error: thrown,
      });
    }
    return await answerRefusal(web, request, errorResponse(thrown));
  });
  // After the guards, so that who may not ask learns nothing of a limit; what a route reads itself is bounded there.
  elysia.onBeforeHandle(({ request }) => {
    acceptContent(request);
    return refuseLargeBody(request, web.options.maxBody);
  });
  elysia.group(API_ROOT, (api) =>
    api
      .use(healthRoutes(web))
      .use(authRoutes(web))
      .use(userRoutes(web))
      .use(meRoutes(web))
      .use(approvalRoutes(web))
      .use(auditRoutes(web))
      .use(settingRoutes(web))
      .use(statsRoutes(web))
      .use(documentRoutes(() => documentOf(web, elysia.routes))),
  );
  return elysia;
}

/** The refusal, once it is on record where it has to be; else the failure to record it. */
async function answerRefusal(web: Web, request: Request, response: Response): Promise<Response> {
  try {
    await recordRefusal(web.services, request, response);
    return response;
  } catch (error) {
    return errorResponse(error);
  }
}

type Routes = Pick<Elysia, "handle" | "routes">;

async function answer(web: Web, elysia: Routes, request: Request): Promise<Response> {
  const began = performance.now();
  const { id, address } = infoOf(request);
  const response = await respond(web, elysia, request);
  completeHeaders(web.options, request, response);
  const { method } = request;
  const path = new URL(request.url).pathname;
  if (web.options.observe !== undefined) {
    const seconds = (performance.now() - began) / 1000;
    web.options.observe({ method, route: routeOf(elysia.routes, request), status: response.status, seconds });
  }
  const milliseconds = Math.round((performance.now() - began) * 10) / 10;
  web.services.log.debug("request", { requestId: id, method, path, status: response.status, milliseconds, address });
  return response;
}

async function respond(web: Web, elysia: Routes, request: Request): Promise<Response> {
  try {
    checkTarget(request);
    checkOrigin(web.options, request);
    const preflighted = preflight(web.options, elysia.routes, request);
    if (preflighted !== undefined) return preflighted;
    const response = await elysia.handle(request);
    return request.method === "HEAD" && response.ok && isExport(request) ? withoutLength(response) : response;
  } catch (error) {
    if (isFault(error)) web.services.log.error("a request failed", { requestId: infoOf(request).id, error });
    return errorResponse(error);
  }
}

function isExport(request: Request): boolean {
  return trimPath(new URL(request.url).pathname) === `${API_ROOT}/audit/export`;
}

/** Elysia says of a HEAD's empty body that its length is 0; nobody knows the file's, and then none is said (RFC 9110, 8.6). */
function withoutLength({ status, headers }: Response): Response {
  headers.delete("content-length");
  // A runtime counts what it can; a stream it can only ask, and for a HEAD does not.
  const unread = new ReadableStream({ pull: (controller) => controller.close() }, { highWaterMark: 0 });
  return new Response(unread, { status, headers });
}
