import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { listClosings } from "../../../src/domain/accounts/closings.ts";
import { finishClosings } from "../../../src/domain/lifecycle/finish-closings.ts";
import type { Heartbeat } from "../../../src/domain/lifecycle/heartbeat.ts";
import { countRecyclable, expireDue, recycleDue } from "../../../src/domain/lifecycle/lifecycle.ts";
import { date } from "../../../src/domain/mail/letter.ts";
import { systemContext } from "../../../src/domain/operation/context.ts";
import { dropSetting, updateSetting } from "../../../src/domain/settings/settings.ts";
import { extendUser } from "../../../src/domain/users/extend.ts";
import { createUser, deleteUser, disableUser } from "../../../src/domain/users/users.ts";
import type { AccountRef, Closing } from "../../../src/protocol/host.ts";
import { UamError } from "../../../src/shared/errors.ts";
import { DAY, MINUTE, SECOND } from "../../../src/shared/time/clock.ts";
import { closings, users } from "../../../src/store/schema.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { freshKey } from "../../support/keys.ts";
import { testSlow } from "../../support/thorough.ts";
import { untilWaiting } from "../../support/waiting.ts";

let app: TestApp;
let name: string;
let id: number;
let expireAt: Date;
let count = 0;

beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  app.host.failing.clear();
  await app.db.delete(users);
  await app.db.delete(closings);
  app.host.accounts.clear();
  name = `person-${++count}`;
  const user = await createUser(app.system, { username: name, email: `${name}@example.org`, ttlDays: 10 });
  id = user.id;
  expireAt = user.expireAt;
});

const time = (): Heartbeat => ({ now: app.clock.now(), holdUntil: undefined });
const expire = () => expireDue(systemContext(app.services), time());
const recycle = () => recycleDue(systemContext(app.services), time());
const account = () => app.host.accounts.get(`ext_${name}`);
const row = async () => (await app.db.select().from(users).where(eq(users.id, id)))[0];
const records = async (action: string) =>
  (await app.auditRows(action)).filter((record) => record.resourceId === String(id));

/** Makes the database refuse to store that anybody is expired, whatever the host says. */
const refuseExpiry = () =>
  app.alter(`create function refuse_expiry() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
    create trigger refuse_expiry before update on users for each row when (new.status = 'expired')
    execute function refuse_expiry()`);
const allowExpiry = () => app.alter("drop function refuse_expiry() cascade");

