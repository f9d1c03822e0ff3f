import { describe, expect, test } from "bun:test";
import { parseMoment } from "../../../src/cli/terminal/moment.ts";

const now = new Date("2026-11-20T08:00:00.000Z");

describe("parseMoment()", () => {
  test.each([
    ["2026-11-19T08:00:00+02:00", "start", "2026-11-19T06:00:00.000Z"],
    ["2026-11-19", "start", "2026-11-19T00:00:00.000Z"],
    ["2026-11-19", "end", "2026-11-19T23:59:59.999Z"],
    ["2028-02-29", "end", "2028-02-29T23:59:59.999Z"],
    ["7d", "start", "2026-11-13T08:00:00.000Z"],
    ["12h", "end", "2026-11-19T20:00:00.000Z"],
    ["1w1d", "start", "2026-11-12T08:00:00.000Z"],
  ] as const)("parseMoment() reads %s as the %s", (text, edge, moment) => {
    expect(parseMoment(text, edge, now).toISOString()).toBe(moment);
  });

  test.each(["2026-02-30", "yesterday", "2026-11-20 08:00", "7", "0d", "-7d", "7d ago", "", "20261120"])(
    "parseMoment() refuses %p",
    (text) => {
      expect(() => parseMoment(text, "start", now)).toThrow(
        text === "0d" ? "longer than zero" : text === "7d ago" ? "Not a duration" : "is not a time such as",
      );
    },
  );
});
