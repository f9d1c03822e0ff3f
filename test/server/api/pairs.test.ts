/** Every two operations that change a user, at the same instant: one after the other could have given the same. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { verifyAudit } from "../../../src/domain/audit/verify.ts";
import { DAY } from "../../../src/shared/time/clock.ts";
import { seededRandom } from "../../support/audit-log.ts";
import { type LocalWorld, openWorld } from "../../support/pairs/here.ts";
import { allPairs } from "../../support/pairs/operations.ts";
import { tryPair } from "../../support/pairs/run.ts";
import { isThorough } from "../../support/thorough.ts";

// `bun run test:long pairs` tries all of them, 200 times each. Here it is one pair in so many, other ones each day.
const PART = isThorough ? 2 : 32;
const TODAY = Math.floor(Date.now() / DAY) % PART;
const WORLDS = 3;

let worlds: LocalWorld[];
beforeAll(async () => {
  worlds = await Promise.all(Array.from({ length: WORLDS }, () => openWorld()));
});
afterAll(async () => {
  for (const world of worlds) await world.close();
});

test("every pair ends as one of its orders does", async () => {
  const pairs = allPairs().filter((_, index) => index % PART === TODAY);
  const found: string[] = [];
  const works = worlds.map(async (world, index) => {
    const random = seededRandom(index);
    for (const pair of pairs.filter((_, number) => number % WORLDS === index)) {
      const { faults } = await tryPair(world, pair, 1, random);
      for (const text of faults.keys()) found.push(`${pair.name}\n${text}`);
    }
    expect((await verifyAudit(world.app.services)).fault).toBeUndefined();
  });
  await Promise.all(works);
  expect(found).toEqual([]);
}, 300_000);
