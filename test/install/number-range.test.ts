import { describe, expect, test } from "bun:test";
import { numberRange } from "../../src/install/number-range.ts";

describe("numberRange", () => {
  test.each([
    [1, 1],
    [1, 9],
    [1, 10],
    [7, 13],
    [10, 99],
    [95, 1005],
    [100, 199],
    [999, 1000],
    [1000, 1999],
    [1234, 5678],
    [2000, 5999],
    [58_700, 58_799],
    [1000, 60_000],
    [20_000, 59_999],
    [59_999, 60_000],
    [65_534, 65_534],
  ])("numberRange() matches exactly the numbers from %d to %d", (first, last) => {
    const whole = new RegExp(`^(${numberRange(first, last)})$`);
    for (let number = 0; number <= 70_000; number++) {
      if (whole.test(String(number)) !== (number >= first && number <= last)) throw new Error(`wrong about ${number}`);
    }
    for (const text of ["", `0${first}`, `${last}0`, ` ${first}`, `-${first}`]) {
      const number = Number(text);
      if (/^[1-9]\d*$/.test(text) && number >= first && number <= last) continue;
      expect([text, whole.test(text)]).toEqual([text, false]);
    }
  });

  test("numberRange() covers the largest uids", () => {
    const whole = new RegExp(`^(${numberRange(1000, 4_294_967_293)})$`);
    expect(
      ["999", "1000", "4294967293", "4294967294", "4294967295", "10000000000"].map((it) => whole.test(it)),
    ).toEqual([false, true, true, false, false, false]);
  });
});
