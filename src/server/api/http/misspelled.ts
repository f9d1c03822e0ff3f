/** Misspelled fields and query parameters: `ttl` for `ttl_days` must not silently give 90 days. */

import type * as v from "valibot";
import { UamError } from "../../../shared/errors.ts";
import { nearMiss } from "../../../shared/text/near-miss.ts";

/** Where validators hold other validators. */
interface Shape {
  /** Of an object. */
  readonly entries?: Readonly<Record<string, v.GenericSchema>>;
  /** Of what is optional, or may be null. */
  readonly wrapped?: v.GenericSchema;
  /** Of a list. */
  readonly item?: v.GenericSchema;
  /** Itself, and the rules besides. */
  readonly pipe?: readonly { readonly type: string; readonly requirement?: unknown }[];
}

/** Names longer than any known one are cut off in messages. */
const SHOWN = 64;

/**
 * Throws `invalid` for the first name in `value` that the schema does not know, but that looks like one it does. Objects
 * within known fields are checked too; any other unknown name is ignored, however deep. `kind` says what has that name.
 */
export function refuseMisspelled(
  schema: v.GenericSchema | undefined,
  value: unknown,
  kind: "field" | "parameter",
): void {
  const { entries, wrapped, item, pipe } = (schema ?? {}) as Shape;
  if (wrapped !== undefined) refuseMisspelled(wrapped, value, kind);
  // A list that is too long is refused for its length, unread.
  if (item !== undefined && Array.isArray(value) && value.length <= mostOf(pipe))
    for (const one of value) refuseMisspelled(item, one, kind);
  if (entries === undefined || typeof value !== "object" || value === null) return;
  const known = Object.keys(entries);
  for (const [name, inner] of Object.entries(value)) {
    const meant = nearMiss(name, known);
    if (meant !== undefined) {
      throw new UamError("invalid", `There is no ${kind} "${name.slice(0, SHOWN)}". Did you mean ${meant}?`);
    }
    if (known.includes(name)) refuseMisspelled(entries[name], inner, kind);
  }
}

function mostOf(pipe: Shape["pipe"]): number {
  return Number(pipe?.find(({ type }) => type === "max_length")?.requirement ?? Number.POSITIVE_INFINITY);
}
