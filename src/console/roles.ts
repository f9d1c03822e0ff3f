/** The permissions of an administrator's role. The service decides; this only keeps the pages from offering what it would refuse. */

import type { AdminRole } from "../shared/product/statuses.ts";

/** The subjects of the pages. */
export type Area =
  | "users"
  | "applications"
  | "audit"
  | "settings"
  | "admins"
  | "webhooks"
  | "hosts"
  | "reviews"
  | "access";

/** The roles that may change something there, the highest first. Nobody changes the audit log; `audit` names its readers, and `access` those of who had access. */
const CHANGES: Readonly<Record<Area, readonly AdminRole[]>> = {
  users: ["owner", "operator"],
  reviews: ["owner", "operator"],
  applications: ["owner", "operator", "reviewer"],
  audit: ["owner"],
  access: ["owner", "operator"],
  settings: ["owner"],
  admins: ["owner"],
  webhooks: ["owner"],
  hosts: ["owner"],
};

/** The roles that may look, besides those that may change something there, and the auditors. */
const LOOKS: Partial<Readonly<Record<Area, readonly AdminRole[]>>> = { hosts: ["operator"] };

/** Whether the role may change something there. */
export function mayChange(role: AdminRole, area: Area): boolean {
  return CHANGES[area].includes(role);
}

/** Whether the role may see it: auditors read everything. */
export function maySee(role: AdminRole, area: Area): boolean {
  return rolesThatSee(area).includes(role);
}

/** The roles that may see it, the highest first. */
export function rolesThatSee(area: Area): readonly AdminRole[] {
  return [...CHANGES[area], ...(LOOKS[area] ?? []), "auditor"];
}
