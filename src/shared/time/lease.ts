/** Leases as texts: how long a host stays open without the service. Kept in milliseconds, 0 for without end. */

import { UamError } from "../errors.ts";
import { DAY, HOUR, MINUTE } from "./clock.ts";
import { formatDuration, parseDuration } from "./duration.ts";

/** For a host without a lease of its own or of its groups. */
export const DEFAULT_LEASE = 4 * HOUR;
export const SHORTEST_LEASE = 5 * MINUTE;
export const LONGEST_LEASE = 7 * DAY;

/** Stands for the end of a lease that has none: in the year 9999, which every database and format can say. */
export const FOREVER = "9999-12-31T23:59:59.999Z";

/** Whether this is the end of a lease that has none. */
export function isForever(end: Date): boolean {
  return end.getUTCFullYear() >= 9999;
}

/** The word for a host that stays open without the service, without a time limit. */
export const NO_LEASE = "none";

/**
 * The lease of a text such as "4h" or "none"; null stands for no lease of its own. Throws `invalid` outside 5 minutes to 7 days.
 */
export function parseLease(text: string | null): number | null {
  if (text === null) return null;
  if (text === NO_LEASE) return 0;
  const lease = parseDuration(text);
  if (lease >= SHORTEST_LEASE && lease <= LONGEST_LEASE) return lease;
  const range = `from ${formatDuration(SHORTEST_LEASE)} to ${formatDuration(LONGEST_LEASE)}`;
  throw new UamError("invalid", `A lease is ${range}, or "${NO_LEASE}"; ${formatDuration(lease)} is not`);
}

/** The text of a lease, which `parseLease` takes. */
export function formatLease(lease: number): string;
export function formatLease(lease: number | null): string | null;
export function formatLease(lease: number | null): string | null {
  if (lease === null) return null;
  return lease === 0 ? NO_LEASE : formatDuration(lease);
}

/** The one of two leases in force that ends first. */
export function shorterLease(one: number, other: number): number {
  if (one === 0 || other === 0) return Math.max(one, other);
  return Math.min(one, other);
}

/**
 * The lease in force: the host's own, else the shortest of its groups', else the default. "none" is longer than any.
 */
export function leaseInForce(own: number | null, groups: readonly (number | null)[]): number {
  if (own !== null) return own;
  const given = groups.filter((lease) => lease !== null);
  if (given.length === 0) return DEFAULT_LEASE;
  const shortest = Math.min(...given.map((lease) => (lease === 0 ? Number.POSITIVE_INFINITY : lease)));
  return Number.isFinite(shortest) ? shortest : 0;
}
