import { describe, expect, test } from "bun:test";
import { cellsOf, isWhole, painted, WEEK_HOURS, windowsOf } from "../../../../src/console/pages/hours/week.ts";
import { formatHours, parseHours } from "../../../../src/shared/hours/text.ts";
import { openingAt } from "../../../../src/shared/hours/windows.ts";
import { HOUR } from "../../../../src/shared/time/clock.ts";

const windows = (text: string) => parseHours(`${text} UTC`).windows;
const text = (cells: readonly boolean[]) => formatHours({ zone: "UTC", windows: windowsOf(cells) });

describe("windowsOf()", () => {
  test.each([
    "mon-fri 08:00-18:00",
    "mon-fri 08:00-12:00,13:00-18:00",
    "mon,wed 22:00-02:00; sat 09:00-12:00",
    "mon-sun 00:00-24:00",
    "sun 23:00-01:00",
    "fri 00:00-24:00; sat 00:00-03:00",
  ])("gives back what cellsOf() was given: %s", (hours) => {
    expect(text(cellsOf(windows(hours)))).toBe(`${hours} UTC`);
  });

  test("has nothing for no cell", () => expect(windowsOf(cellsOf([]))).toEqual([]));

  test("fills exactly the cells, whichever they are", () => {
    // 40 weeks by a generator with a fixed beginning.
    let seed = 31;
    const next = () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed / 2 ** 31;
    };
    for (let week = 0; week < 40; week++) {
      const density = next();
      const cells = Array.from({ length: WEEK_HOURS }, () => next() < density);
      const found = windowsOf(cells);
      expect(cellsOf(found)).toEqual(cells);
      // A Monday; windows may be more than the 20 that are stored.
      const monday = Date.UTC(2026, 10, 23);
      const isOpen = (hour: number) =>
        openingAt([{ zone: "UTC", windows: found }], new Date(monday + hour * HOUR)).open;
      if (found.length > 0) expect(cells.map((_, hour) => isOpen(hour))).toEqual(cells);
    }
  });
});

describe("cellsOf()", () => {
  test("has the cells that a window only touches, which isWhole() tells", () => {
    const [half] = windows("mon 08:30-09:30");
    expect(half && isWhole(half)).toBe(false);
    expect(cellsOf(windows("mon 08:30-09:30")).flatMap((isOn, cell) => (isOn ? [cell] : []))).toEqual([8, 9]);
    expect(cellsOf(windows("sun 23:30-00:30")).flatMap((isOn, cell) => (isOn ? [cell] : []))).toEqual([
      0,
      WEEK_HOURS - 1,
    ]);
  });
});

test("painted() fills or wipes a rectangle of days and hours, whichever corners it is given", () => {
  const none = cellsOf([]);
  const work = painted(none, [8, 4 * 24 + 17], true);
  expect(text(work)).toBe("mon-fri 08:00-18:00 UTC");
  expect(painted(none, [4 * 24 + 17, 8], true)).toEqual(work);
  expect(text(painted(work, [2 * 24 + 12, 2 * 24 + 12], false))).toBe(
    "mon,tue,thu,fri 08:00-18:00; wed 08:00-12:00,13:00-18:00 UTC",
  );
});