describe("expireDue()", () => {
  test("expires at the moment of expire_at and not a millisecond before", async () => {
    app.clock.set(new Date(expireAt.getTime() - 1));
    expect(await expire()).toEqual({ done: 0, failed: 0 });
    expect((await row())?.status).toBe("active");
    app.clock.advance(1);
    expect(await expire()).toEqual({ done: 1, failed: 0 });
    expect((await row())?.status).toBe("expired");
  });

  test("shuts the account, empties its file and tells the user when it will be deleted", async () => {
    const { client, id: keyed } = await app.user(`keyed-${count}`);
    await client.call("POST", "/me/keys", { name: "k", public_key: freshKey() });
    expect(app.host.accounts.get(`ext_keyed-${count}`)?.file).toHaveLength(1);
    app.clock.advance(90 * DAY);
    await expire();
    expect(app.host.accounts.get(`ext_keyed-${count}`)).toMatchObject({ open: false, file: [] });
    const mails = await app.mails(`keyed-${count}@example.org`);
    const notice = mails.filter((mail) => mail.dedupeKey?.startsWith(`expired:${keyed}:`));
    expect(notice).toHaveLength(1);
    expect(notice[0]?.subject).toContain("has ended");
    const recycleAt = new Date((notice[0]?.createdAt.getTime() ?? 0) + 30 * DAY);
    expect(notice[0]?.text.replace(/\s+/g, " ")).toContain(`will be deleted on ${date(recycleAt)}`);
  });

  test("is recorded as the system's, with what the user was", async () => {
    app.clock.set(expireAt);
    await expire();
    const [record, ...others] = await records("lifecycle.expire");
    expect(others).toEqual([]);
    expect(record).toMatchObject({
      actorType: "system",
      actor: "system",
      resourceType: "user",
      result: "success",
      ip: "",
    });
    expect(record).toMatchObject({ subjectId: id, createdAt: expireAt });
    expect(JSON.parse(record?.detail ?? "")).toEqual({
      username: name,
      status: "expired",
      old_status: "active",
      expire_at: expireAt.toISOString(),
    });
  });

  test("expires a disabled user, whom an extension makes disabled again", async () => {
    await disableUser(app.system, id);
    app.clock.set(expireAt);
    await expire();
    expect((await row())?.status).toBe("expired");
    expect((await extendUser(app.system, id, 5)).status).toBe("disabled");
    expect(account()?.open).toBe(false);
  });

  test.each([["missing"], ["foreign"]] as const)(
    "expires a user whose account is %s on the host, and says so",
    async (presence) => {
      const found = account();
      if (presence === "missing" || found === undefined) app.host.accounts.delete(`ext_${name}`);
      else app.host.accounts.set(`ext_${name}`, { ...found, uid: 1 });
      const warned: unknown[] = [];
      const log = { ...app.services.log, warn: (_: string, fields: unknown) => void warned.push(fields) };
      app.clock.set(expireAt);
      expect(await expireDue(systemContext({ ...app.services, log }), time())).toEqual({ done: 1, failed: 0 });
      expect((await row())?.status).toBe("expired");
      expect(JSON.parse((await records("lifecycle.expire"))[0]?.detail ?? "")).toMatchObject({ host: presence });
      expect(warned).toEqual([{ account: `ext_${name}`, presence }]);
      if (presence === "foreign") expect(account()?.open).toBe(true);
    },
  );

  test("continues with the others when the host refuses one, who is expired all the same and owed", async () => {
    const other = await createUser(app.system, { username: `other-${count}`, email: "o@example.org", ttlDays: 11 });
    const host = {
      ...app.host,
      shutAccount: async (wanted: AccountRef): Promise<Closing> => {
        if (wanted.name === `ext_${name}`) throw new UamError("internal", "usermod is busy");
        return await app.host.shutAccount(wanted);
      },
    };
    app.clock.set(other.expireAt);
    expect(await expireDue(systemContext({ ...app.services, host }), time())).toEqual({ done: 1, failed: 1 });
    expect((await row())?.status).toBe("expired");
    const [record] = await records("lifecycle.expire");
    expect(record).toMatchObject({ result: "failed", actor: "system" });
    expect(JSON.parse(record?.detail ?? "")).toMatchObject({
      username: name,
      status: "expired",
      err: expect.stringContaining("usermod is busy"),
    });
    expect((await app.mails(`${name}@example.org`)).some((mail) => mail.subject.includes("has ended"))).toBe(true);
    app.clock.advance(MINUTE);
    expect(await expire()).toEqual({ done: 0, failed: 0 });
    await finishClosings(app.services);
    expect(account()?.open).toBe(false);
    expect(await listClosings(app.db)).toEqual([]);
  });

  testSlow("retries one that keeps failing at growing intervals: not a record each minute for ever", async () => {
    app.clock.set(expireAt);
    await refuseExpiry();
    const minutes: number[] = [];
    for (let minute = 0; minute < 24 * 60; minute++) {
      if ((await expire()).failed === 1) minutes.push(minute);
      app.clock.advance(MINUTE);
    }
    expect(minutes).toEqual([0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 872, 1232]);
    expect(await records("lifecycle.expire")).toHaveLength(minutes.length);
    await allowExpiry();
  });

  test("forgets old failures with an extension", async () => {
    app.clock.set(expireAt);
    await refuseExpiry();
    for (let minute = 0; minute < 64; minute++, app.clock.advance(MINUTE)) await expire();
    await allowExpiry();
    const { expireAt: later } = await extendUser(app.system, id, 1);
    app.clock.set(later);
    expect(await expire()).toEqual({ done: 1, failed: 0 });
  });

  test("leaves users alone who were extended or deleted in the meantime, without a record", async () => {
    app.clock.set(expireAt);
    const gone = await createUser(app.system, { username: `gone-${count}`, email: "g@example.org", ttlDays: 1 });
    app.clock.advance(2 * DAY);
    const context = systemContext(app.services);
    // The lock of an extension under way makes the job wait, after it has chosen whom to expire.
    const { promise: release, resolve } = Promise.withResolvers<void>();
    const { promise: held, resolve: hold } = Promise.withResolvers<void>();
    const locked = app.db.transaction(async (tx) => {
      await tx
        .update(users)
        .set({ expireAt: new Date(app.clock.now().getTime() + DAY) })
        .where(eq(users.id, id));
      await tx.delete(users).where(eq(users.id, gone.id));
      hold();
      await release;
    });
    await held;
    const expiring = expireDue(context, time());
    await untilWaiting(app.db);
    resolve();
    await locked;
    expect(await expiring).toEqual({ done: 0, failed: 0 });
    expect((await row())?.status).toBe("active");
    expect(await records("lifecycle.expire")).toEqual([]);
    expect((await app.auditRows("lifecycle.expire")).some((record) => record.resourceId === String(gone.id))).toBe(
      false,
    );
  });

  test("of two instances at once each user is expired by one", async () => {
    for (let index = 0; index < 30; index++)
      await createUser(app.system, { username: `twin-${count}-${index}`, email: "t@example.org", ttlDays: 10 });
    app.clock.set(expireAt);
    const before = (await app.auditRows("lifecycle.expire")).length;
    const [first, second] = await Promise.all([expire(), expire()]);
    expect(first.done + second.done).toBe(31);
    expect((await app.auditRows("lifecycle.expire")).length - before).toBe(31);
    expect(
      (await app.mails()).filter((mail) => mail.recipient === "t@example.org" && mail.subject.includes("has ended")),
    ).toHaveLength(30);
  });

  test("ends early when told to, without a half-expired user", async () => {
    const stop = new AbortController();
    stop.abort();
    app.clock.set(expireAt);
    expect(await expireDue(systemContext(app.services), time(), stop.signal)).toEqual({ done: 0, failed: 0 });
    expect((await row())?.status).toBe("active");
  });
});

