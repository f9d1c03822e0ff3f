/** Which user is meant on the command line. */

import type { Context } from "../../domain/operation/context.ts";
import { UamError } from "../../shared/errors.ts";
import { withoutPrefix } from "../../shared/text/account-name.ts";
import type { UserRow } from "../../store/schema.ts";

/** The form of an id; no id is longer. */
const ID = /^\d{1,15}$/;

/** The user with that name, host account or id, in this order: a name may be all digits. Undefined if there is none. */
export async function findUserReferred(context: Context, reference: string): Promise<UserRow | undefined> {
  const { findUser, findUserByName } = await import("../../domain/accounts/find-user.ts");
  const named = await findUserByName(context.db, withoutPrefix(reference));
  return named ?? (ID.test(reference) ? await findUser(context.db, Number(reference)) : undefined);
}

/** The same; throws `not_found` if there is none. */
export async function requireUserReferred(context: Context, reference: string): Promise<UserRow> {
  const user = await findUserReferred(context, reference);
  if (user !== undefined) return user;
  throw new UamError("not_found", noSuchUser(reference));
}

/** The sentence about a reference that is nobody's. */
export function noSuchUser(reference: string): string {
  const kinds = ID.test(reference) ? "name or id" : "name";
  return `There is no user with the ${kinds} ${JSON.stringify(reference)}`;
}
