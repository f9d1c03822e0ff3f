import { expect, test } from "bun:test";
import { calendarFile } from "../../../src/shared/hours/calendar-file.ts";

const NOW = new Date("2026-11-27T10:00:00.500Z");
const SPAN = { from: new Date("2026-11-30T07:00:00Z"), to: new Date("2026-11-30T17:00:00Z") };

test("calendarFile() is a calendar of RFC 5545 with an event for each window", () => {
  expect(calendarFile({ summary: "SSH: ext_alice@uam", spans: [SPAN], of: "alice@uam", now: NOW })).toBe(
    [
      "BEGIN:VCALENDAR",
      "VERSION:2.0",
      "PRODID:-//uam//hours//EN",
      "BEGIN:VEVENT",
      "UID:20261130T070000Z-alice@uam",
      "DTSTAMP:20261127T100000Z",
      "DTSTART:20261130T070000Z",
      "DTEND:20261130T170000Z",
      "SUMMARY:SSH: ext_alice@uam",
      "TRANSP:TRANSPARENT",
      "END:VEVENT",
      "END:VCALENDAR",
      "",
    ].join("\r\n"),
  );
});

test("calendarFile() escapes what would begin another line or value, and folds lines at 75 octets between characters", () => {
  const summary = `${"ä".repeat(100)}\r\nEND:VEVENT;,\\`;
  const file = calendarFile({ summary, spans: [SPAN], of: "a", now: NOW });
  const lines = file.split("\r\n");
  for (const line of lines) {
    expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
    expect(line).not.toContain("\n");
    expect(line).not.toContain("�");
  }
  expect(file.replaceAll("\r\n ", "")).toContain(`SUMMARY:${"ä".repeat(100)}\\nEND:VEVENT\\;\\,\\\\\r\n`);
  expect(lines.filter((line) => line === "END:VEVENT")).toHaveLength(1);
});

test("calendarFile() without a window is an empty calendar", () => {
  expect(calendarFile({ summary: "", spans: [], of: "", now: NOW })).not.toContain("VEVENT");
});
