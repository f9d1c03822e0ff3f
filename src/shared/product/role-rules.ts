/** Which claims of single sign-on make which role: the rules of UAM_OIDC_ROLES, as text and parsed. */

import { UamError } from "../errors.ts";
import { ADMIN_ROLES, type AdminRole } from "./statuses.ts";

/** A person with that value of that claim has the role. */
export interface RoleRule {
  readonly claim: string;
  readonly value: string;
  readonly role: AdminRole;
}

const RULE = /^([^:]+):(.+)=([a-z]+)$/;

/** The rule that `CLAIM:VALUE=ROLE` means; %-escapes stand for characters that mean something here. Throws `invalid`. */
export function parseRoleRule(text: string): RoleRule {
  const [, claim = "", value = "", name = ""] = RULE.exec(text) ?? [];
  const role = ADMIN_ROLES.find((known) => known === name);
  if (claim === "") throw new UamError("invalid", `${text} is not of the form CLAIM:VALUE=ROLE`);
  if (role === undefined) throw new UamError("invalid", `${text} names no role: ${ADMIN_ROLES.join(", ")}`);
  try {
    return { claim: decodeURIComponent(claim), value: decodeURIComponent(value), role };
  } catch {
    throw new UamError("invalid", `${text} has a % that begins no escape; a percent sign is %25`);
  }
}
