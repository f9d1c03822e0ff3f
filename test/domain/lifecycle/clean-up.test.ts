import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { addAdmin } from "../../../src/domain/auth/administrators/add-admin.ts";
import { cleanUp, purgeDue } from "../../../src/domain/lifecycle/clean-up.ts";
import { systemContext } from "../../../src/domain/operation/context.ts";
import { dropSetting, readSetting, updateSetting } from "../../../src/domain/settings/settings.ts";
import { DAY, HOUR, shift, systemClock } from "../../../src/shared/time/clock.ts";
import { outbox } from "../../../src/store/schema.ts";
import { loginLimits, otpCodes, sessions, usedCaptchas } from "../../../src/store/schema-auth.ts";
import { settings } from "../../../src/store/schema-service.ts";
import { ADMIN_PASSWORD, createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;

beforeAll(async () => {
  app = await createTestApp({ UAM_AUDIT_RETENTION_MIN: "1h" });
});
afterAll(() => app.close());

const time = (holdUntil?: Date) => ({ now: app.clock.now(), holdUntil });
const actions = async () => (await app.auditRows()).map((row) => row.action);

describe("purgeDue()", () => {
  const purge = (holdUntil?: Date) => purgeDue(systemContext(app.services), time(holdUntil));

  test("removes the records older than the retention as it is set now, oldest first, and no other", async () => {
    for (let day = 0; day < 9; day++) {
      await updateSetting(app.system, "policy.default_ttl", `${day + 1}d`);
      app.clock.advance(DAY);
    }
    expect(await purge()).toBe(0);
    await updateSetting(app.system, "policy.audit_retention", "4d");
    expect(await purge()).toBe(0);
    app.clock.advance(DAY);
    expect(await purge(shift(app.clock.now(), 1))).toBe(0);
    await addAdmin(app.system, "told", "told@example.org", ADMIN_PASSWORD);
    expect(await purge()).toBe(6);
    const left = await app.auditRows();
    // The record that is exactly as old as the retention stays; the last one reports the purge.
    expect(left.map((row) => row.id)).toEqual([7, 8, 9, 10, 11, 12]);
    expect(await app.lastAudit("audit.purge")).toMatchObject({
      ...{ id: 12, actorType: "system", resourceType: "", resourceId: "", result: "success" },
      detail: { removed: 6, before: shift(app.clock.now(), -4 * DAY).toISOString(), up_to: 6 },
    });
    expect(await app.mails("told@example.org")).toMatchObject([
      { subject: expect.stringContaining("6 audit records removed") },
    ]);
    await dropSetting(app.system, "policy.audit_retention");
    expect(await purge()).toBe(0);
    expect(await actions()).toHaveLength(7);
  });

  test("leaves the record of who shortened the retention, for a month", async () => {
    app.clock.advance(1);
    await updateSetting(app.system, "policy.audit_retention", "1h");
    const { id } = await app.lastAudit("settings.update");
    for (const days of [2, 27]) {
      app.clock.advance(days * DAY);
      await purge();
      expect((await app.auditRows())[0]?.id).toBe(id);
    }
    app.clock.advance(2 * DAY);
    await purge();
    expect((await actions()).every((action) => action === "audit.purge")).toBe(true);
  });

  test("does not go below the shortest retention that the host is configured with", async () => {
    const own = await createTestApp();
    await own.alter(`update audit_floor set milliseconds = ${30 * DAY}`);
    await own.db.insert(settings).values({ key: "policy.audit_retention", value: HOUR, updatedAt: own.clock.now() });
    expect(await readSetting(own.services, own.db, "policy.audit_retention")).toBe(30 * DAY);
    // Where the service is configured lower than the database, it removes what the database allows.
    const policy = { ...own.services.policy, auditRetentionMin: HOUR };
    const context = systemContext({ ...own.services, policy });
    const now = systemClock.now();
    for (const days of [31, 29]) {
      own.clock.set(shift(now, -days * DAY));
      await updateSetting(own.system, "policy.default_ttl", "1d");
    }
    own.clock.set(now);
    expect(await purgeDue(context, { now, holdUntil: undefined })).toBe(1);
    expect((await own.auditRows()).map(({ id, action }) => `${id} ${action}`)).toEqual([
      "2 settings.update",
      "3 audit.purge",
    ]);
    await own.close();
  });
});

describe("cleanUp()", () => {
  test("removes what is no longer needed, and keeps what still is", async () => {
    await app.admin();
    const now = app.clock.now();
    const [past, future] = [shift(now, -1), shift(now, 1)];
    await app.db.delete(sessions);
    await app.db.delete(outbox);
    const session = (tokenHash: number, expiresAt: Date) => ({
      tokenHash: new Uint8Array([tokenHash]),
      userType: "user" as const,
      principalId: 1,
      username: "a",
      createdAt: now,
      expiresAt,
    });
    await app.db.insert(sessions).values([session(1, past), session(2, future)]);
    await app.db.insert(otpCodes).values([
      { username: "over", expiresAt: past },
      { username: "out", expiresAt: future },
    ]);
    await app.db.insert(usedCaptchas).values([
      { id: "over", expiresAt: past },
      { id: "used", expiresAt: future },
    ]);
    const month = shift(now, -30 * DAY);
    await app.db.delete(loginLimits);
    await app.db.insert(loginLimits).values([
      // Administrators' names are forgotten as all others are: else a guess after a month would tell which they are.
      { kind: "password", username: "nobody", failures: 4, updatedAt: month },
      { kind: "password", username: "admin", failures: 4, updatedAt: month },
      { kind: "password", username: "recent", failures: 4, updatedAt: shift(month, 1) },
      { kind: "password", username: "still-locked", failures: 5, lockedUntil: future, updatedAt: month },
      { kind: "password", username: "cooling", failures: 0, cooldownUntil: future, updatedAt: month },
      { kind: "code", username: "over", failures: 4, lockedUntil: past, cooldownUntil: past, updatedAt: month },
      { kind: "code", username: "locked", failures: 5, lockedUntil: future, updatedAt: month },
    ]);
    const mail = (subject: string, days: number, more: Partial<typeof outbox.$inferInsert> = {}) => {
      const at = shift(now, -days * DAY);
      const times = { createdAt: at, dueAt: at, finishedAt: at };
      return { recipient: "a@example.org", subject, text: "", html: "", status: "sent" as const, ...times, ...more };
    };
    await app.db
      .insert(outbox)
      .values([
        mail("old", 30),
        mail("dead and old", 30, { status: "dead" }),
        mail("recent", 29),
        mail("waiting", 40, { status: "queued", finishedAt: null }),
        mail("key still counts", 370, { dedupeKey: "a" }),
        mail("key is over", 400, { dedupeKey: "b" }),
      ]);
    await cleanUp(app.services);
    expect((await app.db.select().from(sessions)).map((row) => [...row.tokenHash])).toEqual([[2]]);
    expect((await app.db.select().from(otpCodes)).map((row) => row.username).sort()).toEqual(["out"]);
    expect((await app.db.select().from(usedCaptchas)).map((row) => row.id)).toEqual(["used"]);
    const locks = (await app.db.select().from(loginLimits)).map((row) => row.username).sort();
    expect(locks).toEqual(["cooling", "locked", "recent", "still-locked"]);
    const mails = (await app.mails()).map((row) => row.subject).sort();
    expect(mails).toEqual(["key still counts", "recent", "waiting"]);
    app.clock.advance(HOUR);
    await cleanUp(app.services);
    expect(await app.db.select().from(sessions)).toEqual([]);
  });
});
