/** A short walk through the model with the rules as they are, and a world for each wrong variant in which it breaks a promise. */

import { expect, test } from "bun:test";
import { VARIANTS } from "./variants.ts";
import { walk } from "./walk.ts";

/** `bun run test:long model` prints these, and walks 10 million steps. They change with whatever the model draws. */
const WORLDS: Readonly<Record<string, number>> = {
  "a lease from the arrival of the answer": 75,
  "a lease by the wall clock alone": 106,
  "a lease that outlives a boot": 60,
  "a lease renewed before the answer is carried out": 90,
  "a lease renewed although the host failed at a closing": 110,
  "an answer to an earlier request": 7,
  "a closing confirmed at which the host failed": 321,
  "a stored state believed after every start": 29,
  "a stored state believed after work with it": 2994,
  "a stored state that is not believed, but spares work": 4145,
  "closings stored once they are done": 386,
  "new accounts stored once they are made": 1804,
  "hours by the host's clock alone": 448,
  "sessions of a revoked key left": 558,
  "sessions from outside left": 735,
  "a restored history that opens": 198,
  "leases forgotten by a restore": 110,
  "a lease that the service counts as the host does": 175,
  "a longer lease that the host still has": 227,
};

test("20,000 steps break no promise", async () => {
  expect((await walk(20_000, 1)).violation).toBeUndefined();
});

test("an account of before, changed since, on a host that fails while it is put right, is refused by the lease's end", async () => {
  expect((await walk(1, 12_788)).violation).toBeUndefined();
});

test("each wrong variant has a world", () => {
  expect(Object.keys(WORLDS)).toEqual(Object.keys(VARIANTS));
});

test.each(Object.entries(WORLDS))("%s is found", async (name, world) => {
  expect((await walk(1, world)).violation).toBeUndefined();
  expect((await walk(1, world, VARIANTS[name])).violation?.seed).toBe(world);
});
