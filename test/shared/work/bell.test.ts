import { describe, expect, test } from "bun:test";
import { createShift } from "../../../src/shared/work/bell.ts";

/** Longer than any of these tests takes. */
const LONG = 60_000;

/** Whether the promise is resolved by now. */
async function isDone(promise: Promise<void>): Promise<boolean> {
  return await Promise.race([promise.then(() => true), Bun.sleep(5).then(() => false)]);
}

describe("createShift()", () => {
  test("a ring wakes one of those who wait, the one who has waited longest", async () => {
    const shift = createShift();
    const [first, second] = [shift.wait(LONG), shift.wait(LONG)];
    shift.ring();
    expect([await isDone(first), await isDone(second)]).toEqual([true, false]);
    shift.ring();
    expect(await isDone(second)).toBe(true);
  });

  test("rings while all are at work keep the next one from waiting, and only that one", async () => {
    const shift = createShift();
    shift.ring();
    shift.ring();
    expect(await isDone(shift.wait(LONG))).toBe(true);
    const next = shift.wait(LONG);
    expect(await isDone(next)).toBe(false);
    shift.ring();
    await next;
  });

  test("a ring is not for one who waits no longer", async () => {
    const shift = createShift();
    await shift.wait(1);
    const waiting = shift.wait(LONG);
    shift.ring();
    expect(await isDone(waiting)).toBe(true);
  });
});
