import { describe, expect, test } from "bun:test";
import { judgeClock } from "../../src/doctor/time.ts";

describe("judgeClock()", () => {
  test("is content with a clock that is synchronised, and only with that", () => {
    expect(judgeClock("yes\n").state).toBe("ok");
    expect(judgeClock("no\n")).toMatchObject({
      ...{ state: "fault", finding: "The clock is not synchronised" },
      remedy: expect.stringContaining("apt-get install systemd-timesyncd"),
    });
  });

  test("says so where it does not understand the answer", () => {
    for (const said of ["", "NTPSynchronized=yes", "maybe".repeat(100)]) {
      const { state, finding } = judgeClock(said);
      expect([state, finding.length < 200]).toEqual(["skipped", true]);
      expect(finding).toEndWith("is not understood");
    }
  });
});
