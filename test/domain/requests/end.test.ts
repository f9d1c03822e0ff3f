import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { closingsOf, noteClosing } from "../../../src/domain/accounts/closings.ts";
import { uploadKey } from "../../../src/domain/keys/keys.ts";
import { finishClosings } from "../../../src/domain/lifecycle/finish-closings.ts";
import { followDueHours } from "../../../src/domain/lifecycle/hours.ts";
import { allowAccess } from "../../../src/domain/requests/allow.ts";
import { endAccess } from "../../../src/domain/requests/end.ts";
import { createUser, disableUser } from "../../../src/domain/users/users.ts";
import { HOUR, MINUTE } from "../../../src/shared/time/clock.ts";
import { approvals, users } from "../../../src/store/schema.ts";
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
  app.clock.set(new Date("2026-11-27T10:00:00Z"));
  name = `ended-${++count}`;
  const onRequest = { rule: "review", maxHours: 8 } as const;
  ({ id } = await createUser(app.system, { username: name, email: `${name}@example.org`, onRequest }));
  await uploadKey(app.system, id, { name: "k", publicKey: freshKey() });
});

const allow = (hours = 4) => allowAccess(app.system, id, { hours, hosts: null });
const account = () => app.host.accounts.get(`ext_${name}`);
const row = async () => (await app.db.select().from(users).where(eq(users.id, id)))[0];
const records = async () => (await app.auditRows("access.end")).filter(({ subjectId }) => subjectId === id);

describe("endAccess()", () => {
  test("shuts at once; the user stays active, and can be allowed again", async () => {
    await allow();
    expect(account()?.open).toBe(true);
    await endAccess(app.system, id, "Done early");
    expect(account()).toMatchObject({ open: false, file: [] });
    expect(await row()).toMatchObject({ status: "active", allowedUntil: null, hoursDueAt: null });
    expect(await closingsOf(app.db, id)).toEqual([]);
    const [record] = await records();
    expect(JSON.parse(record?.detail ?? "")).toEqual({
      ...{ username: name, reason: "Done early", until: "2026-11-27T14:00:00.000Z" },
    });
    await allow();
    expect(account()?.open).toBe(true);
  });

  test("is owed if the host fails, opens nothing meanwhile, and is finished", async () => {
    await allow();
    app.host.failing.add("shutAccount");
    await expect(endAccess(app.system, id)).rejects.toThrow(`The access of ${name} is ended, but the host may still`);
    expect((await records()).map(({ result }) => result)).toEqual(["failed"]);
    expect(await row()).toMatchObject({ allowedUntil: null });
    await followDueHours(app.services, app.config.dataDir);
    app.host.failing.clear();
    app.clock.advance(MINUTE);
    await finishClosings(app.services);
    expect(account()).toMatchObject({ open: false, file: [] });
    expect(await closingsOf(app.db, id)).toEqual([]);
  });

  test("that a crash cut short is finished in the name of who asked, and gives nothing in between", async () => {
    await allow();
    const actor = { type: "admin", name: "ada", ip: "" } as const;
    await noteClosing({ ...app.system, actor }, { userId: id, kind: "shut", action: "access.end", reason: "Enough" });
    await expect(allow()).rejects.toMatchObject({ reason: "user.not_active" });
    await finishClosings(app.services, "all");
    expect(account()?.open).toBe(false);
    expect(await row()).toMatchObject({ status: "active", allowedUntil: null });
    const [record] = await records();
    expect(record).toMatchObject({ actor: "ada", result: "success" });
    expect(JSON.parse(record?.detail ?? "")).toMatchObject({ reason: "Enough" });
  });

  test("withdraws what waits, and is nothing where nothing is allowed", async () => {
    await endAccess(app.system, id);
    expect(await records()).toEqual([]);
    const person = { userId: id, username: name, email: "a@example.org", createdAt: app.clock.now() };
    await app.db.insert(approvals).values({ kind: "access_request", hours: 2, ...person });
    await endAccess(app.system, id);
    expect(await app.db.select().from(approvals).where(eq(approvals.userId, id))).toMatchObject([
      { status: "rejected", reason: "Withdrawn" },
    ]);
    await allow(1);
    app.clock.advance(2 * HOUR);
    await followDueHours(app.services, app.config.dataDir);
    await endAccess(app.system, id);
    expect(await records()).toHaveLength(1);
  });

  test("of a user who need not ask is refused", async () => {
    const { id: other } = await createUser(app.system, { username: `free-${count}`, email: "f@example.org" });
    await expect(endAccess(app.system, other)).rejects.toMatchObject({ reason: "access.not_on_request" });
  });

  test("beside a disabling at the same instant both hold", async () => {
    await allow();
    await Promise.allSettled([endAccess(app.system, id), disableUser(app.system, id)]);
    expect(account()?.open).toBe(false);
    expect(await row()).toMatchObject({ status: "disabled", allowedUntil: null });
  });
});
