/** The windows of accounts with hours, as hosts are told of them: of the next days, and anew before these are over. */

import type { AccountHours, AccountState } from "../../protocol/fleet.ts";
import { commonSpans } from "../../shared/hours/common-spans.ts";
import type { Span } from "../../shared/hours/windows.ts";
import { DAY, HOUR, MINUTE, shift } from "../../shared/time/clock.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import { findZone } from "../accounts/access-state.ts";
import { HOURS_AHEAD } from "../accounts/fewer-hours.ts";
import { spansOf } from "../hosts/group-hours.ts";
import type { AdmittedHost } from "../hosts/host-row.ts";

/** A host always knows the windows of at least this long, unless it is cut off. */
const LEAST_AHEAD = 6.5 * DAY;
/** Hosts ask for later ones at different times of a day. */
const APART = 12 * HOUR;
/** What is remembered of a user is read again once it reaches less far than this. */
const REMEMBERED = LEAST_AHEAD + APART;

/** `zone`: by whose wall clock people are told of an end. */
export function hoursState(windows: readonly Span[], until: Date, zone: string | undefined): AccountHours {
  return {
    ...(zone === undefined ? {} : { zone }),
    until: formatTimestamp(until),
    windows: windows.map(({ from, to }) => ({ from: formatTimestamp(from), to: formatTimestamp(to) })),
  };
}

/** Accounts as they are on a host whose groups have these hours. */
export function limitedBy(groupHours: readonly string[], now: Date): (account: AccountState) => AccountState {
  if (groupHours.length === 0) return (account) => account;
  const until = shift(now, HOURS_AHEAD);
  const groups = { hours: null, companyHours: null, hostHours: groupHours.join("\n") };
  const host = hoursState(spansOf(groupHours, now, until), until, findZone(groups));
  return (account) => {
    if (!account.open) return account;
    const { expire_at: end } = account;
    const own = account.hours ?? { until: host.until, windows: [{ from: formatTimestamp(now), to: end }] };
    const least = own.until < host.until ? own.until : host.until;
    return { ...account, hours: { ...host, ...own, until: least, windows: commonSpans(host.windows, own.windows) } };
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
