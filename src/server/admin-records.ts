/** Administrators as the records that the API and the command line show. */

import type { AdminEntry } from "../domain/auth/administrators/admin-rows.ts";
import { missingOf } from "../domain/auth/required-factors.ts";
import type { Context } from "../domain/operation/context.ts";
import { formatOptionalTimestamp, formatTimestamp } from "../shared/time/timestamp.ts";
import type { SsoIdentityRow } from "../store/schema-sso.ts";

export function adminRecord({ policy }: Pick<Context, "policy">, admin: AdminEntry) {
  // Single sign-on is a whole login, and who is invited has not logged in yet.
  const isAsked = admin.status === "active" && !admin.sso;
  return {
    id: admin.id,
    username: admin.username,
    email: admin.email,
    role: admin.role,
    passkeys: admin.passkeys,
    totp: admin.totp,
    factor_missing: isAsked && missingOf(policy.adminLogin, admin) !== undefined,
    created_at: formatTimestamp(admin.createdAt),
    last_login_at: formatOptionalTimestamp(admin.lastLoginAt),
    status: admin.status,
    sso: admin.sso,
  };
}

/** Somebody who came in by single sign-on and was removed. */
export function removedRecord({ id, username, issuer, subject, createdAt }: SsoIdentityRow) {
  return { id, username, issuer, subject, created_at: formatTimestamp(createdAt) };
}
