/** The actions for several users at once. */

import { userListTexts } from "../../../texts/admin/users.ts";

export type BulkKind = "extend" | "disable" | "welcome";

const TEXTS = { extend: "extending", disable: "disabling", welcome: "welcoming" } as const;

export function bulkTexts(kind: BulkKind) {
  return userListTexts.bulk[TEXTS[kind]];
}
