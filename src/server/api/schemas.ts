/** What routes wrap their schemas in. */

import * as v from "valibot";
import * as fields from "../../contract/fields.ts";
import { pageOf } from "../../contract/fields.ts";
import * as preview from "../../contract/preview.ts";

export {
  described,
  expiry,
  HostIdParams,
  IdParams,
  id,
  idNumber,
  listOf,
  networks,
  newNetworks,
  newPerson,
  PageQuery,
  pageFields,
  person,
  text,
  timestamp,
  ttlDays,
  wholeNumber,
} from "../../contract/fields.ts";

/** The body of every failure. */
export const Failure = v.pipe(
  v.object({ error: v.pipe(v.string(), v.description("A sentence a person can act on")) }),
  v.title("Error"),
);

/** The body of every success. */
export function data<S extends v.GenericSchema>(payload: S) {
  return v.object({ data: payload });
}

/** The body of a success that only says what the state is now. */
export function statusOf<const T extends string>(status: T) {
  return data(fields.statusOf(status));
}

/** One page of a list. */
export function paged<S extends v.GenericSchema>(item: S) {
  return data(pageOf(item));
}

/** The success of a route with a preview: that, or the payload. */
export function previewed<P extends v.GenericSchema, S extends v.GenericSchema>(told: P, payload: S) {
  return data(preview.previewed(told, payload));
}

/** Response schemas by status: the success and the failures a route can answer with. */
export function responses<S extends v.GenericSchema>(success: S, ...failures: readonly FailureStatus[]) {
  const map = { 200: success } as Record<number, v.GenericSchema> & { 200: S };
  for (const status of [...failures, 500]) map[status] = Failure;
  return map;
}

/** The same for a route that creates something. */
export function created<S extends v.GenericSchema>(success: S, ...failures: readonly FailureStatus[]) {
  const map = { 201: success } as Record<number, v.GenericSchema> & { 201: S };
  for (const status of [...failures, 500]) map[status] = Failure;
  return map;
}

export type FailureStatus = 400 | 401 | 403 | 404 | 409 | 429 | 503;
