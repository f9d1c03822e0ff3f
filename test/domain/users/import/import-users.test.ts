import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { verifyAudit } from "../../../../src/domain/audit/verify.ts";
import { nextHoursChange } from "../../../../src/domain/lifecycle/hours.ts";
import { type ImportOptions, importUsers } from "../../../../src/domain/users/import/import-users.ts";
import { createUser } from "../../../../src/domain/users/users.ts";
import type { Account } from "../../../../src/protocol/host.ts";
import { MINUTE } from "../../../../src/shared/time/clock.ts";
import { outbox, users } from "../../../../src/store/schema.ts";
import { accountIntents } from "../../../../src/store/schema-fleet.ts";
import { createTestApp, type TestApp } from "../../../support/app.ts";

let app: TestApp;
let count = 0;
let last: number;

beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  count++;
  app.clock.advance(MINUTE);
  app.host.failing.clear();
  app.host.calls.length = 0;
  last = (await app.auditRows()).at(-1)?.id ?? 0;
});

/** The names of this test, and a file of them. */
const name = (n: number) => `t${count}-${n}`;
const fileOf = (...names: readonly string[]) =>
  `username,email\n${names.map((one) => `${one},${one}@example.org\n`).join("")}`;
const some = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => name(from + n));

const doImport = async (text: string, options?: ImportOptions, context = app.system) =>
  await importUsers(context, new TextEncoder().encode(text), options);
const refusal = async (text: string, options?: ImportOptions, context = app.system) =>
  await doImport(text, options, context).then(
    () => "",
    (error: Error) => error.message,
  );
const stored = async () =>
  (await app.db.select({ username: users.username }).from(users).orderBy(users.id))
    .map(({ username }) => username)
    .filter((username) => username.startsWith(`t${count}-`));
const records = async () =>
  (await app.auditRows())
    .filter(({ id }) => id > last)
    .map(({ action, result, detail }) => ({ action, result, ...JSON.parse(detail) }));
/** A host on which nothing is made: users are stored a hundred at a time. */
const dry = () => ({ ...app.system, host: { ...app.host, mode: "dry-run" as const } });

