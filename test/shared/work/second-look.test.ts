import { describe, expect, test } from "bun:test";
import { LOOKS, lookAgain } from "../../../src/shared/work/second-look.ts";

/** Looks that find these faults one after the other; "" is none. */
function looking(...faults: readonly string[]) {
  let looks = 0;
  let pauses = 0;
  const found = lookAgain({
    look: async () => faults[looks++] ?? "more looks than there may be",
    isFaulty: (fault) => fault !== "",
    pause: async () => {
      pauses++;
    },
  });
  return found.then((last) => ({ last, looks, pauses }));
}

describe("lookAgain()", () => {
  test("lookAgain() ends with the first look that finds no fault", async () => {
    expect(await looking("")).toEqual({ last: "", looks: 1, pauses: 0 });
    expect(await looking("no shell", "")).toEqual({ last: "", looks: 2, pauses: 1 });
  });

  test("lookAgain() gives the last fault where each look finds one", async () => {
    expect(await looking("no shell", "no sudo", "no useradd")).toEqual({ last: "no useradd", looks: LOOKS, pauses: 2 });
  });

  test("lookAgain() hands on what a look throws, and looks no more", async () => {
    let looks = 0;
    const look = () => {
      looks++;
      return Promise.reject(new Error("unreadable"));
    };
    await expect(lookAgain({ look, isFaulty: () => true })).rejects.toThrow("unreadable");
    expect(looks).toBe(1);
  });
});
