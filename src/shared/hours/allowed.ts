/** What was allowed of access on request: until when, and on which hosts. */

import { formatTimestamp } from "../time/timestamp.ts";

/** Until when by the number of the host, and under `*` on all others; moments as texts. Where nothing is named, nothing is allowed. */
export type AllowedHosts = Readonly<Record<string, string>>;

export interface Allowed {
  /** The latest of its ends. */
  readonly until: Date;
  /** Null: the same on every host. */
  readonly hosts: AllowedHosts | null;
}

const OTHERS = "*";

/** Until when it is allowed on the host, whether or not that is over; undefined: not at all. What cannot be read allows nothing. */
export function allowedOn({ until, hosts }: Allowed, host: number): Date | undefined {
  return hosts === null ? until : endIn(hosts, until, [String(host), OTHERS]);
}

/** The moment before which no further hour of a further request begins, for some hosts or for all: where it is allowed everywhere, its first end. */
export function beginOf(before: Allowed | undefined, hosts: readonly number[] | null, now: Date): Date {
  if (before === undefined) return now;
  if (before.hosts === null) return before.until;
  const { hosts: ends, until } = before;
  const keys = hosts === null ? [...Object.keys(ends), OTHERS] : hosts.map(String);
  const begins = keys.map((key) => endIn(ends, until, hosts === null ? [key] : [key, OTHERS]) ?? now);
  return new Date(Math.max(now.getTime(), Math.min(...begins.map(Number))));
}

/** What is allowed with a further end for some hosts, or for all. No host has less of it than before. */
export function allowedFurther(
  before: Allowed | undefined,
  { hosts, until }: { readonly hosts: readonly number[] | null; readonly until: Date },
  now: Date,
): Allowed {
  const ends = new Map<string, Date>();
  for (const key of before === undefined ? [] : Object.keys(before.hosts ?? { [OTHERS]: "" })) {
    const end = before && (before.hosts === null ? before.until : endIn(before.hosts, before.until, [key]));
    if (end !== undefined && end > now) ends.set(key, end);
  }
  const others = ends.get(OTHERS);
  for (const key of hosts === null ? [...ends.keys(), OTHERS] : hosts.map(String)) {
    const end = ends.get(key) ?? others;
    ends.set(key, end !== undefined && end > until ? end : until);
  }
  const latest = new Date(Math.max(...[...ends.values()].map(Number)));
  const isSame = ends.has(OTHERS) && [...ends.values()].every((end) => end.getTime() === latest.getTime());
  if (isSame) return { until: latest, hosts: null };
  return { until: latest, hosts: Object.fromEntries([...ends].map(([key, end]) => [key, formatTimestamp(end)])) };
}

/** As it is stored; null for every host. */
export function storedHosts({ hosts }: Allowed): string | null {
  return hosts === null ? null : JSON.stringify(hosts);
}

/** What was stored so. */
export function readAllowed(until: Date, stored: string | null): Allowed {
  return { until, hosts: stored === null ? null : (JSON.parse(stored) as AllowedHosts) };
}

/** The end under the first of the keys that is there, no later than all of it ends. */
function endIn(hosts: AllowedHosts, until: Date, keys: readonly string[]): Date | undefined {
  const text = keys.flatMap((key) => (Object.hasOwn(hosts, key) ? (hosts[key] ?? []) : []))[0];
  const end = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(end) ? undefined : new Date(Math.min(end, until.getTime()));
}
