/** Which of the administrators' roles include which. */

import type { AdminRole } from "./statuses.ts";

/**
 * The roles whose rights each role includes, besides its own. Neither an auditor nor an operator may do all that the
 * other may.
 */
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
