/** The envelope around every JSON body of an answer. */

import * as v from "valibot";

/** The body of every failure. */
export const Failure = v.pipe(
  v.object({ error: v.pipe(v.string(), v.description("A sentence a person can act on")) }),
  v.title("Error"),
);

/** The body of every success. */
export function data<S extends v.GenericSchema>(payload: S) {
  return v.object({ data: payload });
}
