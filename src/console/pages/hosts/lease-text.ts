/** Leases and names as people type them: told before the service would. */

import { HOST_NAME } from "../../../shared/text/host-name.ts";
import { NO_LEASE, parseLease } from "../../../shared/time/lease.ts";

/** Whether the service would take the text as a lease. */
export function isLease(text: string): boolean {
  try {
    parseLease(text);
    return true;
  } catch {
    return false;
  }
}

/** The lease that a field says: null for none of its own, undefined for a text that is none. */
export function leaseIn(text: string): string | null | undefined {
  const typed = text.trim().toLowerCase();
  if (typed === "") return null;
  return typed === NO_LEASE || isLease(typed) ? typed : undefined;
}

/** The name as it is stored; undefined for a text that is none. */
export function nameIn(text: string): string | undefined {
  const name = text.trim().toLowerCase();
  return HOST_NAME.test(name) && !/^\d+$/.test(name) ? name : undefined;
}
