/** Points in time as people type them at a shell. */

import { UamError } from "../../shared/errors.ts";
import { DAY, shift } from "../../shared/time/clock.ts";
import { parseDuration } from "../../shared/time/duration.ts";
import { clampTimestamp, parseTimestamp } from "../../shared/time/timestamp.ts";

/** Whether a bare date means the first millisecond of that day (UTC) or its last. */
export type DayEdge = "start" | "end";

/**
 * The moment that an RFC 3339 timestamp, a bare date (`2026-11-20`, UTC) or a duration ago (`7d`, `12h`) names. Throws `invalid` for
 * anything else.
 */
export function parseMoment(text: string, edge: DayEdge, now: Date): Date {
  if (/^\d+[wdhms]/.test(text)) return clampTimestamp(shift(now, -parseDuration(text)));
  try {
    if (!/^\d{4}-\d\d-\d\d$/.test(text)) return clampTimestamp(parseTimestamp(text));
    const start = parseTimestamp(`${text}T00:00:00Z`);
    return clampTimestamp(edge === "start" ? start : shift(start, DAY - 1));
  } catch (cause) {
    throw new UamError(
      "invalid",
      `${JSON.stringify(text.slice(0, 40))} is not a time such as 2026-11-20T08:00:00Z, a date such as 2026-11-20, or a duration ago such as 7d`,
      { cause },
    );
  }
}

/** The end of access that an RFC 3339 timestamp or a bare date (its end, UTC) names. Throws `invalid` for anything else. */
export function parseEnd(text: string): Date {
  try {
    if (!/^\d{4}-\d\d-\d\d$/.test(text)) return clampTimestamp(parseTimestamp(text));
    return clampTimestamp(shift(parseTimestamp(`${text}T00:00:00Z`), DAY));
  } catch (cause) {
    const given = JSON.stringify(text.slice(0, 40));
    const sentence = `${given} is not an end such as 2026-12-31 or 2026-12-31T17:00:00Z; for so many days more, use --days`;
    throw new UamError("invalid", sentence, { cause });
  }
}