describe("importUsers", () => {
  test("creates each user with account, mail and a record of its own", async () => {
    const { created, faults } = await doImport(fileOf(name(1), name(2)));
    expect(created.map(({ username }) => username)).toEqual(some(1, 2));
    expect(faults.total).toBe(0);
    expect(app.host.calls).toEqual(some(1, 2).map((one) => `createAccount ext_${one}`));
    expect(await records()).toMatchObject(
      some(1, 2).map((username) => ({
        action: "user.create",
        result: "success",
        username,
        email: `${username}@example.org`,
      })),
    );
    const mails = await app.db.select({ recipient: outbox.recipient }).from(outbox);
    for (const one of some(1, 2)) expect(mails).toContainEqual({ recipient: `${one}@example.org` });
    expect(await app.db.select().from(accountIntents)).toEqual([]);
  });

  test("lets nobody in outside the hours that the file says, or before they ask", async () => {
    const notToday = (app.clock.now().getUTCDay() + 2) % 7;
    const hours = `${["sun", "mon", "tue", "wed", "thu", "fri", "sat"][notToday]} 08:00-18:00 UTC`;
    const file = [
      "username,email,hours,on_request",
      `${name(1)},a@example.org,${hours},`,
      `${name(2)},b@example.org,,self:4h`,
    ].join("\n");
    const { created } = await doImport(file);
    expect(created).toMatchObject([{ hours }, { requestRule: "self", requestHours: 4 }]);
    for (const one of some(1, 2)) expect(app.host.accounts.get(`ext_${one}`)).toMatchObject({ open: false, file: [] });
    expect(await nextHoursChange(app.services, app.clock.now())).toEqual(created[0]?.hoursDueAt as Date);
    const other = `username,email,on_request\n${name(3)},c@example.org,self:4h@nowhere`;
    expect(await refusal(other)).toContain('There is no group of hosts named "nowhere"');
    expect(await stored()).toEqual(some(1, 2));
  });

  test("of a file with a fault creates nobody, and records that", async () => {
    const sentence = await refusal(`${fileOf(name(1), name(2))}_,x@example.org\n`);
    expect(sentence).toMatch(/^Nobody was imported: line 4, username: The username must be/);
    expect(await stored()).toEqual([]);
    expect(await records()).toEqual([{ action: "user.create", result: "failed", import: 3, err: sentence }]);
    expect(app.host.calls).toEqual([]);
  });

  test("creates the good lines only, if that is asked for, and says the others", async () => {
    await createUser(app.system, { username: name(1), email: "one@example.org" });
    const file = `${fileOf(name(1), name(2))}_,x@example.org\n`;
    expect(await refusal(file)).toContain("line 2, username: There is a user");
    const { created, faults, users: all } = await doImport(file, { onlyGood: true });
    expect(all).toBe(3);
    expect(created.map(({ username }) => username)).toEqual([name(2)]);
    expect(faults).toMatchObject({ existing: 1, faulty: 1, total: 2 });
  });

  test("stops at a host that refuses, says so, and goes on the next time", async () => {
    const file = fileOf(...some(1, 4));
    const host = {
      ...app.host,
      createAccount: async (account: Account) => {
        if (account.name === `ext_${name(3)}`) app.host.failing.add("createAccount");
        await app.host.createAccount(account);
      },
    };
    const sentence = await refusal(file, {}, { ...app.system, host });
    expect(sentence).toMatch(/^2 of 4 users were imported, and stay\. .*line 4 \(t\d+-3\): /);
    expect(await stored()).toEqual(some(1, 2));
    expect((await records()).map(({ result }) => result)).toEqual(["success", "success", "failed"]);
    app.host.failing.clear();
    const { created, faults } = await doImport(file, { onlyGood: true });
    expect(created.map(({ username }) => username)).toEqual(some(3, 4));
    expect(faults.existing).toBe(2);
  });

  test("finds an account that the host has already, before anything is made", async () => {
    app.host.accounts.set(`ext_${name(2)}`, { uid: 4711, open: true, expireAt: new Date(0), file: [] });
    const sentence = await refusal(fileOf(name(1), name(2)));
    expect(sentence).toContain("line 3, username: The host already has an account");
    expect(await stored()).toEqual([]);
    const { created } = await doImport(fileOf(name(1), name(2)), { onlyGood: true });
    expect(created.map(({ username }) => username)).toEqual([name(1)]);
  });

  test.each([1, 250])("of two imports of the same %d users at once, each user is created once", async (many) => {
    const context = many === 1 ? app.system : dry();
    const names = some(1, many);
    const both = await Promise.all([
      doImport(fileOf(...names), { onlyGood: true }, context),
      doImport(fileOf(...names.toReversed()), { onlyGood: true }, context),
    ]);
    expect(both.flatMap(({ created }) => created.map(({ username }) => username)).toSorted()).toEqual(names.toSorted());
    // Whoever comes second may find the account on the host before its user is stored: then that is what the line's fault says.
    for (const { created, faults } of both) expect(created.length + faults.existing + faults.faulty).toBe(many);
    const made = (await records()).filter(({ result }) => result === "success");
    expect(made.map(({ username }) => username).toSorted()).toEqual(names.toSorted());
  });

  test("stores hundreds in the order of the file, with uids and records of their own", async () => {
    const names = some(1, 250);
    const { created } = await doImport(fileOf(...names), {}, dry());
    expect(created.map(({ username }) => username)).toEqual(names);
    expect(new Set(created.map(({ uid }) => uid)).size).toBe(250);
    expect(await stored()).toEqual(names);
    const made = await records();
    expect(made.map(({ username }) => username)).toEqual(names);
    expect((await app.auditRows()).find(({ id }) => id === last + 7)?.subjectId).toBe(created[6]?.id);
    expect((await verifyAudit(app.services)).fault).toBeUndefined();
  });

  test("leaves whole users behind if one is created by somebody else meanwhile", async () => {
    const names = some(1, 3);
    const context = dry();
    const host = {
      ...context.host,
      uidTaken: async () => {
        await createUser(app.system, { username: name(2), email: "x@example.org" }).catch(() => {});
        return false;
      },
    };
    expect(await refusal(fileOf(...names), {}, { ...context, host })).toMatch(/^Nobody was imported: .*already/);
    expect(await stored()).toEqual([name(2)]);
  });
});
