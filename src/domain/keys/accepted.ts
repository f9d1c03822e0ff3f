/** Whether a key that is to be stored would open anything, and whether there is room for it. */

import { UamError } from "../../shared/errors.ts";
import type { KeyRow } from "../../store/schema.ts";
import type { User } from "../accounts/find-user.ts";
import { hostOf } from "../accounts/own-host.ts";
import { isProven } from "../accounts/profiles.ts";
import { hostsOfUser } from "../hosts/placements.ts";
import type { Operation } from "../operation/context.ts";
import { factorRefusal, isSecurityKey, type Verifying, verifyingProfiles } from "./second-factor.ts";

/**
 * Throws `invalid` for a key that the service's own host refuses, if the user has no other host: it would open nothing. A further host
 * may accept it; one that does not reports a problem, which the key's owner is shown. And for a key that is no security key, or is not proven to be
 * one, where a profile asks the user for that on any host.
 */
export async function requireAccepted(
  op: Operation,
  user: User,
  key: Pick<KeyRow, "type" | "bits" | "model">,
): Promise<void> {
  // Where there is no profile at all, none is looked for.
  if (user.profiles !== null && !isProven(key)) requireFactor(await verifyingProfiles(op.tx, user.id), key);
  const refusal = await hostOf(op.context, user).keyRefusal(key);
  if (refusal === undefined || (await hostsOfUser(op.tx, user.id)).length > 1) return;
  throw new UamError("invalid", `The key would open nothing on this host: ${refusal}`, { reason: "key.type" });
}

/** Throws `invalid` if one of these profiles does not take the key. */
export function requireFactor([asking]: readonly Verifying[], key: Pick<KeyRow, "type" | "model">): void {
  const refusal = factorRefusal(asking, key);
  if (refusal === undefined) return;
  const reason = isSecurityKey(key) ? "key.attestation_missing" : "key.type";
  throw new UamError("invalid", `The key is not accepted: ${refusal}`, { reason });
}

/** Throws `conflict` if the account has as many keys as it may have. */
export function requireRoom(keys: readonly KeyRow[], maximum: number): void {
  if (keys.length >= maximum) {
    const sentence = `The account has ${maximum} keys, which is the maximum; revoke one first`;
    throw new UamError("conflict", sentence, { reason: "key.limit" });
  }
}
