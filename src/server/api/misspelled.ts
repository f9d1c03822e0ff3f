/** Misspelled fields and query parameters: `ttl` for `ttl_days` must not give 90 days in silence. */

import type * as v from "valibot";
import { UamError } from "../../shared/errors.ts";
import { nearMiss } from "../../shared/near-miss.ts";

/** What validators hold other validators in. */
interface Shape {
  /** Of an object. */
  readonly entries?: Readonly<Record<string, v.GenericSchema>>;
  /** Of what is optional, or may be null. */
  readonly wrapped?: v.GenericSchema;
  /** Of a list. */
  readonly item?: v.GenericSchema;
}

/** Longer names than any that is known are cut off in messages. */
const SHOWN = 64;

/**
 * Throws `invalid` for the first name in `value` that the schema does not know, but that looks like one it does. Objects
 * within known fields are looked at too; what else is unknown is ignored, however deep. `kind` says what a name is of.
 */
export function refuseMisspelled(
  schema: v.GenericSchema | undefined,
  value: unknown,
  kind: "field" | "parameter",
): void {
  const { entries, wrapped, item } = (schema ?? {}) as Shape;
  if (wrapped !== undefined) refuseMisspelled(wrapped, value, kind);
  if (item !== undefined && Array.isArray(value)) for (const one of value) refuseMisspelled(item, one, kind);
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