describe("expireDue() of many", () => {
  const many = 24;

  beforeEach(async () => {
    for (let index = 1; index < many; index++)
      await createUser(app.system, { username: `${name}-${index}`, email: "m@example.org", ttlDays: 10 });
    app.clock.set(expireAt);
  });

  /** A host on which each shutting takes until `release` is called, if it is among those that wait. */
  function slowHost(waits: (account: string) => boolean) {
    const released = Promise.withResolvers<void>();
    const begun: string[] = [];
    const host = Object.create(app.services.host) as typeof app.services.host;
    host.shutAccount = async (account) => {
      begun.push(account.name);
      if (waits(account.name)) await released.promise;
      return await app.services.host.shutAccount(account);
    };
    return { context: systemContext({ ...app.services, host }), begun, release: released.resolve };
  }

  test("goes on with the others while the host takes long for one", async () => {
    const { context, release } = slowHost((account) => account === `ext_${name}`);
    const expiring = expireDue(context, time());
    const isExpired = eq(users.status, "expired");
    while ((await app.db.select().from(users).where(isExpired)).length < many - 1) await Bun.sleep(5);
    expect((await row())?.status).toBe("active");
    release();
    expect(await expiring).toEqual({ done: many, failed: 0 });
  });

  test("ends with those that were begun when told to, each whole, and goes on later", async () => {
    const { context, begun, release } = slowHost(() => true);
    const stop = new AbortController();
    const expiring = expireDue(context, time(), stop.signal);
    while (begun.length === 0) await Bun.sleep(5);
    stop.abort();
    release();
    const { done, failed } = await expiring;
    expect(failed).toBe(0);
    expect(done).toBe(begun.length);
    expect(done).toBeLessThan(many);
    const expired = (await app.db.select().from(users)).filter(({ status }) => status === "expired");
    expect(expired.map(({ username }) => `ext_${username}`).sort()).toEqual([...begun].sort());
    const recorded = new Set((await app.auditRows("lifecycle.expire")).map(({ resourceId }) => resourceId));
    for (const user of expired) expect(recorded).toContain(String(user.id));
    for (const account of begun) expect(app.host.accounts.get(account)?.open).toBe(false);
    expect(await expire()).toEqual({ done: many - done, failed: 0 });
  });
});

