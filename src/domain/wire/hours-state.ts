/** The windows of accounts with hours, as hosts are told of them: of the next days, and anew before these are over. */

import type { AccountHours, AccountState } from "../../protocol/fleet.ts";
import type { Span } from "../../shared/hours/windows.ts";
import { DAY, HOUR, MINUTE, shift } from "../../shared/time/clock.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import type { AdmittedHost } from "../hosts/host-row.ts";

/** A host always knows the windows of at least this long, unless it is cut off. */
const LEAST_AHEAD = 6.5 * DAY;
/** Hosts ask for later ones at different times of a day. */
const APART = 12 * HOUR;
/** What is remembered of a user is read again once it reaches less far than this. */
const REMEMBERED = LEAST_AHEAD + APART;

export function hoursState(windows: readonly Span[], until: Date): AccountHours {
  return {
    until: formatTimestamp(until),
    windows: windows.map(({ from, to }) => ({ from: formatTimestamp(from), to: formatTimestamp(to) })),
  };
}

/** Whether the host is to be told of later windows now. */
export function needsHours(host: number, known: AdmittedHost["hours"], now: Date): boolean {
  if (known === undefined || known === "none") return false;
  const least = LEAST_AHEAD + ((host * MINUTE) % APART);
  return known < shift(now, least);
}

/** Whether hosts may still be told of the account as it was read some time ago. */
export function isFar({ hours }: AccountState, now: Date): boolean {
  return hours === undefined || new Date(hours.until) >= shift(now, REMEMBERED);
}
