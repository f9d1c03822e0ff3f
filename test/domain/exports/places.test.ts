import { describe, expect, test } from "bun:test";
import { createExportPlaces } from "../../../src/domain/exports/places.ts";

function lab(most: number) {
  let now = 0;
  const places = createExportPlaces(most, () => now);
  const gave: string[] = [];
  return {
    gave,
    pass: (milliseconds: number) => {
      now += milliseconds;
    },
    take: (owner: string, name = owner) => {
      const place = places.take(owner);
      place.onGivingWay(() => void gave.push(name));
      return place;
    },
  };
}

describe("createExportPlaces()", () => {
  test("refuses one more while all are read, and takes it once one is done", () => {
    const { take, gave } = lab(2);
    const first = take("ann");
    take("bob");
    expect(() => take("cleo")).toThrow("2 exports are already running");
    first.release();
    first.release();
    take("cleo");
    expect(() => take("dan")).toThrow("already running");
    expect(gave).toEqual([]);
  });

  test("gives the place of the one that waited longest for its reader, but of none that waits for less than 30 s", () => {
    const { take, gave, pass } = lab(2);
    take("ann").waits();
    pass(10_000);
    take("bob").waits();
    pass(19_999);
    expect(() => take("cleo")).toThrow("already running");
    pass(1);
    take("cleo");
    expect(gave).toEqual(["ann"]);
    expect(() => take("dan")).toThrow("already running");
  });

  test("counts from the moment at which the reader last came", () => {
    const { take, gave, pass } = lab(1);
    const place = take("ann");
    place.waits();
    pass(29_000);
    place.isRead();
    pass(29_000);
    expect(() => take("bob")).toThrow("An export is already running");
    place.waits();
    pass(29_999);
    expect(() => take("bob")).toThrow("already running");
    pass(1);
    take("bob");
    expect(gave).toEqual(["ann"]);
  });

  test("somebody who has several gives one to whoever has none, and to nobody else", () => {
    const { take, gave } = lab(2);
    take("ann", "first");
    take("ann", "second");
    expect(() => take("ann")).toThrow("already running");
    take("bob");
    expect(gave).toEqual(["second"]);
    expect(() => take("cleo")).toThrow("already running");
  });

  test("what gave way frees nobody else's place when it ends", () => {
    const { take, pass } = lab(1);
    const gone = take("ann");
    gone.waits();
    pass(30_000);
    take("bob");
    gone.release();
    expect(() => take("cleo")).toThrow("already running");
  });
});