describe("recycleDue()", () => {
  beforeEach(async () => {
    app.clock.set(expireAt);
    await expire();
  });

  test("removes account and user at the end of the recycle period, and not a millisecond before", async () => {
    app.clock.set(new Date(expireAt.getTime() + 30 * DAY - 1));
    expect(await recycle()).toEqual({ done: 0, failed: 0 });
    expect(await countRecyclable(app.system, app.clock.now())).toBe(0);
    app.clock.advance(1);
    expect(await countRecyclable(app.system, app.clock.now())).toBe(1);
    expect(await recycle()).toEqual({ done: 1, failed: 0 });
    expect(await row()).toBeUndefined();
    expect(account()).toBeUndefined();
    const [record] = await records("lifecycle.recycle");
    expect(record).toMatchObject({ actorType: "system", actor: "system", result: "success", subjectId: id });
    expect(JSON.parse(record?.detail ?? "")).toEqual({
      username: name,
      status: "deleted",
      email: `${name}@example.org`,
      full_name: "",
      supervisor: "",
      purpose: "",
      note: "",
      keys: 0,
      uid: expect.any(Number),
      expire_at: expireAt.toISOString(),
    });
  });

  test("never removes a user who has not been expired first", async () => {
    const late = await createUser(app.system, { username: `late-${count}`, email: "l@example.org", ttlDays: 1 });
    app.clock.set(new Date(late.expireAt.getTime() + 60 * DAY));
    await recycle();
    expect(app.host.accounts.has(`ext_late-${count}`)).toBe(true);
    await expire();
    await recycle();
    expect(app.host.accounts.has(`ext_late-${count}`)).toBe(false);
  });

  test("uses the recycle period as it is set now, from the next run on", async () => {
    await updateSetting(app.system, "policy.recycle_period", "1h");
    // A shorter one deletes nobody for a day, in which it can be taken back.
    app.clock.advance(DAY - SECOND);
    expect(await recycle()).toEqual({ done: 0, failed: 0 });
    await dropSetting(app.system, "policy.recycle_period");
    app.clock.advance(2 * DAY);
    expect(await recycle()).toEqual({ done: 0, failed: 0 });
    await updateSetting(app.system, "policy.recycle_period", "1d");
    expect(await recycle()).toEqual({ done: 0, failed: 0 });
    app.clock.advance(DAY);
    expect(await recycle()).toEqual({ done: 1, failed: 0 });
    await dropSetting(app.system, "policy.recycle_period");
  });

  test("keeps the user whose account the host does not remove, and tries again", async () => {
    app.clock.advance(31 * DAY);
    app.host.failing.add("removeAccount");
    expect(await recycle()).toEqual({ done: 0, failed: 1 });
    expect((await row())?.status).toBe("expired");
    expect((await records("lifecycle.recycle"))[0]).toMatchObject({ result: "failed" });
    expect(await recycle()).toEqual({ done: 0, failed: 0 });
    app.host.failing.clear();
    app.clock.advance(MINUTE);
    await finishClosings(app.services);
    expect(await row()).toBeUndefined();
    expect((await records("lifecycle.recycle")).map(({ result, actor }) => [result, actor])).toEqual([
      ["failed", "system"],
      ["success", "system"],
    ]);
  });

  test("does not touch a user who was extended in time", async () => {
    await extendUser(app.system, id, 5);
    app.clock.advance(31 * DAY);
    expect(await recycle()).toEqual({ done: 0, failed: 0 });
    expect(account()).toBeDefined();
    await deleteUser(app.system, id);
  });

  test("does nothing while deletion is on hold", async () => {
    app.clock.advance(31 * DAY);
    const held = { now: app.clock.now(), holdUntil: new Date(app.clock.now().getTime() + 1) };
    expect(await recycleDue(systemContext(app.services), held)).toEqual({ done: 0, failed: 0 });
    expect(account()).toBeDefined();
  });
});
