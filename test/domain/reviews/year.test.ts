/** The short form of `bun run test:long year`: some weeks of few users, with a review of everybody each week. */

import { expect } from "bun:test";
import { runYear } from "../../long/year/year.ts";
import { isThorough, testSlow } from "../../support/thorough.ts";

testSlow(
  "no account is open after its day without an answer, and none is shut that was answered for",
  async () => {
    const days = isThorough ? 60 : 18;
    const { findings, figures } = await runYear({ seed: 30, days, people: 15, sponsors: 5, firms: 2, every: 7 });
    expect(findings).toEqual([]);
    const times = (what: string) => figures.get(what) ?? 0;
    expect(times("reviews of everybody")).toBeGreaterThan(0);
    expect(times("looks at an account")).toBeGreaterThan(500);
  },
  180_000,
);
