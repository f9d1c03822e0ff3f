/** Wall clocks of time zones, by the runtime's own zone data. */

import { HOUR, SECOND } from "../time/clock.ts";

/** The offsets that were asked for, by zone and second, of all zones together. One morning asks for the same few again and again. */
const KEPT_OFFSETS = 20_000;
/** More than there are names of zones; a name counts in any case. */
const KEPT_ZONES = 1000;

interface Zone {
  readonly format: Intl.DateTimeFormat;
  readonly offsets: Map<number, number>;
}

const zones = new Map<string, Zone>();
let keptOffsets = 0;

/** Whether the runtime knows the IANA zone; an offset such as `+02:00` is none. */
export function isZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,59}$/.test(name)) return false;
  try {
    zoneOf(name);
    return true;
  } catch {
    return false;
  }
}

/** What the wall clock shows at an instant: a number of milliseconds that as UTC reads the same. */
export function wallTime(zone: string, instant: number): number {
  return instant + offsetAt(zone, instant);
}

/**
 * The first instant at which the zone's wall clock shows `wall` (as of `wallTime`) or later. So of a time that there is twice
 * it is the first, and of a time that is skipped the moment of the jump. Exact to the second.
 */
export function instantOf(zone: string, wall: number): number {
  // Offsets are between -12 and +14 hours, and clocks are not changed twice within the 28 hours in question.
  let low = wall - 15 * HOUR;
  let high = wall + 13 * HOUR;
  const before = offsetAt(zone, low);
  const after = offsetAt(zone, high);
  if (before === after) return wall - before;
  while (high - low > SECOND) {
    const middle = low + Math.floor((high - low) / 2 / SECOND) * SECOND;
    if (offsetAt(zone, middle) === before) low = middle;
    else high = middle;
  }
  if (wall - before < high) return wall - before;
  return Math.max(wall - after, high);
}

/** Local time less UTC, in milliseconds. */
function offsetAt(zone: string, instant: number): number {
  const { format, offsets } = zoneOf(zone);
  const second = Math.floor(instant / SECOND) * SECOND;
  const kept = offsets.get(second);
  if (kept !== undefined) return kept;
  const [month, day, year, hour, minute, seconds] = (format.format(second).match(/\d+/g) ?? []).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const offset = Date.UTC(year, month - 1, day, hour, minute, seconds) - second;
  if (keptOffsets >= KEPT_OFFSETS) forget();
  offsets.set(second, offset);
  keptOffsets++;
  return offset;
}

function zoneOf(name: string): Zone {
  const known = zones.get(name);
  if (known) return known;
  const numeric = "numeric";
  const format = new Intl.DateTimeFormat("en-US", {
    ...{ timeZone: name, hourCycle: "h23", calendar: "gregory", numberingSystem: "latn" },
    ...{ year: numeric, month: numeric, day: numeric, hour: numeric, minute: numeric, second: numeric },
  });
  const zone: Zone = { format, offsets: new Map() };
  if (zones.size >= KEPT_ZONES) forget();
  zones.set(name, zone);
  return zone;
}

function forget(): void {
  zones.clear();
  keptOffsets = 0;
}
