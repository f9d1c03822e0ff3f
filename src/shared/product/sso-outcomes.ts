/** How a login by single sign-on ended, as the address of the login page says it. */

import type { Reason } from "./reasons.ts";

/** `done`, or the outcome that the page explains instead: each stands for a text of its own. */
export const SSO_OUTCOMES = [
  "done",
  "expired",
  "refused",
  "unavailable",
  "invalid",
  "role",
  "email",
  "removed",
  "last-owner",
  "limited",
  "failed",
] as const;

export type SsoOutcome = (typeof SSO_OUTCOMES)[number];

const OUTCOMES: Partial<Record<Reason, SsoOutcome>> = {
  "sso.expired": "expired",
  "sso.refused": "refused",
  "sso.unavailable": "unavailable",
  "sso.invalid": "invalid",
  "sso.role": "role",
  "sso.email": "email",
  "sso.removed": "removed",
  "admin.last_owner": "last-owner",
  "rate.limited": "limited",
};

/** The outcome that the page shows for that reason. */
export function outcomeOf(reason: Reason): SsoOutcome {
  return OUTCOMES[reason] ?? "failed";
}
