/** Which of the administrators' roles include which. */

import type { AdminRole } from "./statuses.ts";

/** What each role may do all of, besides itself. Neither of an auditor and an operator may do all that the other may. */
const INCLUDES: Readonly<Record<AdminRole, readonly AdminRole[]>> = {
  owner: ["operator", "reviewer", "auditor"],
  operator: ["reviewer"],
  reviewer: [],
  auditor: [],
};

/** Whether somebody of the role `own` may do all that the role `other` may. */
export function includesRole(own: AdminRole, other: AdminRole): boolean {
  return own === other || INCLUDES[own].includes(other);
}
