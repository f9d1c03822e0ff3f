/**
 * Every route with the schemas that its requests and answers are checked by, for typed clients such as the console. A test holds
 * this table against the routes that are registered.
 */

import type * as v from "valibot";
import { CONTRACT as MOVED } from "../../contract/contract.ts";
import { ConsoleConfig } from "../../contract/service.ts";

/** `query` and `body` as requests have them, `answer` as it is below `data`. */
export const CONTRACT = {
  ...MOVED,
  "GET /console/config": { answer: ConsoleConfig },
  "GET /healthz": {},
  "GET /readyz": {},
  "GET /openapi.json": {},
} as const;

export type Contract = typeof CONTRACT;
/** A route, such as "GET /users". */
export type RouteKey = keyof Contract;

/** A route's query as a client gives it. */
export type QueryOf<R extends RouteKey> = Contract[R] extends { readonly query: infer S extends v.GenericSchema }
  ? v.InferInput<S>
  : undefined;

/** A route's body as a client gives it. */
export type BodyOf<R extends RouteKey> = Contract[R] extends { readonly body: infer S extends v.GenericSchema }
  ? v.InferInput<S>
  : undefined;

/** What a route answers below `data`. */
export type AnswerOf<R extends RouteKey> = Contract[R] extends { readonly answer: infer S extends v.GenericSchema }
  ? v.InferOutput<S>
  : undefined;
