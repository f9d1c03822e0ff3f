/**
 * What is sold: once a closing was answered in any way, no key that it took away logs in, ever again, until somebody opens the
 * account. Random hostile preparation × closing × failure, through the whole service; `bun run test:long closings` does many more.
 */

import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { runRounds } from "../long/closings/rounds.ts";
import { describeOnHost } from "../support/host-account.ts";

const ROUNDS = 20;

describeOnHost("taking access away", () => {
  test(
    "no key logs in again, whatever its owner prepared and whatever fails",
    async () => {
      expect(existsSync("/usr/bin/strace")).toBe(true);
      // Always the same rounds here, so that a failure is about the change; `bun run test:long closings` draws new ones.
      const seed = 20_261_122;
      const lines: string[] = [];
      const tell = (line: string): void => void lines.push(line);
      const { rounds, failures, seconds } = await runRounds({
        seed,
        rounds: ROUNDS,
        within: Number.POSITIVE_INFINITY,
        thorough: false,
        tell,
      });
      const repeat = `bun run test:long closings --seed ${seed} --rounds ${ROUNDS}`;
      console.log(`${rounds} of ${ROUNDS} rounds in ${Math.round(seconds)} s; the same again: ${repeat}`);
      if (failures.length > 0) console.log(lines.join("\n"));
      expect(failures).toEqual([]);
      expect(rounds).toBe(ROUNDS);
    },
    30 * 60_000,
  );
});
