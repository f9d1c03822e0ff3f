/** The actions for several users at once. */

import { userTexts } from "../../../texts/admin/user.ts";
import { userListTexts } from "../../../texts/admin/users.ts";
import type { WayBack } from "../change.ts";
import type { UserRecord } from "../user/record.ts";

export type BulkKind = "extend" | "disable" | "enable" | "welcome" | "undo";

export interface Bulk {
  readonly kind: BulkKind;
  readonly users: readonly UserRecord[];
  /** To undo: what sets each of the users back. */
  readonly ways?: readonly WayBack[];
}

const TEXTS = {
  extend: "extending",
  disable: "disabling",
  enable: "enabling",
  welcome: "welcoming",
  undo: "undoing",
} as const;

export function bulkTexts<K extends BulkKind>(kind: K) {
  return userListTexts.bulk[TEXTS[kind]];
}

/** Goes these ways back. */
export function undoing(ways: readonly WayBack[]): Bulk {
  return { kind: "undo", users: ways.map(({ user }) => user), ways };
}

/** That it was done for so many, in a sentence or two. */
export function doneText({ kind, ways }: Bulk, users: number): string {
  const done = bulkTexts(kind).done(users);
  return ways?.[0]?.change.kind === "enable" ? `${done} ${userTexts.undo.jobs}` : done;
}
