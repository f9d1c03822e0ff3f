/** Webhooks from the change to the receiver: order, filters, receivers that are slow or away, and what ends the patience with one. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { pageDeliveries } from "../../../src/domain/events/deliveries.ts";
import {
  createWebhook,
  deleteWebhook,
  type MadeWebhook,
  pageWebhooks,
  updateWebhook,
} from "../../../src/domain/events/webhooks.ts";
import { audited } from "../../../src/domain/operation/audited.ts";
import { systemContext } from "../../../src/domain/operation/context.ts";
import { type EventFollower, startEventFollower } from "../../../src/server/events/event-follower.ts";
import { createSender } from "../../../src/server/events/sender.ts";
import type { AuditAction } from "../../../src/shared/product/audit-actions.ts";
import { DAY, MINUTE, SECOND, systemClock } from "../../../src/shared/time/clock.ts";
import { type DatabaseHandle, openDatabase } from "../../../src/store/client.ts";
import { webhooks } from "../../../src/store/schema-events.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { HANG } from "../../support/hang.ts";
import { type Receiver, startReceiver } from "../../support/receiver.ts";
import { testSlow } from "../../support/thorough.ts";
import { until } from "../../support/until.ts";

const networks = ["127.0.0.0/8"];

let app: TestApp;
const opened: (() => Promise<void>)[] = [];

beforeAll(async () => {
  app = await createTestApp({ UAM_WEBHOOK_NETWORKS: networks.join(",") });
  await app.admin();
});
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
  await app.db.delete(webhooks);
});
afterAll(() => app.close());

/** Follows, as a service does, on connections of its own. */
function follow(timeout?: number): EventFollower {
  const handle: DatabaseHandle = openDatabase(app.connection, 3);
  const sender = createSender({ networks, clock: systemClock, ...(timeout === undefined ? {} : { timeout }) });
  const follower = startEventFollower(app.services, { db: handle.db, sender, stream: undefined });
  let stopped: Promise<void> | undefined;
  const stop = async () => {
    stopped ??= follower.stop().then(() => handle.close());
    await stopped;
  };
  opened.push(stop);
  return { ...follower, stop };
}

async function receiver(): Promise<Receiver> {
  const made = await startReceiver();
  opened.push(() => made.close());
  return made;
}

const make = (url: string, actions: readonly AuditAction[] = []): Promise<MadeWebhook> =>
  createWebhook(app.system, { url, actions });

async function record(times: number, action: AuditAction = "key.update"): Promise<void> {
  for (let time = 0; time < times; time++) await audited(systemContext(app.services), { action }, async () => {});
}

async function stored(id: number) {
  const [row] = await app.db.select().from(webhooks).where(eq(webhooks.id, id));
  if (row === undefined) throw new Error("there is no such webhook");
  return row;
}

