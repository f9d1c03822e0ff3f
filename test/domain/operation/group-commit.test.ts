/** What is stored together, and what never at once. */

import { expect, test } from "bun:test";
import { createGroupCommit, type HostItem } from "../../../src/domain/operation/group-commit.ts";

interface Item extends HostItem {
  readonly n: number;
}

/** A store that takes as long as it is told to, and notes what it was called with. */
function gatedStore() {
  const calls: { readonly items: readonly Item[]; readonly end: (failure?: Error) => void }[] = [];
  const store = (items: readonly Item[]) =>
    new Promise<readonly number[]>((resolve, reject) => {
      const end = (failure?: Error) => (failure === undefined ? resolve(items.map(({ n }) => n)) : reject(failure));
      calls.push({ items, end });
    });
  return { calls, store: createGroupCommit(store) };
}

const soon = () => Bun.sleep(60);

test("items of a moment are one call, and each gets its own outcome", async () => {
  const { calls, store } = gatedStore();
  const all = Promise.all([1, 2, 3].map((n) => store({ host: n, n: n * 10 })));
  await soon();
  expect(calls.map(({ items }) => items.length)).toEqual([3]);
  calls[0]?.end();
  expect(await all).toEqual([10, 20, 30]);
});

test("of thousands the first are stored before the last, in one call after the other", async () => {
  const { calls, store } = gatedStore();
  const stored: number[] = [];
  const all = Array.from({ length: 3000 }, (_, n) => store({ host: n, n }).then((one) => stored.push(one)));
  await soon();
  expect(calls.length).toBe(1);
  calls[0]?.end();
  await soon();
  expect([calls.length, stored.length > 0, stored.length < 1500]).toEqual([2, true, true]);
  for (let next = 1; stored.length < 3000; next++) {
    calls[next]?.end();
    await soon();
  }
  await Promise.all(all);
  expect(new Set(stored).size).toBe(3000);
});

test("two of one host are never stored at once, and stay in order", async () => {
  const { calls, store } = gatedStore();
  const all = Promise.all([1, 2, 3].map((n) => store({ host: 7, n })));
  const other = store({ host: 8, n: 4 });
  for (let next = 0; next < 3; next++) {
    await soon();
    calls[next]?.end();
  }
  expect([await all, await other]).toEqual([[1, 2, 3], 4]);
  expect(calls.map(({ items }) => items.map(({ n }) => n))).toEqual([[1, 4], [2], [3]]);
});

test("a host that has too many waiting is refused, and may go on once they are stored", async () => {
  const { calls, store } = gatedStore();
  const all = [1, 2, 3, 4].map((n) => store({ host: 7, n }));
  await expect(store({ host: 7, n: 5 })).rejects.toThrow("too many requests");
  for (let next = 0; next < 4; next++) {
    await soon();
    calls[next]?.end();
  }
  expect(await Promise.all(all)).toEqual([1, 2, 3, 4]);
  const again = store({ host: 7, n: 6 });
  await soon();
  calls[4]?.end();
  expect(await again).toBe(6);
});

test("a call that fails fails its own items only", async () => {
  const { calls, store } = gatedStore();
  const first = store({ host: 1, n: 1 }).catch((error: Error) => error.message);
  await soon();
  const second = store({ host: 2, n: 2 });
  await soon();
  calls[0]?.end(new Error("gone"));
  await soon();
  calls[1]?.end();
  expect([await first, await second]).toEqual(["gone", 2]);
});
