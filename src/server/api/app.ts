/** The service as a Web-standard fetch handler: routes, errors, and what every response carries. */

import { CONTRACT } from "../../contract/contract.ts";
import { createAuditReads } from "../../domain/audit/reads.ts";
import { createAdminProbe } from "../../domain/auth/administrators/first-admin.ts";
import { createRateLimits } from "../../domain/auth/sessions/rate-limits.ts";
import { createSessionFinder } from "../../domain/auth/sessions/sessions.ts";
import { createTokenFinder } from "../../domain/auth/tokens/token-use.ts";
import { createExportPlaces } from "../../domain/exports/places.ts";
import type { Services } from "../../domain/operation/context.ts";
import { createDatabaseProbe } from "../../domain/stats/probe.ts";
import { fleetOf } from "../../domain/wire/fleet.ts";
import { clientAddress, parseTrustedProxies } from "../../shared/net/client-address.ts";
import { HANDLERS } from "./handlers/all.ts";
import { createDeliveryPlaces } from "./handlers/webhooks.ts";
import { isOfAgent, signResponse } from "./http/agent-request.ts";
import { refuseAtFirstFault } from "./http/checking.ts";
import { errorResponse, HttpRefusal, isFault } from "./http/errors.ts";
import { checkOrigin, completeHeaders } from "./http/headers.ts";
import { createOpenApiDocument, type OpenApiDocument } from "./http/openapi.ts";
import { createOwnChanges } from "./http/own-changes.ts";
import { recordRefusal } from "./http/refusals.ts";
import { createRefusedChanges } from "./http/refused-changes.ts";
import { endChange, infoOf, noteRequest } from "./http/request.ts";
import { logRequest } from "./http/request-log.ts";
import { createRouter, routableUrl, withoutLength } from "./http/router.ts";
import { contractRoutes } from "./http/routes.ts";
import {
  checkTarget,
  indexRoutes,
  pathOf,
  preflight,
  type RouteName,
  routesBelow,
  trimPath,
  withoutEmptyParameters,
} from "./http/routing.ts";
import type { Phase, Web, WebOptions } from "./web.ts";

export const API_ROOT = "/api/v1";

const ROUTES = routesBelow(API_ROOT, CONTRACT);
const INDEX = indexRoutes(ROUTES);

/** Audit exports at once; each keeps one connection of the database busy. */
const MAX_EXPORTS = 2;

/**
 * A fetch handler; `peer` is the address of the socket's other end, undefined on a unix socket. `hold` is called once it is known who asks, for what
 * lasts: with how many seconds the answer may take and pause, 0 for without end; it returns how many it may wait. It never throws.
 */
export type FetchHandler = (
  request: Request,
  peer: string | undefined,
  hold?: (seconds: number) => number,
) => Promise<Response>;

export interface App {
  readonly fetch: FetchHandler;
  readonly routes: readonly RouteName[];
  /** Sets what the service is doing from now on; at first it is starting. */
  readonly enter: (phase: Phase) => void;
}

/** Builds the application on the services; nothing else is needed to answer requests. */
export function createApp(services: Services, options: WebOptions): App {
  let phase: Phase = "starting";
  let document: OpenApiDocument | undefined;
  const web: Web = {
    services,
    options,
    startedAt: services.clock.now(),
    findSession: createSessionFinder({
      db: services.autocommit,
      clock: services.clock,
      policy: services.policy,
    }),
    findToken: createTokenFinder(services),
    limits: createRateLimits({ enabled: options.rateLimit, clock: services.clock }),
    refusedChanges: createRefusedChanges(services, options.mostRefused),
    ownChanges: createOwnChanges(services, options.mostOwnChanges),
    auditReads: createAuditReads(),
    exportPlaces: createExportPlaces(MAX_EXPORTS),
    deliveryPlaces: createDeliveryPlaces(),
    routes: () => INDEX,
    phase: () => phase,
    databaseAnswers: createDatabaseProbe(services.autocommit),
    hasAdmins: createAdminProbe(services),
    document: () => {
      document ??= describeApi(options);
      return document;
    },
    fleet: () => fleetOf(services),
  };
  const trusted = parseTrustedProxies(options.trustedProxies);
  refuseAtFirstFault(CONTRACT);
  const router = buildRoutes(web);
  return {
    routes: router.routes.map(({ method, path }) => ({ method, path: trimPath(path) })),
    enter: (next) => {
      phase = next;
      if (next !== "stopping") return;
      web.fleet().release();
      void Promise.all([web.refusedChanges.record("all"), web.ownChanges.record("all")]).catch((error) =>
        services.log.error("refused changes are not recorded", { error }),
      );
    },
    fetch: async (received, peer, hold = (seconds) => seconds) => {
      const request = withUrl(received, withoutEmptyParameters(routableUrl(received.url)));
      const address = clientAddress(peer, request.headers.get("x-forwarded-for"), trusted);
      const route = INDEX.patternOf(pathOf(request));
      const entry = (INDEX.find(request.method, route) ?? INDEX.find("GET", route))?.contract;
      const { id } = noteRequest(request, { address, route, entry, target: targetOf(received.url), hold });
      return await services.log.within({ requestId: id }, () => answer(web, router, request));
    },
  };
}

