import { describe, expect, test } from "bun:test";
import { localeOf } from "../../../src/console/texts/language.ts";

describe("localeOf()", () => {
  test.each([
    [["de-DE"], "en-GB"],
    [["de-DE", "en-US"], "en-US"],
    [["en"], "en"],
    [["en-AU", "en-GB"], "en-AU"],
    [[], "en-GB"],
  ])("of %p is %s: dates are in the language of the page", (wanted, locale) => {
    expect(localeOf(wanted)).toBe(locale);
  });
});
