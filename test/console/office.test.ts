/** What the charts, the settings and one's own login compute. */

import { describe, expect, test } from "bun:test";
import { byWeek, datesBetween, labelsFor, marks, startOf } from "../../src/console/charts/series.ts";
import { passwordFaults } from "../../src/console/pages/admin/account/faults.ts";
import { durationWords, isDuration } from "../../src/console/pages/admin/settings/duration.ts";
import { accountTexts } from "../../src/console/texts/admin/account.ts";
import { settingsTexts } from "../../src/console/texts/admin/settings.ts";
import { DAY } from "../../src/shared/time/clock.ts";

const dateOf = (time: number) => new Date(time).toISOString().slice(0, 10);

describe("byWeek()", () => {
  test("sums weeks that begin with the first day, the last one shorter", () => {
    const first = startOf("2026-12-28");
    const days = Array.from({ length: 16 }, (_, index) => ({ date: dateOf(first + index * DAY), value: 1 }));
    expect(byWeek(days)).toEqual([
      { date: "2026-12-28", value: 7 },
      { date: "2027-01-04", value: 7 },
      { date: "2027-01-11", value: 2 },
    ]);
    expect(byWeek([])).toEqual([]);
  });
});

test("datesBetween() has every day, those without figures, too", () => {
  expect(datesBetween("2026-02-27", "2026-03-01")).toEqual(["2026-02-27", "2026-02-28", "2026-03-01"]);
  expect(datesBetween("2026-02-27", "2026-02-27")).toEqual(["2026-02-27"]);
});

test("marks() are whole numbers up to the greatest value, and few", () => {
  expect(marks([])).toEqual([0, 1, 2, 3, 4]);
  expect(marks([1])).toEqual([0, 1, 2, 3, 4]);
  expect(marks([7])).toEqual([0, 2, 4, 6, 8]);
  expect(marks([12])).toEqual([0, 5, 10, 15]);
  expect(marks([40])).toEqual([0, 10, 20, 30, 40]);
  for (let most = 1; most < 200_000; most = Math.ceil(most * 1.3)) {
    const found = marks([most, 0]);
    expect(found.every(Number.isInteger)).toBe(true);
    expect(found.at(-1)).toBeGreaterThanOrEqual(most);
    expect(found.length).toBeWithin(3, 7);
  }
});

test("labelsFor() fits labels on the narrowest chart", () => {
  expect([labelsFor(100), labelsFor(900)]).toEqual([2, 10]);
});

describe("durationWords()", () => {
  test("says each unit, and leaves what is no duration", () => {
    expect(durationWords("90d", settingsTexts)).toBe("90 days");
    expect(durationWords("1d12h", settingsTexts)).toBe("1 day 12 hours");
    expect(durationWords("soon 5d", settingsTexts)).toBe("soon 5d");
    expect(durationWords("", settingsTexts)).toBe("");
  });
});

test("isDuration() takes what the service takes", () => {
  expect(["90d", "2w", "1d12h", "720h0m0s"].every(isDuration)).toBe(true);
  expect(["", "90", "d", "-1d", "1h1d", "0d", "1.5d"].some(isDuration)).toBe(false);
});

describe("passwordFaults()", () => {
  const { password: texts } = accountTexts;
  const faults = (present: string, next: string) => passwordFaults({ username: "olga", present, next }, texts);

  test("finds nothing wrong with a good one", () => {
    expect(faults("seven lanterns over cold water", "eleven candles under warm sand")).toEqual({});
  });

  test("says what is missing", () => {
    expect(faults("", "")).toEqual({ present: texts.missingPresent, next: texts.missing });
  });

  test("counts characters, and knows the rules that need no list", () => {
    expect(faults("x", "14 characters!")).toEqual({ next: texts.short(14, 15) });
    expect(faults("x", "😀".repeat(15))).toEqual({});
    expect(faults("x", "a".repeat(257))).toEqual({ next: texts.long(257, 256) });
    expect(faults("x", "my name is OLGA, really")).toEqual({ next: texts.withName });
    expect(faults("the very same password", "the very same password")).toEqual({ next: texts.same });
  });
});
