/**
 * Hours as text, on the command line, in files and in mails: `mon-fri 08:00-12:00,13:00-18:00; sat 09:00-12:00 Europe/Berlin`.
 * Days and times are lists with commas, a day may be a range, parts are separated by semicolons, and the zone is last.
 */

import { UamError } from "../errors.ts";
import { checkHours, checkZone, type Hours, type HoursWindow, WEEKDAYS, type Weekday } from "./hours.ts";

const EXAMPLE = '"mon-fri 08:00-18:00 Europe/Berlin" or "mon,wed 22:00-02:00; sat 09:00-12:00 Europe/Berlin"';
const MAX_TEXT = 2000;
const TEXT = /^(.*\S)\s+(\S+)$/;
const PART = /^(\S+)\s+(\S+)$/;

/** The hours of a text. Throws `invalid` with the part that cannot be read, or as `checkHours` does. */
export function parseHours(text: string): Hours {
  const fail = (what: string): never => {
    throw new UamError("invalid", `Not hours such as ${EXAMPLE}: ${what}`);
  };
  if (text.length > MAX_TEXT) fail(`longer than ${MAX_TEXT} characters`);
  const [, parts = "", zone = ""] = TEXT.exec(text.trim()) ?? fail(JSON.stringify(text.slice(0, 60)));
  checkZone(zone);
  const windows = parts.split(";").flatMap((part) => {
    const [, days, times] = PART.exec(part.trim()) ?? fail(JSON.stringify(part.trim().slice(0, 60)));
    const read = daysOf(days as string) ?? fail(`${JSON.stringify((days as string).slice(0, 40))} are not days`);
    return (times as string).split(",").map((time): HoursWindow => {
      const [from, to, ...more] = time.split("-");
      if (!from || !to || more.length > 0) return fail(`${JSON.stringify(time.slice(0, 40))} are not times`);
      return { days: read, from, to };
    });
  });
  return checkHours({ zone, windows });
}

/** The shortest text that `parseHours` reads as the same hours; "always" if they limit nothing. */
export function formatHours(hours: Hours): string {
  if (hours.windows.length === 0) return "always";
  const parts: { days: string; times: string[] }[] = [];
  for (const window of hours.windows) {
    const days = formatDays(window.days);
    const last = parts.at(-1);
    if (last?.days === days) last.times.push(`${window.from}-${window.to}`);
    else parts.push({ days, times: [`${window.from}-${window.to}`] });
  }
  return `${parts.map((part) => `${part.days} ${part.times.join(",")}`).join("; ")} ${hours.zone}`;
}

/** `mon-fri` and `fri-mon`, which goes over the end of the week; undefined for anything else. */
function daysOf(text: string): readonly Weekday[] | undefined {
  const days = new Set<Weekday>();
  for (const item of text.toLowerCase().split(",")) {
    const [first, last = first, ...more] = item.split("-").map((day) => WEEKDAYS.indexOf(day as Weekday));
    if (first === undefined || last === undefined || first < 0 || last < 0 || more.length > 0) return undefined;
    for (let index = first; ; index = (index + 1) % 7) {
      days.add(WEEKDAYS[index] as Weekday);
      if (index === last) break;
    }
  }
  return WEEKDAYS.filter((day) => days.has(day));
}

function formatDays(days: readonly Weekday[]): string {
  const runs: Weekday[][] = [];
  for (const day of days) {
    const last = runs.at(-1);
    if (last && WEEKDAYS.indexOf(last.at(-1) as Weekday) === WEEKDAYS.indexOf(day) - 1) last.push(day);
    else runs.push([day]);
  }
  return runs.map((run) => (run.length > 2 ? `${run[0]}-${run.at(-1)}` : run.join(","))).join(",");
}
