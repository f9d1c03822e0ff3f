/** When somebody has access, as a calendar file (RFC 5545). */

import { formatTimestamp } from "../time/timestamp.ts";
import type { Span } from "./windows.ts";

export interface Calendar {
  /** The name of each event: what is open. */
  readonly summary: string;
  readonly spans: readonly Span[];
  /** The part of the events' UIDs that no other calendar has. */
  readonly of: string;
  readonly now: Date;
}

/** The file: an event for each window, in UTC. An event has the same UID as long as its window begins at the same moment. */
export function calendarFile({ summary, spans, of, now }: Calendar): string {
  const events = spans.flatMap(({ from, to }) => [
    "BEGIN:VEVENT",
    `UID:${stamp(from)}-${escaped(of)}`,
    `DTSTAMP:${stamp(now)}`,
    `DTSTART:${stamp(from)}`,
    `DTEND:${stamp(to)}`,
    `SUMMARY:${escaped(summary)}`,
    "TRANSP:TRANSPARENT",
    "END:VEVENT",
  ]);
  const lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//uam//hours//EN", ...events, "END:VCALENDAR"];
  return `${lines.flatMap(folded).join("\r\n")}\r\n`;
}

/** `20261127T100000Z`. */
function stamp(at: Date): string {
  return formatTimestamp(at).replace(/\.\d+/, "").replace(/[-:]/g, "");
}

/** A text value, in which a backslash, a semicolon, a comma and a line break have to be escaped. */
function escaped(text: string): string {
  return text.replace(/[\\;,]/g, "\\$&").replace(/\r\n|[\r\n]/g, "\\n");
}

/** Octets of a line, without its end. */
const MOST = 75;

/** The line in parts of at most 75 octets, each but the first after a space; no character is cut. */
function folded(line: string): readonly string[] {
  const parts: string[] = [];
  let part = "";
  let size = 0;
  for (const character of line) {
    const octets = Buffer.byteLength(character);
    if (size + octets > MOST) {
      parts.push(part);
      [part, size] = [" ", 1];
    }
    part += character;
    size += octets;
  }
  return [...parts, part];
}
