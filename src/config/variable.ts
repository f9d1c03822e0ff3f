/** An environment variable, as the table of all of them has it. */

import type * as v from "valibot";

/** An environment variable. */
export interface Variable<T> {
  readonly name: `UAM_${string}`;
  /** Undefined: unset unless given. */
  readonly fallback: string | undefined;
  readonly meaning: string;
  readonly schema: v.GenericSchema<string, T>;
  /** A secret is hidden when printed, and may be given as NAME_FILE. */
  readonly secret: boolean;
}

export function variable<T>(
  name: `UAM_${string}`,
  fallback: string | undefined,
  schema: v.GenericSchema<string, T>,
  meaning: string,
): Variable<T> {
  return { name, fallback, meaning, schema, secret: false };
}

export function secret<T>(name: `UAM_${string}`, schema: v.GenericSchema<string, T>, meaning: string): Variable<T> {
  return { name, fallback: undefined, meaning, schema, secret: true };
}
