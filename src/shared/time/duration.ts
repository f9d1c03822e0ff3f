/** Durations as text: `90d`, `1d12h`, `2160h`, `720h0m0s`. Kept in milliseconds. */

import { UamError } from "../errors.ts";
import { DAY, HOUR, MINUTE, SECOND } from "./clock.ts";

/** The longest time that an account is given at once, or kept after its expiry, in days. */
export const MAX_DAYS = 3650;

const UNITS = { w: 7 * DAY, d: DAY, h: HOUR, m: MINUTE, s: SECOND } as const;
const PATTERN = /^(?:(\d{1,9})w)?(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?$/;

/**
 * Milliseconds of a text such as `1d12h`: integers with the units `w d h m s`, largest first, each at most once.
 * Throws `invalid` for anything else, for zero, and for more than `maximum` milliseconds.
 */
export function parseDuration(text: string, maximum = 36_500 * DAY): number {
  const match = text === "" ? null : PATTERN.exec(text);
  if (!match)
    throw new UamError("invalid", `Not a duration such as "90d" or "1d12h": ${JSON.stringify(text.slice(0, 40))}`);
  const total = Object.values(UNITS).reduce((sum, unit, index) => sum + Number(match[index + 1] ?? 0) * unit, 0);
  if (total <= 0) throw new UamError("invalid", "A duration must be longer than zero");
  if (total > maximum)
    throw new UamError("invalid", `The duration is longer than the maximum of ${formatDuration(maximum)}`);
  return total;
}

/** The shortest text in `d h m s` for a number of milliseconds; fractions of a second are dropped. */
export function formatDuration(milliseconds: number): string {
  let rest = milliseconds;
  let text = "";
  for (const [unit, size] of Object.entries(UNITS)) {
    if (unit === "w") continue;
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) text += `${count}${unit}`;
  }
  return text === "" ? "0s" : text;
}
