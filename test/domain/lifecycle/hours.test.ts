import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { allAccounts } from "../../../src/domain/accounts/account.ts";
import { closingsOf } from "../../../src/domain/accounts/closings.ts";
import { uploadKey } from "../../../src/domain/keys/keys.ts";
import { boundTimesToCome } from "../../../src/domain/lifecycle/clock-set-back.ts";
import { finishClosings } from "../../../src/domain/lifecycle/finish-closings.ts";
import { followDueHours } from "../../../src/domain/lifecycle/hours.ts";
import { extendUser } from "../../../src/domain/users/extend.ts";
import { updateUser } from "../../../src/domain/users/update.ts";
import { createUser, disableUser, enableUser, type NewUser } from "../../../src/domain/users/users.ts";
import { parseHours } from "../../../src/shared/hours/text.ts";
import { removeLock, writeLock } from "../../../src/shared/system/lock-journal.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../../src/shared/time/clock.ts";
import { closings, users } from "../../../src/store/schema.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { freshKey } from "../../support/keys.ts";

let app: TestApp;
let name: string;
let id: number;
let count = 0;

beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  app.host.failing.clear();
  app.host.sessionsOpen.length = 0;
  await app.db.delete(users);
  await app.db.delete(closings);
  app.host.accounts.clear();
  // A Friday in winter: Berlin is at 11:00.
  app.clock.set(new Date("2026-11-27T10:00:00Z"));
});

const OFFICE = parseHours("mon-fri 08:00-18:00 Europe/Berlin");

async function make(input: Partial<NewUser>, keys = 1): Promise<void> {
  name = `person-${++count}`;
  ({ id } = await createUser(app.system, { username: name, email: `${name}@example.org`, ...input }));
  for (let key = 0; key < keys; key++) await uploadKey(app.system, id, { name: "k", publicKey: freshKey() });
}

const at = (text: string) => app.clock.set(new Date(text));
const follow = () => followDueHours(app.services, app.config.dataDir);
const account = () => app.host.accounts.get(`ext_${name}`);
const row = async () => (await app.db.select().from(users).where(eq(users.id, id)))[0];
const windows = async () =>
  (await app.auditRows("access.window")).filter(({ resourceId }) => resourceId === String(id));
const enter = () => {
  const session = { id: `${count}`, since: app.clock.now(), from: "192.0.2.1", fingerprint: undefined };
  app.host.sessionsOpen.push({ ...session, account: `ext_${name}` });
};
/** What the host has is what is wanted of it. */
const expectAsWanted = async () => {
  const [wanted] = await allAccounts(app.services.db, app.clock.now());
  expect(account()?.open).toBe(wanted?.open as boolean);
  expect(account()?.file).toEqual(wanted?.open ? wanted.keys.map(({ fingerprint }) => fingerprint) : []);
};

describe("createUser() with hours", () => {
  test("inside them opens the account until the end of the window", async () => {
    await make({ hours: OFFICE });
    expect(account()).toMatchObject({ open: true, expireAt: new Date("2026-11-27T17:00:00Z") });
    expect(account()?.file).toHaveLength(1);
    expect((await row())?.hoursDueAt).toEqual(new Date("2026-11-27T17:00:00Z"));
  });

  test("outside them makes a shut account, whose keys are stored and in no file", async () => {
    at("2026-11-28T10:00:00Z");
    await make({ hours: OFFICE }, 2);
    expect(account()).toMatchObject({ open: false, file: [] });
    expect((await row())?.hoursDueAt).toEqual(new Date("2026-11-30T07:00:00Z"));
    at("2026-11-30T07:00:00Z");
    await follow();
    expect(account()).toMatchObject({ open: true, expireAt: new Date("2026-11-30T17:00:00Z") });
    expect(account()?.file).toHaveLength(2);
  });

  test("ends a window with the account, if that comes first", async () => {
    await make({ hours: OFFICE, expireAt: new Date("2026-11-27T12:34:56Z") });
    expect(account()?.expireAt).toEqual(new Date("2026-11-27T12:34:56Z"));
  });

  test("and a start has no line in any file before it, and counts the days from it", async () => {
    const startsAt = new Date("2026-11-30T06:30:15Z");
    await make({ startsAt, ttlDays: 10 });
    expect(account()).toMatchObject({ open: false, file: [] });
    expect((await row())?.expireAt).toEqual(new Date(startsAt.getTime() + 10 * DAY));
    app.clock.set(new Date(startsAt.getTime() - 1));
    await follow();
    expect(account()?.open).toBe(false);
    app.clock.advance(1);
    await follow();
    expect(account()).toMatchObject({ open: true, expireAt: new Date(startsAt.getTime() + 10 * DAY) });
    expect(account()?.file).toHaveLength(1);
    expect((await row())?.hoursDueAt).toBeNull();
  });

  test.each([
    [{ startsAt: new Date("2026-11-27T09:00:00Z") }, "starts_at is in the past"],
    [{ startsAt: new Date("2046-11-27T09:00:00Z") }, "starts_at is more than 3650 days away"],
    [
      { startsAt: new Date("2026-12-27T09:00:00Z"), expireAt: new Date("2026-12-27T09:00:00Z") },
      "expire_at is not after starts_at",
    ],
    [{ hours: { zone: "Mars/Olympus", windows: OFFICE.windows } }, "Not a time zone"],
    [{ hours: { zone: "UTC", windows: [{ days: ["mon"], from: "08:00", to: "08:00" }] } }, "has no length"],
  ] as const)("refuses %j", async (input, message) => {
    await expect(make(input as Partial<NewUser>)).rejects.toThrow(message);
    expect(app.host.accounts.size).toBe(0);
  });

  test("is undone if the account cannot be shut", async () => {
    at("2026-11-28T10:00:00Z");
    app.host.failing.add("endProcesses");
    await expect(make({ hours: OFFICE })).rejects.toThrow("The host refused");
    expect(await row()).toBeUndefined();
  });
});

