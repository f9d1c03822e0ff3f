import { expect, test } from "bun:test";
import { createRest } from "../../src/runtime/rest.ts";

test("createRest() releases once after the start and once after each load, never under it", () => {
  let releases = 0;
  const rest = createRest(() => releases++);
  const pass = (requests: number): number => {
    for (let request = 0; request < requests; request++) rest.note();
    rest.check();
    return releases;
  };
  expect(pass(0)).toBe(1);
  expect([pass(0), pass(3), pass(100)]).toEqual([1, 1, 1]);
  expect([pass(5000), pass(5000), pass(101)]).toEqual([1, 1, 1]);
  expect([pass(40), pass(40)]).toEqual([2, 2]);
  // Few at a time are many in the end, and leave as much behind.
  for (let minute = 0; minute < 23; minute++) expect(pass(40)).toBe(2);
  expect(pass(40)).toBe(3);
});
