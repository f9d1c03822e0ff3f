/** The rights of an administrator's role: each route names the least role that may change something there. */

import { ADMIN_ROLES, type AdminRole } from "./statuses.ts";

/** The least role that may change something; "any" is for administrators' own affairs. */
export type LeastRole = Exclude<AdminRole, "auditor"> | "any";

/** Whether something is only read, or changed. */
export type Access = "read" | "change";

/** Each role and those above it. An auditor is below no other role: they read everything, and change nothing. */
const CHANGES: Readonly<Record<LeastRole, readonly AdminRole[]>> = {
  owner: ["owner"],
  operator: ["owner", "operator"],
  reviewer: ["owner", "operator", "reviewer"],
  any: ADMIN_ROLES,
};

/** The roles that may do it, the highest first. */
export function rolesFor(least: LeastRole, access: Access): readonly AdminRole[] {
  return ADMIN_ROLES.filter((role) => CHANGES[least].includes(role) || (access === "read" && role === "auditor"));
}

/** "owner, operator or auditor". */
export function namedRoles(roles: readonly AdminRole[]): string {
  return roles.length < 2 ? roles.join("") : `${roles.slice(0, -1).join(", ")} or ${roles.at(-1)}`;
}
