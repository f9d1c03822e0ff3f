import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { holdJobLock } from "../../src/store/job-lock.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { testSlow } from "../support/thorough.ts";

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
}, 180_000);
afterAll(() => app.close());

const never = new AbortController().signal;

describe("holdJobLock()", () => {
  testSlow("fails as the work does, even while it is asking whether it has the lock, and frees it", async () => {
    const unhandled: unknown[] = [];
    let asleep: Promise<unknown> | undefined;
    const note = (error: unknown) => unhandled.push(error);
    process.on("unhandledRejection", note);
    try {
      const holding = holdJobLock(app.db, "trial", never, async (_, tx) => {
        // The look that comes each second waits behind this, and the work fails meanwhile.
        asleep = tx.execute(sql`select pg_sleep(3)`);
        await Bun.sleep(2000);
        throw new Error("The work failed");
      });
      await expect(holding).rejects.toThrow("The work failed");
      await asleep;
      expect(unhandled).toEqual([]);
    } finally {
      process.off("unhandledRejection", note);
    }
    let isDone = false;
    const again = async () => {
      isDone = true;
    };
    expect(await holdJobLock(app.db, "trial", never, again)).toBe(true);
    expect(isDone).toBe(true);
  });

  test("leaves the job to whoever has it", async () => {
    const stop = new AbortController();
    let begun = () => {};
    const beginning = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const first = holdJobLock(app.db, "other", stop.signal, async (lost) => {
      begun();
      await new Promise((resolve) => lost.addEventListener("abort", resolve));
    });
    await beginning;
    const work = () => Promise.reject(new Error("It began twice"));
    expect(await holdJobLock(app.db, "other", never, work)).toBe(false);
    stop.abort();
    expect(await first).toBe(true);
  });
});
