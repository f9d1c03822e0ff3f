/** The routes of the contract as Elysia wants them, each with its guard, its parser, its schemas and its handler. */

import { Elysia, status } from "elysia";
import type * as v from "valibot";
import type { FailureStatus, Route, Routes } from "../../../contract/route.ts";
import type { ErrorCode } from "../../../shared/errors.ts";
import type { Web } from "../web.ts";
import type { Call, Handler, Handlers } from "./call.ts";
import { data } from "./envelope.ts";
import { otherFailuresAs, STATUS } from "./errors.ts";
import { type Admitted, admit, parseBody } from "./guard.ts";
import { type Outgoing, replyOf } from "./reply.ts";

/** All routes of the contract, answered by their handlers. */
export function contractRoutes<C extends Routes>(web: Web, contract: C, handlers: Handlers<C>) {
  // As a `derive` the guard runs before validation, where `resolve`, `guard` and macros run after it: a caller without
  // permission learns nothing of what would be wrong with the request.
  const routes = new Elysia().derive(async ({ request }) => ({ admitted: await admit(web, request) }));
  for (const [key, route] of Object.entries(contract)) {
    const [method = "", path = ""] = key.split(" ");
    // A record's type cannot say that each handler belongs to the route of its own key: Handlers has checked that.
    const run = handlers[key] as unknown as Handler<Route>;
    routes.route(method, path, elysiaHandler(web, route, run), schemasOf(web, route));
  }
  return routes;
}

function schemasOf(web: Web, route: Route) {
  const { params, query, body, answer, mayWait } = route;
  const statuses = [route.status ?? 200, ...(mayWait === true ? [202] : [])];
  return {
    ...(params === undefined ? {} : { params }),
    ...(query === undefined ? {} : { query }),
    ...(body === undefined ? {} : { body, parse: ({ request }: Asked) => parseBody(web, request) }),
    ...(answer === undefined
      ? {}
      : { response: Object.fromEntries(statuses.map((status) => [status, successOf(route, answer)])) }),
  };
}

interface Asked {
  readonly request: Request;
}

/** The parts of Elysia's context that a handler uses. */
interface Received extends Asked {
  readonly admitted: Admitted;
  readonly params: unknown;
  readonly query: unknown;
  readonly body?: unknown;
}

/** Elysia reads from a handler's text what it has to parse for it, so each of these names what its routes need and no more. */
function elysiaHandler(web: Web, route: Route, run: Handler<Route>) {
  const answer = (received: Received, outgoing?: Outgoing) => respond(web, { route, run }, received, outgoing);
  const hasBody = route.body !== undefined;
  if (route.success === undefined) {
    return hasBody
      ? async ({ request, admitted, params, query, body }: Received) =>
          await answer({ request, admitted, params, query, body })
      : async ({ request, admitted, params, query }: Received) => await answer({ request, admitted, params, query });
  }
  return hasBody
    ? async ({ request, admitted, params, query, body, cookie, set }: Received & Outgoing) =>
        await answer({ request, admitted, params, query, body }, { cookie, set })
    : async ({ request, admitted, params, query, cookie, set }: Received & Outgoing) =>
        await answer({ request, admitted, params, query }, { cookie, set });
}

interface Handled {
  readonly route: Route;
  readonly run: Handler<Route>;
}

async function respond(web: Web, { route, run }: Handled, received: Received, outgoing: Outgoing | undefined) {
  const { admitted, ...parsed } = received;
  const reply = outgoing === undefined ? {} : { reply: replyOf(web, outgoing) };
  // The validated request has the types of the route's schemas; Elysia knows only that there are some.
  const call = { web, ...admitted, ...parsed, ...reply } as Call<Route>;
  const answered = await withStatuses(route, async () => await run(call));
  if (answered === undefined || answered instanceof Response) return answered;
  const body = route.isBare === true ? answered : { data: answered };
  return route.status === undefined ? body : status(route.status, body);
}

/** A refusal of an operation keeps its status if the route names it; any other gets the route's status for other failures. */
async function withStatuses<T>({ otherwise, refusals = {} }: Route, run: () => Promise<T>): Promise<T> {
  if (otherwise === undefined) return await run();
  const codes = Object.entries(STATUS) as [ErrorCode, FailureStatus][];
  const kept = codes.filter(([, status]) => status in refusals).map(([code]) => code);
  const other = codes.find(([, status]) => status === otherwise)?.[0] ?? "internal";
  return await otherFailuresAs(other, kept, run());
}

function successOf({ isBare }: Route, answer: v.GenericSchema): v.GenericSchema {
  return isBare === true ? answer : data(answer);
}