async function newest(): Promise<number> {
  return (await app.auditRows()).at(-1)?.id ?? 0;
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe("a webhook that is taken away while something is delivered to it", () => {
  testSlow.each([
    ["deleted", (id: number) => deleteWebhook(app.system, id)],
    ["switched off", (id: number) => updateWebhook(app.system, id, { status: "disabled" })],
    ["sent elsewhere", (id: number) => updateWebhook(app.system, id, { url: "http://127.0.0.1:9/" })],
  ] as const)("is sent nothing more once that was answered: %s", async (_, take) => {
    const [hook, other] = [await receiver(), await receiver()];
    hook.delay = 30;
    const { entry } = await make(hook.url);
    await record(100);
    follow();
    await until(() => hook.requests.length >= 3);
    await take(entry.id);
    const before = hook.requests.length;
    expect(before).toBeLessThan(100);
    // Until somebody else was told of all that came after.
    await make(other.url);
    await record(5);
    const last = await newest();
    await until(() => other.ids.includes(last));
    await Bun.sleep(500);
    expect(hook.requests).toHaveLength(before);
  });

  testSlow("and whoever does that waits for a receiver that does not answer, not for ever", async () => {
    const hook = await receiver();
    hook.answer = "hang";
    const { entry } = await make(hook.url);
    await record(1);
    follow();
    await until(() => hook.requests.length >= 1);
    await deleteWebhook(app.system, entry.id);
    expect(hook.requests).toHaveLength(1);
    expect((await pageWebhooks(app.system, { page: 1, pageSize: 10 })).total).toBe(0);
  });
});

describe("startEventFollower()", () => {
  test("tries a webhook again that was put off by a clock that was years ahead", async () => {
    const hook = await receiver();
    const { entry } = await make(hook.url);
    const dueAt = new Date(app.clock.now().getTime() + 4 * 365 * DAY);
    await app.db.update(webhooks).set({ failures: 3, failingSince: dueAt, dueAt }).where(eq(webhooks.id, entry.id));
    follow();
    await record(1);
    const last = await newest();
    await until(() => hook.ids.includes(last));
  });

  test("tells a webhook of every record in order, from that of its creation on, signed", async () => {
    const hook = await receiver();
    const { entry, secret } = await make(hook.url);
    follow();
    await record(30);
    const last = await newest();
    await until(() => hook.ids.includes(last));
    expect(hook.ids).toEqual(range(entry.cursor + 1, last));
    for (const request of hook.requests) hook.verify(request, secret);
    const [first] = hook.requests;
    expect(first?.json).toMatchObject({
      type: "webhook.create",
      data: { action: "webhook.create", id: entry.cursor + 1 },
    });
    // The path of an address may be secret.
    expect(first?.json.data.detail).toBe(`{"to":"http://127.0.0.1:${hook.port}","actions":"all"}`);
    expect(new Set(hook.requests.map(({ headers }) => headers["webhook-id"])).size).toBe(hook.ids.length);
    await until(async () => (await stored(entry.id)).cursor === last);
    const { total, items } = await pageDeliveries(app.system, entry.id, { page: 1, pageSize: 5 });
    expect(total).toBe(hook.ids.length);
    expect(items[0]).toMatchObject({ recordId: last, type: "key.update", attempt: 1, error: "" });
  });

  test("tells it only of the actions that it is for, and is not behind for the others", async () => {
    const hook = await receiver();
    const { entry } = await make(hook.url, ["user.create", "user.delete"]);
    follow();
    await record(3);
    await record(1, "user.create");
    await record(2);
    await until(async () => (await stored(entry.id)).cursor === (await newest()));
    expect(hook.requests.map(({ json }) => json.type)).toEqual(["user.create"]);
    expect((await pageWebhooks(app.system, { page: 1, pageSize: 9 })).items[0]).toMatchObject({
      lag: 0,
      failingSince: null,
    });
  });

  testSlow(
    "a receiver that hangs, and one that refuses, hold up neither changes nor the others",
    async () => {
      const [good, hanging] = [await receiver(), await receiver()];
      hanging.answer = "hang";
      const gone = await startReceiver();
      await gone.close();
      const made = [await make(hanging.url), await make(gone.url), await make(good.url)];
      // The one that hangs is given more time than the test has.
      follow(10 * HANG);
      await record(20);
      const last = await newest();
      await until(() => good.ids.includes(last));
      expect((await stored(made[0]?.entry.id ?? 0)).failures).toBe(0);
      // Whoever stops waits for the delivery under way.
      await hanging.close();
      const [, refused] = made;
      await until(async () => (await stored(refused?.entry.id ?? 0)).failures > 0);
      const row = await stored(refused?.entry.id ?? 0);
      expect(row).toMatchObject({
        cursor: refused?.entry.cursor,
        lastError: `127.0.0.1:${gone.port} refuses connections`,
      });
      expect(row.failingSince).toEqual(app.clock.now());
    },
    180_000,
  );

  testSlow(
    "what fails is tried again after 1 s, then twice as long, up to 10 minutes; down for a day, it loses nothing",
    async () => {
      const hook = await receiver();
      hook.answer = 503;
      const { entry } = await make(hook.url);
      follow();
      await record(5);
      const last = await newest();
      const waits: number[] = [];
      const began = app.clock.now().getTime();
      await until(() => hook.requests.length === 1);
      let tries = 1;
      while (app.clock.now().getTime() - began < DAY) {
        await until(async () => (await stored(entry.id)).failures === tries);
        const { dueAt } = await stored(entry.id);
        const wait = (dueAt?.getTime() ?? 0) - app.clock.now().getTime();
        waits.push(wait / SECOND);
        // The rest of the day passes at once.
        if (wait === 10 * MINUTE) break;
        app.clock.advance(wait);
        tries++;
        await until(() => hook.requests.length === tries);
      }
      expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600]);
      expect(new Set(hook.requests.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
      app.clock.advance(DAY);
      hook.answer = 204;
      await until(() => hook.ids.includes(last));
      expect(hook.ids).toEqual(range(entry.cursor + 1, last));
      await until(async () => (await stored(entry.id)).failingSince === null);
    },
    180_000,
  );

  testSlow(
    "after three days it is switched off, on record, with a mail to the owners; switched on, it goes on where it was",
    async () => {
      const hook = await receiver();
      hook.answer = 500;
      const { entry } = await make(hook.url);
      follow();
      await until(async () => (await stored(entry.id)).failures === 1);
      app.clock.advance(3 * DAY);
      await until(async () => (await stored(entry.id)).status === "disabled");
      const off = await app.lastAudit("webhook.update");
      expect(off).toMatchObject({ actorType: "system", resourceId: String(entry.id), result: "success" });
      expect(off.detail).toMatchObject({
        status: "disabled",
        reason: "It took nothing for three days: The receiver answered 500",
      });
      const mails = (await app.mails("admin@example.org")).filter(({ subject }) => subject.includes("webhook"));
      expect(mails.map(({ subject }) => subject)).toEqual([
        `The webhook to http://127.0.0.1:${hook.port} was switched off`,
      ]);
      expect(mails[0]?.text).not.toContain("/hook");
      await record(3);
      const before = hook.requests.length;
      hook.answer = 200;
      await Bun.sleep(1500);
      expect(hook.requests.length).toBe(before);
      await updateWebhook(app.system, entry.id, { status: "active" });
      const last = await newest();
      await until(() => hook.ids.includes(last));
      expect(hook.ids).toEqual(range(entry.cursor + 1, last));
    },
    180_000,
  );

  testSlow(
    "another address counts from the next delivery on; a deleted webhook is told of nothing more",
    async () => {
      const [old, next] = [await receiver(), await receiver()];
      old.answer = 500;
      const { entry } = await make(old.url);
      follow();
      await until(() => old.requests.length > 0);
      await updateWebhook(app.system, entry.id, { url: next.url });
      const last = await newest();
      await until(() => next.ids.includes(last));
      expect(next.ids).toEqual(range(entry.cursor + 1, last));
      await deleteWebhook(app.system, entry.id);
      await Bun.sleep(1500);
      const told = next.requests.length;
      await record(3);
      await Bun.sleep(500);
      expect(next.requests.length).toBe(told);
    },
    180_000,
  );

  testSlow(
    "of two instances one delivers; when it ends, the other goes on where it was",
    async () => {
      const hook = await receiver();
      const { entry } = await make(hook.url);
      const first = follow();
      await until(() => hook.ids.length === 1);
      follow();
      await record(5);
      const middle = await newest();
      await until(() => hook.ids.includes(middle));
      await first.stop();
      await record(5);
      const last = await newest();
      await until(() => hook.ids.includes(last));
      expect(hook.ids).toEqual(range(entry.cursor + 1, last));
    },
    180_000,
  );
});