describe("followDueHours()", () => {
  test("shuts at the end of the window, to the millisecond, and opens at the next", async () => {
    await make({ hours: OFFICE });
    at("2026-11-27T16:59:59.999Z");
    await follow();
    expect(account()?.open).toBe(true);
    at("2026-11-27T17:00:00Z");
    await follow();
    expect((await row())?.hoursDueAt).toEqual(new Date("2026-11-30T07:00:00Z"));
    expect(account()).toMatchObject({ open: false, file: [] });
    at("2026-11-30T07:00:00Z");
    await follow();
    expect((await row())?.hoursDueAt).toEqual(new Date("2026-11-30T17:00:00Z"));
    expect(account()).toMatchObject({ open: true, expireAt: new Date("2026-11-30T17:00:00Z") });
  });

  test("leaves an account shut that `uam lock` shut without the database, and opens it once that is over", async () => {
    await make({ hours: OFFICE, startsAt: new Date("2026-11-30T07:00:00Z") });
    const directory = mkdtempSync(join(tmpdir(), "uam-hours-"));
    try {
      const entry = { id: crypto.randomUUID(), at: app.clock.now(), username: name, uid: undefined, operator: "root" };
      writeLock(directory, entry);
      at("2026-11-30T07:00:00Z");
      await followDueHours(app.services, directory);
      expect(account()).toMatchObject({ open: false, file: [] });
      removeLock(directory, entry.id);
      await followDueHours(app.services, directory);
      expect(account()?.open).toBe(true);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  test("records the end only if sessions had to end, with how many", async () => {
    await make({ hours: OFFICE });
    at("2026-11-27T17:00:00Z");
    await follow();
    expect(await windows()).toEqual([]);
    at("2026-11-30T07:00:00Z");
    await follow();
    enter();
    enter();
    at("2026-11-30T17:00:00Z");
    await follow();
    const [record, ...others] = await windows();
    expect(others).toEqual([]);
    expect(record).toMatchObject({ actorType: "system", result: "success", subjectId: id });
    expect(JSON.parse(record?.detail ?? "")).toEqual({ username: name, sessions: 2 });
  });

  test("leaves the account's jobs alone, which disabling it removes; also where shutting had to be finished", async () => {
    await make({ hours: OFFICE });
    Object.assign(account() ?? {}, { hasJobs: true });
    app.host.failing.add("endProcesses");
    at("2026-11-27T17:00:00Z");
    await follow();
    app.host.failing.clear();
    app.clock.advance(2 * MINUTE);
    await finishClosings(app.services, "due");
    expect(await closingsOf(app.services.db, id)).toEqual([]);
    await extendUser(app.system, id, 5);
    at("2026-11-30T07:00:00Z");
    await follow();
    expect(account()).toMatchObject({ open: true, hasJobs: true });
    await disableUser(app.system, id);
    expect(account()?.hasJobs).toBeUndefined();
  });

  test("after a stop over several windows ends what runs, and then opens the window of now", async () => {
    await make({ hours: OFFICE });
    app.host.calls.length = 0;
    at("2026-12-01T09:00:00Z");
    await follow();
    const calls = app.host.calls.filter((call) => !call.startsWith("sessions"));
    expect(calls).toEqual([`shutAccount ext_${name}`, `openAccount ext_${name}`]);
    expect(account()).toMatchObject({ open: true, expireAt: new Date("2026-12-01T17:00:00Z") });
  });

  test("does what ends before what begins, and what becomes due meanwhile", async () => {
    const names: string[] = [];
    for (const hours of ["fri 12:00-13:00 UTC", "fri 12:00-13:00 UTC", "fri 09:00-12:00 UTC", "fri 12:30-13:00 UTC"]) {
      await make({ hours: parseHours(hours) });
      names.push(`ext_${name}`);
    }
    app.host.calls.length = 0;
    at("2026-11-27T12:00:00Z");
    const { openAccount } = app.host;
    const host = {
      ...app.host,
      openAccount: async (account: Parameters<typeof openAccount>[0]) => {
        at("2026-11-27T12:30:00Z");
        await openAccount(account);
      },
    };
    await followDueHours({ ...app.services, host }, app.config.dataDir);
    const calls = app.host.calls.map((call) => call.split(" ")).filter(([verb]) => verb?.endsWith("Account"));
    const [first, ...others] = calls;
    expect(first).toEqual(["shutAccount", names[2] as string]);
    expect(others.map(([verb]) => verb)).toEqual(Array(3).fill("openAccount"));
    expect(others.map(([, account]) => account).sort()).toEqual([names[0], names[1], names[3]] as string[]);
  });

  test("costs the host nothing while nothing is due, and nothing for users without hours", async () => {
    await make({ hours: OFFICE });
    await make({});
    app.host.calls.length = 0;
    at("2026-11-27T15:00:00Z");
    await follow();
    expect(app.host.calls).toEqual([]);
  });

  test("leaves disabled users shut at the beginning of a window", async () => {
    at("2026-11-28T10:00:00Z");
    await make({ hours: OFFICE });
    await disableUser(app.system, id);
    at("2026-11-30T07:00:00Z");
    await follow();
    expect(account()).toMatchObject({ open: false, file: [] });
    expect((await row())?.hoursDueAt).toEqual(new Date("2026-11-30T17:00:00Z"));
  });

  test("leaves an account shut that is being disabled, and was not stored as such yet", async () => {
    at("2026-11-28T10:00:00Z");
    await make({ hours: OFFICE });
    const now = app.clock.now();
    const by = { actorType: "admin", actor: "root", begunAt: now, dueAt: new Date(now.getTime() + 99 * DAY) } as const;
    await app.db.insert(closings).values({ userId: id, kind: "shut", action: "user.disable", ...by });
    at("2026-11-30T07:00:00Z");
    await follow();
    expect(account()).toMatchObject({ open: false, file: [] });
    expect(await closingsOf(app.services.db, id)).toHaveLength(1);
  });

  test("owes the steps of shutting that fail, says so once, and opens again in time", async () => {
    await make({ hours: OFFICE });
    app.host.failing.add("endProcesses");
    at("2026-11-27T17:00:00Z");
    await follow();
    expect(await windows()).toMatchObject([{ result: "failed" }]);
    expect(await closingsOf(app.services.db, id)).toMatchObject([{ kind: "shut", action: "" }]);
    app.clock.advance(MINUTE);
    await follow();
    expect(await windows()).toHaveLength(1);
    app.host.failing.clear();
    at("2026-11-30T07:00:00Z");
    await follow();
    expect(account()?.open).toBe(true);
    expect(await closingsOf(app.services.db, id)).toEqual([]);
  });

  test("tries again to open an account that could not be opened, and one failure does not stop the others", async () => {
    at("2026-11-28T10:00:00Z");
    await make({ hours: OFFICE });
    const first = name;
    app.host.failing.add("openAccount");
    at("2026-11-30T07:00:00Z");
    await follow();
    expect(account()?.open).toBe(false);
    app.host.failing.clear();
    app.clock.advance(MINUTE);
    await follow();
    expect(app.host.accounts.get(`ext_${first}`)?.open).toBe(true);
  });

  test("is due at once after the clock was set back", async () => {
    await make({ hours: OFFICE });
    at("2026-12-04T17:00:00Z");
    await follow();
    expect(account()?.open).toBe(false);
    at("2026-11-27T12:00:00Z");
    await app.db.transaction((tx) => boundTimesToCome(tx, app.services.policy, app.clock.now()));
    await follow();
    expect(account()).toMatchObject({ open: true, expireAt: new Date("2026-11-27T17:00:00Z") });
  });

  test("never opens hours that cannot be read", async () => {
    await make({ hours: OFFICE });
    await app.db.update(users).set({ hours: "mon 08:00-18:00 Mars/Olympus", hoursDueAt: app.clock.now() });
    await follow();
    expect(account()).toMatchObject({ open: false, file: [] });
  });
});

describe("hours with which only logins end", () => {
  const logins = { hours: OFFICE, hoursEnd: "logins" } as const;

  test("leave what is open alone, and let no key in", async () => {
    await make(logins);
    enter();
    app.host.calls.length = 0;
    at("2026-11-27T17:00:00Z");
    await follow();
    expect(app.host.calls.filter((call) => !call.startsWith("presence"))).toEqual([`openAccount ext_${name}`]);
    expect(account()).toMatchObject({ open: true, file: [], expireAt: (await row())?.expireAt });
    expect(app.host.sessionsOpen).toHaveLength(1);
    expect(await windows()).toEqual([]);
    expect((await row())?.hoursDueAt).toEqual(new Date("2026-11-30T07:00:00Z"));
    await uploadKey(app.system, id, { name: "k", publicKey: freshKey() });
    expect(account()?.file).toEqual([]);
    at("2026-12-01T09:00:00Z");
    app.host.calls.length = 0;
    await follow();
    expect(app.host.calls).not.toContain(`shutAccount ext_${name}`);
    expect(account()?.file).toHaveLength(2);
    expect(app.host.sessionsOpen).toHaveLength(1);
  });

  test("stay due until the keys are out of the file", async () => {
    await make(logins);
    app.host.failing.add("openAccount");
    at("2026-11-27T17:00:00Z");
    await follow();
    expect(account()?.file).toHaveLength(1);
    await expect(updateUser(app.system, id, { hours: parseHours("sun 08:00-09:00 UTC") })).rejects.toThrow(
      "are stored, but the host does not follow them yet",
    );
    app.host.failing.clear();
    await follow();
    expect(account()?.file).toEqual([]);
  });

  test("end with the end of the account, with disabling, and before the start everything is shut", async () => {
    await make({ ...logins, startsAt: new Date("2026-11-30T08:00:00Z") });
    expect(account()).toMatchObject({ open: false, file: [] });
    at("2026-11-30T18:00:00Z");
    await follow();
    expect(account()).toMatchObject({ open: true, file: [] });
    await disableUser(app.system, id);
    expect(account()).toMatchObject({ open: false, file: [] });
  });

  test("become hours with which sessions end, and the other way round", async () => {
    await make(logins);
    at("2026-11-27T17:00:00Z");
    await follow();
    enter();
    await updateUser(app.system, id, { hoursEnd: "sessions" });
    expect(account()).toMatchObject({ open: false, file: [] });
    expect(await windows()).toHaveLength(1);
    await updateUser(app.system, id, { hoursEnd: "logins" });
    expect(account()).toMatchObject({ open: true, file: [] });
    const [record] = (await app.auditRows("user.update")).filter(({ subjectId }) => subjectId === id);
    expect(JSON.parse(record?.detail ?? "")).toMatchObject({ hours_end: "sessions", old_hours_end: "logins" });
  });
});

describe("outside the hours", () => {
  beforeEach(async () => {
    at("2026-11-28T10:00:00Z");
    await make({ hours: OFFICE }, 2);
  });

  test("enabling, extending and uploading store, and open nothing", async () => {
    await disableUser(app.system, id);
    await enableUser(app.system, id);
    await expectAsWanted();
    await extendUser(app.system, id, 5);
    await expectAsWanted();
    await uploadKey(app.system, id, { name: "k", publicKey: freshKey() });
    expect(account()).toMatchObject({ open: false, file: [] });
    at("2026-11-30T07:00:00Z");
    await follow();
    expect(account()?.file).toHaveLength(3);
  });

  test("a key that is revoked is not there when they begin", async () => {
    const { revokeKey, listKeys } = await import("../../../src/domain/keys/keys.ts");
    const [key] = await listKeys(app.system, id);
    await revokeKey(app.system, id, key?.id ?? 0);
    expect(account()).toMatchObject({ open: false, file: [] });
    at("2026-11-30T07:00:00Z");
    await follow();
    expect(account()?.file).toHaveLength(1);
    await expectAsWanted();
  });
});

describe("updateUser() of hours", () => {
  test("narrower ones shut at once, and end what runs", async () => {
    await make({});
    enter();
    const updated = await updateUser(app.system, id, { hours: parseHours("mon-fri 12:00-18:00 Europe/Berlin") });
    expect(updated.hours).toBe("mon-fri 12:00-18:00 Europe/Berlin");
    expect(account()).toMatchObject({ open: false, file: [] });
    expect(await windows()).toHaveLength(1);
    const [record] = (await app.auditRows("user.update")).filter(({ subjectId }) => subjectId === id);
    expect(JSON.parse(record?.detail ?? "")).toMatchObject({ hours: updated.hours, old_hours: "" });
  });

  test("ones with an earlier end today bring the end in the file forward, and leave who is inside alone", async () => {
    await make({ hours: OFFICE });
    app.host.calls.length = 0;
    await updateUser(app.system, id, { hours: parseHours("mon-fri 08:00-12:00 Europe/Berlin") });
    expect(account()).toMatchObject({ open: true, expireAt: new Date("2026-11-27T11:00:00Z") });
    expect(app.host.calls).not.toContain(`shutAccount ext_${name}`);
  });

  test("none open at once, until the end of the account", async () => {
    at("2026-11-28T10:00:00Z");
    await make({ hours: OFFICE });
    const { expireAt } = await updateUser(app.system, id, { hours: null });
    expect(account()).toMatchObject({ open: true, expireAt });
    expect((await row())?.hoursDueAt).toBeNull();
  });

  test("are stored and tried again if the host fails, and the caller is told", async () => {
    await make({});
    app.host.failing.add("shutAccount");
    const change = updateUser(app.system, id, { hours: parseHours("sun 08:00-18:00 UTC") });
    await expect(change).rejects.toThrow("are stored, but the host does not follow them yet");
    expect((await row())?.hours).toBe("sun 08:00-18:00 UTC");
    expect(await closingsOf(app.services.db, id)).toHaveLength(1);
  });

  test("moves a start until it has come, and then refuses", async () => {
    await make({ startsAt: new Date("2026-11-28T10:00:00Z") });
    const startsAt = new Date("2026-11-29T10:00:00Z");
    expect((await updateUser(app.system, id, { startsAt })).startsAt).toEqual(startsAt);
    app.clock.set(startsAt);
    await follow();
    expect(account()?.open).toBe(true);
    await expect(updateUser(app.system, id, { startsAt: new Date("2026-12-29T10:00:00Z") })).rejects.toThrow(
      `The access of ${name} has begun`,
    );
    await expect(updateUser(app.system, id, { startsAt: null })).rejects.toThrow("has begun");
  });

  test("brings a start forward to now", async () => {
    await make({ startsAt: new Date("2026-11-28T10:00:00Z") });
    await updateUser(app.system, id, { startsAt: null });
    expect(account()?.open).toBe(true);
  });

  test("of a disabled user open nothing", async () => {
    await make({ hours: parseHours("sun 08:00-18:00 UTC") });
    await disableUser(app.system, id);
    await updateUser(app.system, id, { hours: null });
    expect(account()?.open).toBe(false);
  });

  test("two changes at the same instant end in what is stored", async () => {
    await make({});
    const all = [OFFICE, null, parseHours("sun 08:00-18:00 UTC"), parseHours("fri 10:00-13:00 UTC")];
    await Promise.all(all.map((hours) => updateUser(app.system, id, { hours })));
    await follow();
    await expectAsWanted();
  });
});

test("a window is as long as the night in which the clock changes", async () => {
  at("2026-10-24T12:00:00Z");
  await make({ hours: parseHours("sat 22:00-06:00 Europe/Berlin") });
  const opens = (await row())?.hoursDueAt;
  expect(opens).toEqual(new Date("2026-10-24T20:00:00Z"));
  app.clock.set(opens as Date);
  await follow();
  expect(account()?.expireAt).toEqual(new Date(Date.parse("2026-10-25T04:00:00Z") + HOUR));
  app.clock.advance(9 * HOUR - SECOND);
  await follow();
  expect(account()?.open).toBe(true);
  app.clock.advance(SECOND);
  await follow();
  expect(account()?.open).toBe(false);
});
