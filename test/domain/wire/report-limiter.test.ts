import { describe, expect, test } from "bun:test";
import { createTurns } from "../../../src/domain/wire/report-limiter.ts";

const AT_ONCE = 1000;

describe("createTurns()", () => {
  test("take() lets so many through, and the next when one ends, once", async () => {
    const turns = createTurns();
    const ends = await Promise.all(Array.from({ length: AT_ONCE }, () => turns.take()));
    const through: number[] = [];
    const waiting = [1, 2].map((number) =>
      turns.take().then((end) => {
        through.push(number);
        return end;
      }),
    );
    await Bun.sleep(1);
    expect(through).toEqual([]);
    ends[0]?.();
    ends[0]?.();
    await Bun.sleep(1);
    expect(through).toEqual([1]);
    (await waiting[0])?.();
    (await waiting[1])?.();
    expect(through).toEqual([1, 2]);
  });

  test("giveWay() waits while reports wait, and for no longer than it has to", async () => {
    const turns = createTurns();
    await turns.giveWay();
    const ends = await Promise.all(Array.from({ length: AT_ONCE }, () => turns.take()));
    await turns.giveWay();
    const next = turns.take();
    let isOver = false;
    const giving = turns.giveWay().then(() => {
      isOver = true;
    });
    await Bun.sleep(50);
    expect(isOver).toBe(false);
    ends[0]?.();
    await giving;
    (await next)();
  });

  test("take() refuses more than can be kept waiting", async () => {
    const turns = createTurns();
    const all = Array.from({ length: AT_ONCE + 20_000 }, () => turns.take());
    await expect(turns.take()).rejects.toMatchObject({ code: "limited" });
    for (const end of all) (await end)();
  });
});