/** The OpenAPI document of the application that these options make; needs no services. */
export function describeApi({ baseUrl, version, contact }: WebOptions): OpenApiDocument {
  return createOpenApiDocument(ROUTES, { root: API_ROOT, baseUrl, version, contact });
}

type Router = ReturnType<typeof buildRoutes>;

function buildRoutes(web: Web) {
  const router = createRouter(web, API_ROOT, async (thrown, request) => {
    noteFault(web, request, thrown);
    return await recorded(web, request, errorResponse(thrown));
  });
  return router.use(contractRoutes(web, CONTRACT, HANDLERS));
}

/** The refusal, once it is recorded where it has to be; else the failure to record it. */
async function recorded(web: Web, request: Request, response: Response): Promise<Response> {
  try {
    await recordRefusal(web.services, request, response);
    return response;
  } catch (error) {
    noteFault(web, request, error);
    return errorResponse(error);
  }
}

function withUrl(request: Request, url: string): Request {
  return url === request.url ? request : new Request(url, request);
}

async function answer(web: Web, router: Router, request: Request): Promise<Response> {
  const began = performance.now();
  const answered = await respond(web, router, request);
  endChange(request, answered);
  const response = isOfAgent(request) ? await signResponse(web, request, answered) : answered;
  completeHeaders(web.options, request, response);
  const { method } = request;
  const { route } = infoOf(request);
  const milliseconds = performance.now() - began;
  web.options.observe?.({ method, route, status: response.status, seconds: milliseconds / 1000 });
  const { status, headers } = response;
  logRequest(web.services.log, request, { status, reason: headers.get("uam-error"), milliseconds });
  return response;
}

async function respond(web: Web, router: Router, request: Request): Promise<Response> {
  try {
    checkTarget(request);
    checkOrigin(web.options, request);
    const preflighted = preflight(web.options.corsOrigins, web.routes(), request);
    if (preflighted !== undefined) return preflighted;
    const page = answerPage(web, request);
    if (page !== undefined) return page;
    const response = await router.handle(request);
    return request.method === "HEAD" && response.ok && isFile(request) ? withoutLength(response) : response;
  } catch (error) {
    noteFault(web, request, error);
    return errorResponse(error);
  }
}

function answerPage({ options }: Web, request: Request): Response | undefined {
  const { pages } = options;
  // Routes are never pages: most requests need no further look.
  if (pages === undefined || infoOf(request).route !== "other") return undefined;
  const page = pages(request, pathOf(request));
  if (page === undefined || request.method === "GET" || request.method === "HEAD") return page;
  throw new HttpRefusal(405, `${request.method} is not allowed here; allowed: GET, HEAD`, "GET, HEAD");
}

function noteFault({ services }: Web, request: Request, thrown: unknown): void {
  if (!isFault(thrown)) return;
  const { id, route } = infoOf(request);
  services.log.error("a request failed", { requestId: id, method: request.method, route, error: thrown });
}

/** Whether the success is content of its own, which is written while it is read. */
function isFile(request: Request): boolean {
  return infoOf(request).entry?.success?.content !== undefined;
}

/** The path after the API's root, whatever a proxy has put before it. */
function targetOf(url: string): string {
  const at = url.indexOf(`${API_ROOT}/`);
  return at < 0 ? "" : url.slice(at + API_ROOT.length);
}
