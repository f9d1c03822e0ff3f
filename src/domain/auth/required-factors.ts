/** The requirements of `UAM_ADMIN_LOGIN`: which second factor an administrator must have. */

import { UamError } from "../../shared/errors.ts";
import type { AdminLoginMode } from "../operation/context.ts";

/** An administrator's passkeys, counted, and whether an authenticator app is set up. */
export interface Factors {
  readonly passkeys: number;
  readonly totp: boolean;
}

export const NO_FACTORS: Factors = { passkeys: 0, totp: false };

/** The factor that an administrator must set up before their session may do anything else. */
export type MissingFactor = Exclude<AdminLoginMode, "any">;

/** The factor that is missing for this login mode; undefined for an administrator who has one. */
export function missingOf(mode: AdminLoginMode, { passkeys, totp }: Factors): MissingFactor | undefined {
  if (mode === "any" || passkeys > 0) return undefined;
  return mode === "second-factor" && totp ? undefined : mode;
}

/** Throws `conflict` if these remaining factors are less than the service requires of every administrator. */
export function requireFactorsLeft(mode: AdminLoginMode, left: Factors): void {
  const missing = missingOf(mode, left);
  if (missing === undefined) return;
  const sentence =
    missing === "passkey"
      ? "This is your last passkey, and this service lets administrators in with a passkey only; add another one first"
      : "This is your last second factor, and this service asks every administrator for one; add another one first";
  throw new UamError("conflict", sentence, { reason: "factor.last" });
}
