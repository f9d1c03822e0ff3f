/** A week of hours as cells, one for each hour of each day, Monday first; and back as windows. */

import { type HoursWindow, minutesOf, WEEKDAYS, type Weekday } from "../../../shared/hours/hours.ts";

export const DAY_HOURS = 24;
export const WEEK_HOURS = WEEKDAYS.length * DAY_HOURS;

/** Whether it begins and ends on the hour, so that cells can say it. */
export function isWhole({ from, to }: HoursWindow): boolean {
  return from.endsWith(":00") && to.endsWith(":00");
}

/** The cells that the windows touch. */
export function cellsOf(windows: readonly HoursWindow[]): readonly boolean[] {
  const cells: boolean[] = Array(WEEK_HOURS).fill(false);
  for (const { days, from, to } of windows) {
    const begin = Math.floor(minutesOf(from) / 60);
    const end = Math.ceil(minutesOf(to) / 60) + (to < from ? DAY_HOURS : 0);
    for (const day of days) {
      const midnight = WEEKDAYS.indexOf(day) * DAY_HOURS;
      for (let hour = begin; hour < end; hour++) cells[(midnight + hour) % WEEK_HOURS] = true;
    }
  }
  return cells;
}

interface Run {
  readonly from: number;
  to: number;
}

/** The fewest windows that fill exactly these cells: alike on several days, and over midnight, they are one. */
export function windowsOf(cells: readonly boolean[]): readonly HoursWindow[] {
  const runs = WEEKDAYS.map((_, day) => runsOf(cells.slice(day * DAY_HOURS, (day + 1) * DAY_HOURS)));
  for (const [day, today] of runs.entries()) joinNight(today, runs[(day + 1) % runs.length] ?? []);
  const found = new Map<string, { readonly days: Weekday[]; readonly from: string; readonly to: string }>();
  for (const [day, today] of runs.entries()) {
    for (const { from, to } of today) {
      const window = { days: [], from: time(from), to: time(to) };
      const known = found.get(window.from + window.to) ?? window;
      known.days.push(WEEKDAYS[day] as Weekday);
      found.set(window.from + window.to, known);
    }
  }
  return [...found.values()];
}

function runsOf(cells: readonly boolean[]): Run[] {
  const runs: Run[] = [];
  for (const [hour, isOn] of cells.entries()) {
    const last = runs.at(-1);
    if (isOn && last?.to === hour) last.to++;
    else if (isOn) runs.push({ from: hour, to: hour + 1 });
  }
  return runs;
}

/** What goes on after midnight, and ends before it began, is the night of the day before. */
function joinNight(today: readonly Run[], tomorrow: Run[]): void {
  const last = today.at(-1);
  const first = tomorrow[0];
  if (last?.to !== DAY_HOURS || first?.from !== 0 || first.to >= last.from) return;
  last.to = first.to;
  tomorrow.shift();
}

function time(hour: number): string {
  return `${String(hour).padStart(2, "0")}:00`;
}

/** The same cells with those between two corners, both included, on or off. */
export function painted(
  cells: readonly boolean[],
  corners: readonly [number, number],
  isOn: boolean,
): readonly boolean[] {
  const [days, hours] = [(cell: number) => Math.floor(cell / DAY_HOURS), (cell: number) => cell % DAY_HOURS];
  const isWithin = (of: (cell: number) => number, cell: number) =>
    of(cell) >= Math.min(...corners.map(of)) && of(cell) <= Math.max(...corners.map(of));
  return cells.map((was, cell) => (isWithin(days, cell) && isWithin(hours, cell) ? isOn : was));
}
