/** Which user is meant on the command line. */

import type { Context } from "../core/context.ts";
import { UamError } from "../core/errors.ts";
import type { UserRow } from "../db/schema.ts";

const PREFIX = "ext_";

/** The user's name without the prefix of host accounts: no user's name begins with it. */
export function withoutPrefix(name: string): string {
  return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name;
}

/** The user with that name, host account or id, in this order: a name may be all digits. Throws `not_found`. */
export async function requireUserReferred(context: Context, reference: string): Promise<UserRow> {
  const { findUser, findUserByName } = await import("../users/find.ts");
  const named = await findUserByName(context.db, withoutPrefix(reference));
  if (named !== undefined) return named;
  const id = /^\d{1,15}$/.test(reference) ? Number(reference) : undefined;
  const numbered = id === undefined ? undefined : await findUser(context.db, id);
  if (numbered !== undefined) return numbered;
  throw new UamError(
    "not_found",
    `There is no user with the name${id === undefined ? "" : " or id"} ${JSON.stringify(reference)}`,
  );
}
