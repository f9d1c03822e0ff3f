import { expect, test } from "bun:test";
import { severalAtOnce } from "../../../src/shared/work/several.ts";

const ITEMS = [1, 2, 3, 4, 5, 6, 7];

test("severalAtOnce() works on each item once, in their order, and on no more than so many at once", async () => {
  const begun: number[] = [];
  let [running, most] = [0, 0];
  await severalAtOnce(ITEMS, { atOnce: 3 }, async (item) => {
    begun.push(item);
    most = Math.max(most, ++running);
    await Bun.sleep(1);
    running--;
  });
  expect([begun, most, running]).toEqual([ITEMS, 3, 0]);
});

test("severalAtOnce() begins nothing once it is to end, and waits for what was begun", async () => {
  const end = new AbortController();
  const done: number[] = [];
  await severalAtOnce(ITEMS, { atOnce: 2, signal: end.signal }, async (item) => {
    if (item === 2) end.abort();
    await Bun.sleep(1);
    done.push(item);
  });
  expect(done.sort()).toEqual([1, 2]);
});
