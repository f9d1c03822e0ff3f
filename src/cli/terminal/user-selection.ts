/** Which users a command is about: one or more names, or a filter. */

import { message } from "@optique/core/message";
import { multiple, optional } from "@optique/core/modifiers";
import { option } from "@optique/core/primitives";
import type { Context } from "../../domain/operation/context.ts";
import { UamError } from "../../shared/errors.ts";
import { USER_STATUSES } from "../../shared/product/statuses.ts";
import type { UserRow } from "../../store/schema.ts";
import { oneOf, textOption, userArgument } from "./arguments.ts";
import { findUserReferred, noSuchUser } from "./find-user.ts";
import { shellWord } from "./shell-word.ts";

/** Users by name, or by a filter; see `selectionFault`. */
export interface Selection {
  readonly names: readonly string[];
  readonly supervisor: string | undefined;
  readonly status: (typeof USER_STATUSES)[number] | undefined;
  readonly search: string | undefined;
}

/** More than any database has: all who match are read at once, so that they are those of one moment. */
const EVERYBODY = { page: 1, pageSize: 10_000_000 } as const;

/** `NAME…`, `--supervisor`, `--status` and `--search`. */
export function selectionOptions() {
  return {
    names: multiple(userArgument()),
    supervisor: textOption("--supervisor", "NAME", message`In place of NAMEs: all users of this supervisor.`),
    status: optional(
      option("--status", oneOf(USER_STATUSES, "STATUS"), {
        description: message`In place of NAMEs: all users with this status.`,
      }),
    ),
    search: textOption(
      "--search",
      "TEXT",
      message`In place of NAMEs: all users with this text in username, host account, e-mail, full name, supervisor or purpose, in any case.`,
    ),
  };
}

/** The fault in a selection, as a sentence. An empty filter is no filter: a variable that is unset in a script must not mean everybody. */
export function selectionFault({ names, ...filter }: Selection): string | undefined {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  const empty = given.find(([, value]) => value?.trim() === "");
  if (empty !== undefined) return `--${empty[0]} is empty.`;
  if (names.length > 0 && given.length > 0) return "Give NAMEs or a filter, not both.";
  if (names.length > 0 || given.length > 0) return undefined;
  return "Give one or more NAMEs, or a filter: --supervisor, --status or --search.";
}

/** The NAME, if it is one name and nothing else. */
export function onlyName({ names, ...filter }: Selection): string | undefined {
  return names.length === 1 && Object.values(filter).every((value) => value === undefined) ? names[0] : undefined;
}

/** The users, each once: in the order of the names, or of those who match. Throws `not_found`, naming every name that nobody has. */
export async function selectUsers(context: Context, selection: Selection): Promise<readonly UserRow[]> {
  const { names, ...filter } = selection;
  if (names.length === 0) {
    const { listUsers } = await import("../../domain/users/list.ts");
    return (await listUsers(context, { ...filter, sort: "username" }, EVERYBODY)).items;
  }
  const found = new Map<number, UserRow>();
  const missing: string[] = [];
  for (const name of names) {
    const user = await findUserReferred(context, name);
    if (user === undefined) missing.push(name);
    else found.set(user.id, user);
  }
  if (missing.length > 0) throw new UamError("not_found", missing.map(noSuchUser).join(". "));
  return [...found.values()];
}

/** The filter as it is typed. */
export function filterText({ names: _, ...filter }: Selection): string {
  return Object.entries(filter)
    .flatMap(([name, value]) => (value === undefined ? [] : [`--${name} ${shellWord(value)}`]))
    .join(" ");
}
