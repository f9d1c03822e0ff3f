import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { remindExpiring } from "../../../src/domain/lifecycle/reminders.ts";
import { tellEnabled, tellExtended } from "../../../src/domain/mail/notices.ts";
import { extendUser } from "../../../src/domain/users/extend.ts";
import { createUser, disableUser } from "../../../src/domain/users/users.ts";
import { DAY, MINUTE } from "../../../src/shared/time/clock.ts";
import { outbox, users } from "../../../src/store/schema.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;

beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  await app.db.delete(users);
  await app.db.delete(outbox);
  app.host.accounts.clear();
});

const run = (services = app.services) => remindExpiring(services, app.clock.now());
const reminders = async () => (await app.mails()).filter((mail) => mail.dedupeKey?.startsWith("reminder:"));
const subjects = async () =>
  (await reminders()).map((mail) => `${mail.recipient}: ${mail.subject.replace(/ to \S+/, "")}`);

describe("remindExpiring()", () => {
  test("mails 14, 7 and 1 days before expiry, once each, to the minute", async () => {
    const { expireAt } = await createUser(app.system, { username: "anna", email: "anna@example.org", ttlDays: 20 });
    const seen: number[] = [];
    for (let before = 20 * DAY; before > 0; before -= 6 * 60 * MINUTE) {
      for (const extra of [MINUTE, 0]) {
        app.clock.set(new Date(expireAt.getTime() - before - extra));
        const known = (await reminders()).length;
        await run();
        await run();
        if ((await reminders()).length > known) seen.push((before + extra) / DAY);
      }
    }
    expect(seen).toEqual([14, 7, 1]);
    expect(await subjects()).toEqual([
      "anna@example.org: Your access ends in 14 days",
      "anna@example.org: Your access ends in 7 days",
      "anna@example.org: Your access ends within a day",
    ]);
    for (const mail of await reminders()) expect(mail.expiresAt).toEqual(expireAt);
  });

  test("mails the supervisor, too, where that is an address, and one mail where it is the user's own", async () => {
    const base = { email: "u@example.org", ttlDays: 15 } as const;
    await createUser(app.system, { ...base, username: "with-chief", supervisor: "chief@example.org" });
    await createUser(app.system, { ...base, username: "with-name", supervisor: "Chief, R&D" });
    await createUser(app.system, { ...base, username: "own-chief", supervisor: "U@example.org" });
    app.clock.advance(DAY);
    await run();
    await run();
    const all = await subjects();
    expect(all.filter((subject) => subject.startsWith("u@"))).toHaveLength(3);
    expect(all.filter((subject) => subject.startsWith("chief@"))).toEqual([
      "chief@example.org: The access of with-chief ends in 14 days",
    ]);
    expect(all).toHaveLength(4);
  });

  test("mails the sponsor, too, with a link that ends the access; who is supervisor as well gets one mail", async () => {
    const chief = "chief@example.com";
    await createUser(app.system, {
      ...{ username: "sponsored", email: "u@example.org", ttlDays: 15, supervisor: chief, sponsorEmail: chief },
    });
    app.clock.advance(DAY);
    await run();
    await run();
    const mails = (await app.mails(chief)).filter(({ subject }) => subject.includes(" ends "));
    expect(mails.map(({ subject }) => subject.replace(/ to \S+/, ""))).toEqual([
      "The access of sponsored ends in 14 days",
    ]);
    const token = /\/decide#(\S+)/.exec(mails[0]?.text ?? "")?.[1];
    const { body } = await app.anonymous().call("POST", "/decisions/look", { token });
    expect(body.data).toMatchObject({ kind: "end", items: [{ username: "sponsored" }] });
  });

  test.each([
    // A user whose account was created for no longer than that, or for hardly longer, is not reminded then.
    [14, [7, 1]],
    [15, [14, 7, 1]],
    [7, [1]],
    [8, [7, 1]],
    [1, []],
    [2, [1]],
  ])(
    "an account of %d days is reminded %p days before, and not in the minute of its creation",
    async (ttlDays, expected) => {
      const { expireAt } = await createUser(app.system, { username: "kurt", email: "kurt@example.org", ttlDays });
      const seen: number[] = [];
      for (let before = ttlDays * DAY; before > 0; before -= 60 * MINUTE) {
        app.clock.set(new Date(expireAt.getTime() - before));
        const known = (await reminders()).length;
        await run();
        if ((await reminders()).length > known) seen.push(before / DAY);
      }
      expect(seen).toEqual(expected);
    },
  );

  test("sends nothing within a day of another mail that states the date, and the next at its time", async () => {
    const user = await createUser(app.system, { username: "lena", email: "lena@example.org", ttlDays: 20 });
    const at = async (days: number, hours = 0) => {
      app.clock.set(new Date(user.expireAt.getTime() - days * DAY + hours * 60 * MINUTE));
      await run();
      return (await reminders()).length;
    };
    app.clock.set(new Date(user.expireAt.getTime() - 14 * DAY - 60 * MINUTE));
    await app.db.transaction((tx) => tellEnabled({ tx, context: app.services }, user));
    expect(await at(14)).toBe(0);
    expect(await at(12)).toBe(0);
    expect(await at(7)).toBe(1);
    expect(await at(1)).toBe(2);
  });

  test("sends nothing in the minute of an extension by a few days", async () => {
    const user = await createUser(app.system, { username: "mona", email: "mona@example.org", ttlDays: 6 });
    app.clock.advance(4 * DAY);
    const extended = { ...(await extendUser(app.system, user.id, 5)) };
    await app.db.transaction((tx) => tellExtended({ tx, context: app.services }, extended));
    await run();
    expect(await reminders()).toEqual([]);
    app.clock.set(new Date(extended.expireAt.getTime() - DAY));
    await run();
    expect(await reminders()).toHaveLength(1);
  });

  test("sends after a stop only the one nearest to the expiry", async () => {
    const { expireAt } = await createUser(app.system, { username: "ben", email: "ben@example.org", ttlDays: 30 });
    app.clock.set(new Date(expireAt.getTime() - 5 * DAY));
    await run();
    expect(await subjects()).toEqual(["ben@example.org: Your access ends in 5 days"]);
    app.clock.set(new Date(expireAt.getTime() - DAY / 2));
    await run();
    expect(await reminders()).toHaveLength(2);
    app.clock.set(expireAt);
    await run();
    expect(await reminders()).toHaveLength(2);
  });

  test("begins again after an extension, and sends none for days before the user was created", async () => {
    const user = await createUser(app.system, { username: "cleo", email: "cleo@example.org", ttlDays: 10 });
    await run();
    expect(await reminders()).toEqual([]);
    app.clock.set(new Date(user.expireAt.getTime() - DAY));
    await run();
    const { expireAt } = await extendUser(app.system, user.id, 30);
    app.clock.set(new Date(expireAt.getTime() - DAY));
    await run();
    expect(await subjects()).toEqual(Array(2).fill("cleo@example.org: Your access ends within a day"));
  });

  test("reminds disabled users, too, and nobody who has expired", async () => {
    const user = await createUser(app.system, { username: "dora", email: "dora@example.org", ttlDays: 15 });
    await disableUser(app.system, user.id);
    app.clock.advance(DAY);
    await run();
    expect(await reminders()).toHaveLength(1);
    expect((await reminders())[0]?.text).toContain("currently disabled");
    await app.db.update(users).set({ status: "expired", expireAt: new Date(app.clock.now().getTime() + 7 * DAY) });
    await run();
    expect(await reminders()).toHaveLength(1);
  });

  test("follows UAM_EXPIRY_REMINDERS", async () => {
    await createUser(app.system, { username: "emil", email: "emil@example.org", ttlDays: 30 });
    const policy = (expiryReminders: readonly number[]) => ({
      ...app.services,
      policy: { ...app.services.policy, expiryReminders },
    });
    await run(policy([]));
    await run();
    expect(await reminders()).toEqual([]);
    app.clock.advance(5 * DAY);
    await run(policy([3, 25]));
    expect(await reminders()).toHaveLength(1);
  });

  test("of several instances at once each mail is queued once, for more users than one transaction takes", async () => {
    const rows = Array.from({ length: 250 }, (_, index) => ({
      username: `many-${index}`,
      email: `many-${index}@example.org`,
      expireAt: new Date(app.clock.now().getTime() + 7 * DAY),
      createdAt: new Date(app.clock.now().getTime() - DAY),
      updatedAt: app.clock.now(),
    }));
    await app.db.insert(users).values(rows);
    await Promise.all([run(), run(), run()]);
    await run();
    const recipients = (await reminders()).map((mail) => mail.recipient);
    expect(recipients).toHaveLength(250);
    expect(new Set(recipients).size).toBe(250);
  });
});
