import { describe, expect, test } from "bun:test";
import { formatHours, parseHours } from "../../../src/shared/hours/text.ts";
import { drawn } from "./random.ts";

describe("parseHours()", () => {
  test("reads days, ranges of days, several times and several parts", () => {
    expect(parseHours("mon-fri 08:00-18:00 Europe/Berlin")).toEqual({
      zone: "Europe/Berlin",
      windows: [{ days: ["mon", "tue", "wed", "thu", "fri"], from: "08:00", to: "18:00" }],
    });
    expect(parseHours(" Sat-Mon,wed 22:00-02:00,08:00-12:00 ;  fri 00:00-24:00   UTC ")).toEqual({
      zone: "UTC",
      windows: [
        { days: ["mon", "wed", "sat", "sun"], from: "22:00", to: "02:00" },
        { days: ["mon", "wed", "sat", "sun"], from: "08:00", to: "12:00" },
        { days: ["fri"], from: "00:00", to: "24:00" },
      ],
    });
  });

  test.each([
    ["", 'Not hours such as "mon-fri 08:00-18:00 Europe/Berlin"'],
    ["mon-fri 08:00-18:00", "Not a time zone such as Europe/Berlin"],
    ["mon-fri Europe/Berlin", '"mon-fri"'],
    ["mon-fri 08:00 -18:00 UTC", "Not hours such as"],
    ["mon-fri 08:00-18:00 Europe/Berlim", 'Not a time zone such as Europe/Berlin: "Europe/Berlim"'],
    ["mon-fri 08:00-18:00 +02:00", 'Not a time zone such as Europe/Berlin: "+02:00"'],
    ["mon-fir 08:00-18:00 UTC", '"mon-fir" are not days'],
    ["mon-tue-wed 08:00-18:00 UTC", '"mon-tue-wed" are not days'],
    ["mon 8:00-18:00 UTC", 'Not times such as 08:00-18:00: "8:00-18:00"'],
    ["mon 24:00-18:00 UTC", 'Not times such as 08:00-18:00: "24:00-18:00"'],
    ["mon 08:00-25:00 UTC", 'Not times such as 08:00-18:00: "08:00-25:00"'],
    ["mon 08:00 UTC", '"08:00" are not times'],
    ["mon 08:00-08:00 UTC", "A window from 08:00 to 08:00 has no length; a whole day is 00:00-24:00"],
    [`${"mon 08:00-09:00;".repeat(20)} mon 08:00-09:00 UTC`, "Hours have at most 20 windows, these have 21"],
    [`mon 08:00-09:00${" ".repeat(3000)}UTC`, "longer than 2000 characters"],
  ])("refuses %j", (text, message) => {
    expect(() => parseHours(text)).toThrow(message);
  });

  test("reads what formatHours() writes", () => {
    for (let seed = 1; seed <= 200; seed++)
      for (const hours of drawn(seed).calendars) expect(parseHours(formatHours(hours))).toEqual(hours);
  });
});

describe("formatHours()", () => {
  test("writes the shortest text", () => {
    const text = "mon-fri 08:00-12:00,13:00-18:00; sat,sun 09:00-12:00 Europe/Berlin";
    expect(formatHours(parseHours(text))).toBe(text);
    expect(formatHours({ zone: "UTC", windows: [] })).toBe("always");
  });
});
