import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cleanUp, purgeDue } from "../../../src/domain/lifecycle/clean-up.ts";
import { dropSetting, updateSetting } from "../../../src/domain/settings/settings.ts";
import { DAY, HOUR, shift } from "../../../src/shared/clock.ts";
import { loginLimits, otpCodes, outbox, sessions, usedCaptchas } from "../../../src/store/schema.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;

beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

const time = (holdUntil?: Date) => ({ now: app.clock.now(), holdUntil });
const actions = async () => (await app.auditRows()).map((row) => row.action);

describe("purgeDue()", () => {
  test("removes the records older than the retention as it is set now, oldest first, and no other", async () => {
    for (let day = 0; day < 10; day++) {
      await updateSetting(app.system, "policy.default_ttl", `${day + 1}d`);
      app.clock.advance(DAY);
    }
    expect(await purgeDue(app.services, time())).toBe(0);
    await updateSetting(app.system, "policy.audit_retention", "4d");
    expect(await purgeDue(app.services, time(shift(app.clock.now(), 1)))).toBe(0);
    expect(await purgeDue(app.services, time())).toBe(6);
    const left = await app.auditRows();
    // The record that is exactly as old as the retention stays.
    expect(left.map((row) => row.id)).toEqual([7, 8, 9, 10, 11]);
    await dropSetting(app.system, "policy.audit_retention");
    expect(await purgeDue(app.services, time())).toBe(0);
    expect(await actions()).toHaveLength(6);
  });
});

describe("cleanUp()", () => {
  test("removes what is of no more use, and keeps what still is", async () => {
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
