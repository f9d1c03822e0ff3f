/** What a field for local date and time says, as a moment, and the reverse. */

const MINUTE = 60_000;

/**
 * The moment that a field for local date and time says, as RFC 3339; "" for none. The field knows minutes: an end is the end of
 * its minute, so that what is shown as of that minute is found.
 */
export function instantOf(local: string, edge: "since" | "until"): string {
  const time = local === "" ? Number.NaN : new Date(local).getTime();
  if (Number.isNaN(time)) return "";
  return new Date(edge === "until" ? time + MINUTE - 1 : time).toISOString();
}

/** The reverse, for the field; "" for what is no moment. */
export function localOf(instant: string): string {
  const time = new Date(instant);
  if (instant === "" || Number.isNaN(time.getTime())) return "";
  const two = (value: number) => String(value).padStart(2, "0");
  const date = `${String(time.getFullYear()).padStart(4, "0")}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${date}T${two(time.getHours())}:${two(time.getMinutes())}`;
}
