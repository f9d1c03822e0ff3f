/** Which ends are those of a day. */

import { expect, test } from "bun:test";
import { parseEnd, parseMoment } from "../../../src/cli/terminal/moment.ts";
import { dayThatEnds } from "../../../src/shared/time/day-end.ts";

const NOON = new Date("2026-11-20T12:00:00Z");

test.each([
  // As each way to type a date stores it.
  [parseEnd("2027-06-30").toISOString(), "2027-06-30T00:00:00.000Z"],
  [parseMoment("2027-06-30", "end", NOON).toISOString(), "2027-06-30T00:00:00.000Z"],
  ["2027-06-30T23:59:59Z", "2027-06-30T00:00:00.000Z"],
  ["1969-12-31T23:59:59.999Z", "1969-12-31T00:00:00.000Z"],
  ["1970-01-01T00:00:00.000Z", "1969-12-31T00:00:00.000Z"],
  ["2027-06-30T23:59:59.998Z", undefined],
  ["2027-07-01T00:00:00.001Z", undefined],
  ["2027-06-30T23:59:00Z", undefined],
  ["2027-06-30T22:00:00Z", undefined],
])("dayThatEnds() of %s is %s", (time, day) => {
  const found = dayThatEnds(Date.parse(time));
  expect(found === undefined ? undefined : new Date(found).toISOString()).toBe(day as never);
});
