import { describe, expect, test } from "bun:test";
import { createReportLimiter } from "../../../src/domain/wire/report-limiter.ts";

const AT_ONCE = 1000;

describe("createReportLimiter()", () => {
  test("take() lets so many through, and the next when one ends, once", async () => {
    const limiter = createReportLimiter();
    const ends = await Promise.all(Array.from({ length: AT_ONCE }, () => limiter.take()));
    const through: number[] = [];
    const waiting = [1, 2].map((number) =>
      limiter.take().then((end) => {
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
    const limiter = createReportLimiter();
    await limiter.giveWay();
    const ends = await Promise.all(Array.from({ length: AT_ONCE }, () => limiter.take()));
    await limiter.giveWay();
    const next = limiter.take();
    let isOver = false;
    const giving = limiter.giveWay().then(() => {
      isOver = true;
    });
    await Bun.sleep(50);
    expect(isOver).toBe(false);
    ends[0]?.();
    await giving;
    (await next)();
  });

  test("take() refuses more than can be kept waiting", async () => {
    const limiter = createReportLimiter();
    const all = Array.from({ length: AT_ONCE + 20_000 }, () => limiter.take());
    await expect(limiter.take()).rejects.toMatchObject({ code: "limited" });
    for (const end of all) (await end)();
  });
});
