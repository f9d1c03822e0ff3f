import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { followRecords, recordsAfter, watchLog } from "../../../src/domain/audit/follow.ts";
import { audited } from "../../../src/domain/operation/audited.ts";
import { systemContext } from "../../../src/domain/operation/context.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { HANG } from "../../support/hang.ts";
import { until } from "../../support/until.ts";

describe("following the audit log", () => {
  let t: TestApp;
  beforeAll(async () => {
    t = await createTestApp();
  });
  afterAll(() => t.close());

  const record = (fails = false) =>
    audited(systemContext(t.services), { action: "key.update" }, async () => {
      if (fails) throw new Error("on purpose");
    });

  test("a follower hears of a record when it is committed, and reads what came after the last it saw", async () => {
    let heard = 0;
    let seen = (await t.auditRows()).length;
    const stop = watchLog(t.services, () => heard++);
    await Bun.sleep(50);
    await record();
    await expect(record(true)).rejects.toThrow("on purpose");
    const rows = await recordsAfter(t.services.db, seen, 10);
    expect(rows.map(({ result }) => result)).toEqual(["success", "failed"]);
    seen = rows.at(-1)?.id ?? 0;
    expect(await recordsAfter(t.services.db, seen, 10)).toEqual([]);
    await stop();
    const ended = heard;
    await record();
    await Bun.sleep(1100);
    expect(heard).toBe(ended);
  });

  test("a follower is told of each record, and does not wait for its next look", async () => {
    let heard = 0;
    const stop = watchLog(t.services, () => heard++);
    await Bun.sleep(50);
    const began = performance.now();
    // It looks each second: told of none, it would be at this for longer than a hang.
    for (let round = 0; round < 70; round++) {
      const before = heard;
      await record();
      await until(() => heard > before);
    }
    expect(performance.now() - began).toBeLessThan(HANG);
    await stop();
  });

  test("records come in the order of their ids, a batch at a time", async () => {
    for (let index = 0; index < 5; index++) await record();
    const first = await recordsAfter(t.services.db, 0, 3);
    const rest = await recordsAfter(t.services.db, first.at(-1)?.id ?? 0, 100);
    const ids = [...first, ...rest].map(({ id }) => id);
    expect(ids).toEqual(ids.map((_id, index) => index + 1));
  });

  test("who is far behind reads on while batches are full, and does not wait for the next record", async () => {
    while ((await t.auditRows()).length < 80) await record();
    const stop = new AbortController();
    const ids: number[] = [];
    const began = performance.now();
    // Without another record it is woken each second: waiting after each batch would be longer than a hang.
    for await (const [record] of followRecords(t.services, { after: 0, limit: 1 }, stop.signal))
      if (ids.push(record?.id ?? 0) === 80) stop.abort();
    expect(performance.now() - began).toBeLessThan(HANG);
    expect(ids).toEqual(ids.map((_id, index) => index + 1));
  });
});
