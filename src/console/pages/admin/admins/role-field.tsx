/** Which role an administrator has, with what it may do. */

import { ADMIN_ROLES, type AdminRole } from "../../../../shared/product/statuses.ts";
import { adminsTexts } from "../../../texts/admin/admins.ts";
import { roleTexts } from "../../../texts/admin/roles.ts";
import { Select } from "../../../ui/field.tsx";

interface RoleFieldProps {
  readonly value: AdminRole;
  readonly onValue: (role: AdminRole) => void;
  readonly hint?: string;
}

/** A list of the roles; what the chosen one may do stands below it. */
export function RoleField({ value, onValue, hint }: RoleFieldProps) {
  const explained = adminsTexts.explained[value];
  return (
    <Select
      label={adminsTexts.invite.role}
      name="role"
      value={value}
      onValue={(role) => onValue(role as AdminRole)}
      options={ADMIN_ROLES.map((role) => [role, roleTexts.names[role]] as const)}
      hint={hint === undefined ? explained : `${explained} ${hint}`}
    />
  );
}
