import { describe, expect, test } from "bun:test";
import {
  type Allowed,
  allowedFurther,
  allowedOn,
  beginOf,
  readAllowed,
  storedHosts,
} from "../../../src/shared/hours/allowed.ts";

const at = (hour: number) => new Date(Date.UTC(2026, 10, 27, hour));
const NOW = at(10);
const allow = (before: Allowed | undefined, hosts: number[] | null, hour: number) =>
  allowedFurther(before, { hosts, until: at(hour) }, NOW);
const ends = (allowed: Allowed, ...hosts: number[]) =>
  hosts.map((host) => allowedOn(allowed, host)?.getUTCHours() ?? null);

describe("allowedFurther()", () => {
  test("for all hosts is one end, and for some is theirs alone", () => {
    expect(allow(undefined, null, 12)).toEqual({ until: at(12), hosts: null });
    const some = allow(undefined, [2, 3], 12);
    expect([some.until, ...ends(some, 1, 2, 3)]).toEqual([at(12), null, 12, 12]);
  });

  test("adds hosts, and prolongs only those that are named", () => {
    const two = allow(allow(undefined, [2], 12), [3], 14);
    expect([two.until, ...ends(two, 1, 2, 3)]).toEqual([at(14), null, 12, 14]);
    const more = allow(allow(undefined, null, 12), [3], 14);
    expect(ends(more, 1, 3)).toEqual([12, 14]);
    const all = allow(more, null, 13);
    expect(ends(all, 1, 3)).toEqual([13, 14]);
    expect(allow(all, null, 15)).toEqual({ until: at(15), hosts: null });
  });

  test("shortens nothing, and forgets what is over", () => {
    expect(ends(allow(allow(undefined, [2], 14), [2], 12), 2)).toEqual([14]);
    expect(allow(allow(undefined, null, 14), [2], 12)).toEqual({ until: at(14), hosts: null });
    const over = allow({ until: at(12), hosts: { 2: at(9).toISOString(), 3: at(12).toISOString() } }, [4], 11);
    expect(ends(over, 2, 3, 4)).toEqual([null, 12, 11]);
  });
});

describe("beginOf()", () => {
  test("is the first end among the hosts, so that none gets more than is asked for", () => {
    const two = allow(allow(undefined, [2], 12), [3], 14);
    expect(beginOf(two, [2, 3], NOW)).toEqual(at(12));
    expect(beginOf(two, [3, 4], NOW)).toEqual(NOW);
    expect(beginOf(two, null, NOW)).toEqual(NOW);
    expect(beginOf(allow(allow(undefined, null, 12), [3], 14), null, NOW)).toEqual(at(12));
    expect([beginOf(undefined, null, NOW), beginOf(allow(undefined, null, 12), [2], NOW)]).toEqual([NOW, at(12)]);
  });
});

test("allowedOn() never goes beyond all of it, and reads what is stored; what is damaged allows nothing", () => {
  const stored = storedHosts(allow(undefined, [2], 14)) as string;
  expect(ends(readAllowed(at(11), stored), 2, 1)).toEqual([11, null]);
  expect(ends(readAllowed(at(11), null), 1)).toEqual([11]);
  expect(allowedOn({ until: at(12), hosts: { 2: "later" } }, 2)).toBeUndefined();
  expect(allowedOn({ until: at(12), hosts: {} }, "constructor" as never)).toBeUndefined();
});
