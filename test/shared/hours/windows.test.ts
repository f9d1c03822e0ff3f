import { describe, expect, test } from "bun:test";
import type { Hours } from "../../../src/shared/hours/hours.ts";
import { parseHours } from "../../../src/shared/hours/text.ts";
import { openingAt, windowsBetween } from "../../../src/shared/hours/windows.ts";
import { isThorough } from "../../support/thorough.ts";
import { walked } from "./oracle.ts";
import { drawn } from "./random.ts";

const at = (text: string) => new Date(text);

function between(calendars: readonly (string | Hours)[], from: string, to: string): readonly string[] {
  const hours = calendars.map((each) => (typeof each === "string" ? parseHours(each) : each));
  return windowsBetween(hours, at(from), at(to)).map(
    (span) => `${span.from.toISOString().slice(0, 16)} ${span.to.toISOString().slice(0, 16)}`,
  );
}

/** Each takes a walk over months; `test:long hours` has 10,000. */
const DRAWS = isThorough ? 200 : 20;

describe("windowsBetween()", () => {
  test("is the whole time without hours, and with hours that limit nothing", () => {
    const whole = ["2026-11-20T00:00 2026-11-21T00:00"];
    expect(between([], "2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z")).toEqual(whole);
    const always = { zone: "UTC", windows: [] };
    expect(between([always], "2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z")).toEqual(whole);
    expect(between([], "2026-11-21T00:00:00Z", "2026-11-20T00:00:00Z")).toEqual([]);
  });

  test("is local time, in summer and in winter", () => {
    const hours = ["mon-fri 08:00-18:00 Europe/Berlin"];
    expect(between(hours, "2026-07-17T00:00:00Z", "2026-07-20T12:00:00Z")).toEqual([
      "2026-07-17T06:00 2026-07-17T16:00",
      "2026-07-20T06:00 2026-07-20T12:00",
    ]);
    expect(between(hours, "2026-11-20T09:30:00Z", "2026-11-23T00:00:00Z")).toEqual([
      "2026-11-20T09:30 2026-11-20T17:00",
    ]);
  });

  test("a window over midnight belongs to the day on which it begins, and windows that touch are one", () => {
    expect(between(["fri 22:00-02:00 UTC"], "2026-11-20T00:00:00Z", "2026-11-23T00:00:00Z")).toEqual([
      "2026-11-20T22:00 2026-11-21T02:00",
    ]);
    const touching = "fri 22:00-24:00; sat 00:00-06:00 UTC";
    expect(between([touching], "2026-11-20T00:00:00Z", "2026-11-23T00:00:00Z")).toEqual([
      "2026-11-20T22:00 2026-11-21T06:00",
    ]);
  });

  test("a time that is skipped begins and ends at the jump, and a window wholly inside does not open", () => {
    // Berlin, 2026-03-29: from 02:00 to 03:00 at 01:00 UTC.
    const day = ["2026-03-29T00:00:00Z", "2026-03-30T00:00:00Z"] as const;
    expect(between(["sun 02:30-04:00 Europe/Berlin"], ...day)).toEqual(["2026-03-29T01:00 2026-03-29T02:00"]);
    expect(between(["sun 01:00-02:30 Europe/Berlin"], ...day)).toEqual(["2026-03-29T00:00 2026-03-29T01:00"]);
    expect(between(["sun 02:15-02:45 Europe/Berlin"], ...day)).toEqual([]);
  });

  test("of a time that there is twice openings and endings take the first", () => {
    // Berlin, 2026-10-25: from 03:00 to 02:00 at 01:00 UTC.
    const day = ["2026-10-24T23:00:00Z", "2026-10-25T12:00:00Z"] as const;
    expect(between(["sun 02:30-03:30 Europe/Berlin"], ...day)).toEqual(["2026-10-25T00:30 2026-10-25T02:30"]);
    expect(between(["sun 01:30-02:30 Europe/Berlin"], ...day)).toEqual(["2026-10-24T23:30 2026-10-25T00:30"]);
    expect(between(["sun 02:15-02:45 Europe/Berlin"], ...day)).toEqual(["2026-10-25T00:15 2026-10-25T00:45"]);
  });

  test("of several calendars it is what they share", () => {
    const three = ["mon-fri 08:00-18:00 Europe/Berlin", "mon-fri 08:00-17:00 America/New_York", "fri 00:00-24:00 UTC"];
    expect(between(three, "2026-11-16T00:00:00Z", "2026-11-23T00:00:00Z")).toEqual([
      "2026-11-20T13:00 2026-11-20T17:00",
    ]);
  });

  test(`is what a walk minute by minute finds, for ${DRAWS} draws`, () => {
    for (let seed = 1; seed <= DRAWS; seed++) {
      const { calendars, from, to } = drawn(seed);
      const found = windowsBetween(calendars, new Date(from), new Date(to)).map(
        (span) => `${span.from.toISOString()} ${span.to.toISOString()}`,
      );
      expect({ seed, found }).toEqual({ seed, found: [...walked(calendars, from, to)] });
    }
  });

  test("a morning of 10,000 users, each with calendars of their own, costs less than two seconds of the processor", () => {
    const begin = process.cpuUsage();
    for (let user = 0; user < 10_000; user++) {
      const minute = String(user % 60).padStart(2, "0");
      const own = parseHours(`mon-fri 08:${minute}-18:00 Europe/Berlin`);
      openingAt([own, parseHours("mon-sat 06:00-20:00 Europe/London")], new Date(Date.UTC(2026, 10, 20, 7, user % 60)));
    }
    const { user, system } = process.cpuUsage(begin);
    expect((user + system) / 1e6).toBeLessThan(2);
  });
});

describe("openingAt()", () => {
  const hours = [parseHours("mon-fri 08:00-18:00 Europe/Berlin")];

  test("says until when it is open, and when it is again", () => {
    expect(openingAt(hours, at("2026-11-20T07:00:00Z"))).toEqual({ open: true, changesAt: at("2026-11-20T17:00:00Z") });
    expect(openingAt(hours, at("2026-11-20T16:59:59.999Z")).open).toBe(true);
    expect(openingAt(hours, at("2026-11-20T17:00:00Z"))).toEqual({
      open: false,
      changesAt: at("2026-11-23T07:00:00Z"),
    });
    expect(openingAt(hours, at("2026-11-20T06:59:59.999Z"))).toEqual({
      open: false,
      changesAt: at("2026-11-20T07:00:00Z"),
    });
  });

  test("without a change it has none: hours that limit nothing, all of the week, calendars that share nothing", () => {
    const now = at("2026-11-20T07:00:00Z");
    expect(openingAt([], now)).toEqual({ open: true, changesAt: null });
    expect(openingAt([parseHours("mon-sun 00:00-24:00 Europe/Berlin")], now)).toEqual({ open: true, changesAt: null });
    const apart = [parseHours("mon 08:00-12:00 UTC"), parseHours("tue 08:00-12:00 UTC")];
    expect(openingAt(apart, now)).toEqual({ open: false, changesAt: null });
  });

  test("finds what opens in few weeks of the year only", () => {
    // Berlin is five hours ahead of New York only between their changes of the clock.
    const rare = [parseHours("mon-sun 13:00-14:00 Europe/Berlin"), parseHours("mon-sun 08:00-09:00 America/New_York")];
    expect(openingAt(rare, at("2026-11-20T07:00:00Z"))).toEqual({ open: false, changesAt: at("2027-03-14T12:00:00Z") });
  });
});
