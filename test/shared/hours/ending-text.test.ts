import { expect, test } from "bun:test";
import { endingText } from "../../../src/shared/hours/ending-text.ts";

test("endingText() says the end by the wall clock of the zone", () => {
  const at = new Date("2026-11-27T17:05:00Z");
  expect(endingText(at, "Europe/Berlin")).toBe("Your access ends at 18:05 (Europe/Berlin), and this session with it.");
  expect(endingText(at, "UTC")).toContain("at 17:05 (UTC)");
});
