/** What an answer may do while the service's history went back: nothing that gives access. Pure. */

import type { AccountHours, AccountState } from "../protocol/fleet.ts";
import { narrower } from "./account-keys.ts";
import { commonHours } from "./hours.ts";

/** The part of an answer that counts until an administrator accepts that the history went back: nothing that gives access. */
export function restrained(old: AccountState | undefined, told: AccountState): AccountState {
  const mayOpen = old !== undefined && (old.open || old.hours !== undefined);
  // Which of two profiles gives less is not known here.
  if (!mayOpen || !told.open || told.profile !== old.profile)
    return { ...told, open: false, keys: [], hours: undefined };
  const known = new Map(old.keys.map((key) => [key.fingerprint, key]));
  const keys = told.keys.flatMap((key) => {
    const before = known.get(key.fingerprint);
    return before === undefined ? [] : [narrower(before, key)];
  });
  const expire_at = told.expire_at < old.expire_at ? told.expire_at : old.expire_at;
  if (old.hours === undefined && told.hours === undefined) return { ...told, expire_at, keys };
  return { ...told, hours: commonHours(hoursOf(old), hoursOf(told)), expire_at, keys };
}

/** Without hours it is open until its end. */
function hoursOf({ hours, expire_at }: AccountState): AccountHours {
  return hours ?? { until: expire_at, windows: [{ from: NEVER_TOLD, to: expire_at }] };
}

/** The expiry of an account that was found on the host and that the service never mentioned. */
export const NEVER_TOLD = "1970-01-01T00:00:00.000Z";
