/** The rules of sudo mode against a program that changes the commands they allow; `bun run test:long sudo-rules` tries 10,000. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Attempt, startAttempt } from "../long/sudo-rules/attempt.ts";
import { describeOnHost } from "../support/host-account.ts";

const TRIES = 400;
const SHIFTS = 60;
const WITHIN = 120_000;

describeOnHost("the rules of sudo mode, when commands are changed by a program", () => {
  let attempt: Attempt;
  beforeAll(async () => {
    attempt = await startAttempt();
  }, WITHIN);
  afterAll(() => attempt?.end());

  // Always the same, so that a failure is about the change at hand.
  const seed = 20_261_122;

  test(
    "sudo allows what the program could ask for itself, and nothing else",
    async () => {
      const { tries, asked, faults } = await attempt.ask(seed, TRIES);
      expect([tries, faults]).toEqual([TRIES, []]);
      expect(asked).toBeGreaterThan(20);
      expect(asked).toBeLessThan(TRIES / 2);
    },
    WITHIN,
  );

  test(
    "a command whose arguments are cut elsewhere reaches nothing but accounts of ours",
    async () => {
      expect(await attempt.shift(seed, SHIFTS)).toEqual({ runs: SHIFTS, faults: [] });
    },
    WITHIN,
  );
});
