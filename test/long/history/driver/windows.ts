/** Hours of the week that begin or end within minutes: as the service takes them, and as moments. */

import type { Random } from "../../closings/random.ts";
import type { Span } from "../format.ts";
import type { Recorder } from "./record.ts";

export interface DrawnHours {
  /** null: around the clock. */
  readonly hours: object | null;
  readonly windows: readonly Span[] | null;
}

const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** Each day in UTC, from a minute to another: where no clock changes, that can be written down without the program's help. */
export function drawHours(random: Random, recorder: Recorder): DrawnHours {
  if (random.onceIn(3)) return { hours: null, windows: null };
  const now = Date.now();
  const midnight = Math.floor(now / DAY) * DAY;
  const present = Math.floor((now - midnight) / MINUTE);
  const begin = present + random.below(3) - 1;
  const end = begin + 1 + random.below(3);
  // The day ends at midnight: nothing is drawn across it.
  if (begin < 0 || end >= 24 * 60) return { hours: null, windows: null };
  const clock = (minute: number) =>
    `${String(Math.floor(minute / 60)).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}`;
  const on = (day: number): Span => [
    recorder.at(midnight + day * DAY + begin * MINUTE),
    recorder.at(midnight + day * DAY + end * MINUTE),
  ];
  const hours = { zone: "UTC", windows: [{ days: DAYS, from: clock(begin), to: clock(end) }] };
  return { hours, windows: [on(-1), on(0), on(1)] };
}
