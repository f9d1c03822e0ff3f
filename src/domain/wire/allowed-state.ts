/** What was allowed of access on request, as one host is told of it. */

import { allowedOn } from "../../shared/hours/allowed.ts";
import { commonSpans } from "../../shared/hours/common-spans.ts";
import { shift } from "../../shared/time/clock.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import { HOURS_AHEAD } from "../accounts/fewer-hours.ts";
import type { ToldAccount } from "./accounts-state.ts";

/** Accounts as they are on the host: of access on request, what was allowed there. */
export function allowedAt(host: number, now: Date): (account: ToldAccount) => Omit<ToldAccount, "allowed"> {
  return ({ allowed, ...account }) => {
    if (allowed === undefined || !account.open) return account;
    const end = allowedOn(allowed, host);
    const { until, windows } = account.hours ?? {
      until: formatTimestamp(shift(now, HOURS_AHEAD)),
      windows: [{ from: formatTimestamp(now), to: account.expire_at }],
    };
    const there = end === undefined || end <= now ? [] : [{ from: windows[0]?.from ?? "", to: formatTimestamp(end) }];
    return { ...account, hours: { until, windows: commonSpans(there, windows) } };
  };
}
