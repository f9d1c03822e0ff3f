/** What a terminal is told before its session ends with the hours. */

import { MINUTE } from "../time/clock.ts";
import { wallTime } from "./zone.ts";

/** How long before the end. */
export const ENDING_NOTICE = 10 * MINUTE;

/** "Your access ends at 18:00 (Europe/Berlin), and this session with it.": by the wall clock of the zone. */
export function endingText(end: Date, zone: string): string {
  const time = new Date(wallTime(zone, end.getTime())).toISOString().slice(11, 16);
  return `Your access ends at ${time} (${zone}), and this session with it.`;
}
