/** Figures by day, made ready to be drawn: dates are days in UTC, "2026-11-20". */

/** A day and how many. */
export interface DayCount {
  readonly date: string;
  readonly value: number;
}

/** The moment at which the day begins, in milliseconds. */
export function startOf(date: string): number {
  return Date.parse(`${date}T00:00:00Z`);
}

/** Sums by weeks that begin with the first day; the last one may be shorter. */
export function byWeek(days: readonly DayCount[]): readonly DayCount[] {
  const weeks: DayCount[] = [];
  for (const [index, { date, value }] of days.entries()) {
    const week = weeks.at(-1);
    if (index % 7 === 0 || week === undefined) weeks.push({ date, value });
    else weeks[weeks.length - 1] = { date: week.date, value: week.value + value };
  }
  return weeks;
}

/** The end of an axis for these values: at least 4, so that one user does not fill the height. */
export function top(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), 4);
}

/** A day as the axis shows it: "20 Nov". */
export function dayLabel(time: number): string {
  return new Date(time).toLocaleDateString(undefined, { day: "numeric", month: "short", timeZone: "UTC" });
}

/** A day in full. */
export function dayName(date: string): string {
  return new Date(startOf(date)).toLocaleDateString(undefined, { dateStyle: "medium", timeZone: "UTC" });
}

/** How many labels fit on an axis of that many pixels. */
export function labelsFor(width: number): number {
  return Math.max(2, Math.floor(width / 90));
}
