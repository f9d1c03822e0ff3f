/**
 * When calendars are open, found slowly: it walks minute by minute and looks at a clock on the wall, and shares no code with src. Time goes by
 * on that clock as it does for people: what it has shown once is past, also when it is put back.
 */

export interface Calendar {
  readonly zone: string;
  readonly windows: readonly { readonly days: readonly string[]; readonly from: string; readonly to: string }[];
}

const MINUTE = 60_000;
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/** The spans in which all of the calendars are open, from one whole minute to another, as texts. */
export function walked(calendars: readonly Calendar[], from: number, to: number): readonly string[] {
  const walkers = calendars.map(walker);
  const spans: string[] = [];
  let since: number | undefined;
  // A window may have begun on the day before, and a clock that was put back before that is long past its old time.
  for (let at = from - 4 * 24 * 60 * MINUTE; at < to; at += MINUTE) {
    const open = walkers.map((isOpen) => isOpen(at)).every(Boolean) && at >= from;
    if (open) since ??= at;
    else if (since !== undefined) {
      spans.push(`${new Date(since).toISOString()} ${new Date(at).toISOString()}`);
      since = undefined;
    }
  }
  if (since !== undefined) spans.push(`${new Date(since).toISOString()} ${new Date(to).toISOString()}`);
  return spans;
}

/** For a minute after the other, whether the calendar is open. */
function walker({ zone, windows }: Calendar): (at: number) => boolean {
  if (windows.length === 0) return () => true;
  const clock = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "short" });
  let latest = "";
  const endings = windows.map(() => "");
  return (at) => {
    const shown = clock.format(at);
    const past = latest;
    if (shown > latest) latest = shown;
    return windows
      .map(({ days, from, to }, index) => {
        // All beginnings that the clock has reached with this minute: usually none or one, after a jump over midnight of two days.
        for (const date of past === "" ? [] : datesBetween(past, latest)) {
          const begins = `${date} ${from}`;
          if (begins <= past || begins > latest || !days.includes(dayOf(date))) continue;
          const ends = to === "24:00" ? `${nextDay(date)} 00:00` : `${to < from ? nextDay(date) : date} ${to}`;
          if (ends > (endings[index] as string)) endings[index] = ends;
        }
        return latest < (endings[index] as string);
      })
      .some(Boolean);
  };
}

function datesBetween(one: string, other: string): readonly string[] {
  const dates = [one.slice(0, 10)];
  while ((dates.at(-1) as string) < other.slice(0, 10)) dates.push(nextDay(dates.at(-1) as string));
  return dates;
}

const next = new Map<string, string>();

function nextDay(date: string): string {
  const known = next.get(date);
  if (known) return known;
  const day = new Date(Date.parse(`${date}T12:00:00Z`) + 24 * 60 * MINUTE).toISOString().slice(0, 10);
  next.set(date, day);
  return day;
}

function dayOf(date: string): string {
  return DAYS[new Date(`${date}T12:00:00Z`).getUTCDay()] as string;
}
