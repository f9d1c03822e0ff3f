import { describe, expect, test } from "bun:test";
import { instantOf, isZone, wallTime } from "../../../src/shared/hours/zone.ts";

const at = (text: string) => Date.parse(text);
const iso = (instant: number) => new Date(instant).toISOString();

describe("isZone()", () => {
  test("knows IANA names, and neither offsets nor anything else", () => {
    const known = [
      "UTC",
      "Europe/Berlin",
      "America/Argentina/Buenos_Aires",
      "Etc/GMT+5",
      "Asia/Kolkata",
      "Asia/Calcutta",
    ];
    expect(known.filter((name) => !isZone(name))).toEqual([]);
    const unknown = ["", "+02:00", "Europe/Berlim", "../etc/passwd", "Europe/Berlin\n", `A${"a".repeat(1000)}`, " UTC"];
    expect(unknown.filter(isZone)).toEqual([]);
  });
});

describe("instantOf()", () => {
  test.each([
    ["UTC", "2026-11-20T08:00:00Z", "2026-11-20T08:00:00.000Z"],
    ["Europe/Berlin", "2026-11-20T08:00:00Z", "2026-11-20T07:00:00.000Z"],
    ["Europe/Berlin", "2026-03-29T02:30:00Z", "2026-03-29T01:00:00.000Z"],
    ["Europe/Berlin", "2026-10-25T02:30:00Z", "2026-10-25T00:30:00.000Z"],
    ["Europe/Berlin", "2026-10-25T03:00:00Z", "2026-10-25T02:00:00.000Z"],
    ["Australia/Lord_Howe", "2026-10-04T02:10:00Z", "2026-10-03T15:30:00.000Z"],
    // A day that Samoa never had.
    ["Pacific/Apia", "2011-12-30T12:00:00Z", "2011-12-30T10:00:00.000Z"],
  ])("in %s the clock first shows %s or later at %s", (zone, wall, instant) => {
    expect(iso(instantOf(zone, at(wall)))).toBe(instant);
  });

  test("is what wallTime() takes back, except where a time is skipped", () => {
    for (let hour = 0; hour < 24 * 400; hour += 7) {
      const wall = at("2026-01-01T00:30:00Z") + hour * 3_600_000;
      const shown = wallTime("America/Santiago", instantOf("America/Santiago", wall));
      expect(shown === wall || shown - wall <= 3_600_000).toBe(true);
      expect(shown).toBeGreaterThanOrEqual(wall);
    }
  });
});
