/** Which audit records a list or an export has. */

import { message } from "@optique/core/message";
import { optional } from "@optique/core/modifiers";
import { option } from "@optique/core/primitives";
import type { AuditFilter } from "../../../domain/audit/audit.ts";
import type { Context } from "../../../domain/operation/context.ts";
import { UamError } from "../../../shared/errors.ts";
import { AUDIT_ACTIONS, RESOURCE_TYPES } from "../../../shared/product/audit-actions.ts";
import { RESULTS } from "../../../shared/product/statuses.ts";
import { oneOf, periodOptions, textOption } from "../../terminal/arguments.ts";
import { stored } from "../../terminal/completion.ts";

/** The filter as it is given at the command line. */
export interface GivenFilter extends Omit<AuditFilter, "userId"> {
  readonly user: string | undefined;
}

/** All filters. */
export function filterOptions() {
  return {
    ...periodOptions(),
    search: textOption(
      "--search",
      "TEXT",
      message`Only records with this text in actor, resource id, client address or a value of the detail, in any case.`,
    ),
    user: optional(
      option("--user", stored("NAME", "users"), {
        description: message`Only what concerns this user; for one who was deleted, the id.`,
      }),
    ),
    actor: textOption("--actor", "NAME", message`Only what this actor did.`),
    action: optional(
      option("--action", oneOf(AUDIT_ACTIONS, "ACTION"), {
        description: message`Only this action, such as user.create.`,
      }),
    ),
    resourceType: optional(
      option("--resource-type", oneOf(RESOURCE_TYPES, "TYPE"), {
        description: message`Only this kind of resource.`,
      }),
    ),
    resourceId: textOption("--resource-id", "ID", message`Only this resource.`),
    result: optional(
      option("--result", oneOf(RESULTS, "RESULT"), { description: message`Only what was done, or what failed.` }),
    ),
  };
}

/** The filter as the log is asked. Throws `not_found` for a user whom nobody is. */
export async function filterOf(context: Context, { user, ...given }: GivenFilter): Promise<AuditFilter> {
  const { actor, action, resourceType, resourceId, result, since, until, search } = given;
  const userId = user === undefined ? undefined : await userIdOf(context, user);
  return { userId, actor, action, resourceType, resourceId, result, since, until, search };
}

/** The id of the user with that name or id; an id that no stored user has is a deleted user's. */
async function userIdOf(context: Context, reference: string): Promise<number> {
  const { findUserReferred } = await import("../../terminal/find-user.ts");
  const user = await findUserReferred(context, reference);
  if (user !== undefined) return user.id;
  if (/^\d{1,15}$/.test(reference)) return Number(reference);
  const id = await lastOfName(context, reference.replace(/^ext_/, ""));
  const last = id === undefined ? "" : `: the last one of that name had ${id}`;
  throw new UamError(
    "not_found",
    `There is no user named ${JSON.stringify(reference)}; give the id of a user who was deleted${last}`,
  );
}

/** The id of the user who had this name and was removed last, as far back as a search of removals looks. */
async function lastOfName(context: Context, username: string): Promise<string | undefined> {
  if (!/^[a-z0-9_-]{1,32}$/.test(username)) return undefined;
  const { searchAudit } = await import("../../../domain/audit/search.ts");
  const page = { page: 1, pageSize: 100 };
  const found = await Promise.all(
    (["user.delete", "lifecycle.recycle"] as const).map((action) =>
      searchAudit(context, { action, search: username }, page),
    ),
  );
  return found
    .flatMap(({ items }) => items)
    .filter(({ result, detail }) => result === "success" && JSON.parse(detail).username === username)
    .sort((one, other) => other.id - one.id)[0]?.resourceId;
}
