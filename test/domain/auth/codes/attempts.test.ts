import { afterAll, describe, expect, test } from "bun:test";
import { forgetFailures, refusal } from "../../../../src/domain/auth/codes/attempts.ts";
import { createTestApp } from "../../../support/app.ts";

const app = await createTestApp();
afterAll(() => app.close());

describe("refusal()", () => {
  test.each([
    ["password", "login.locked"],
    ["totp", "login.locked"],
    ["code", "code.cooldown"],
  ] as const)("of a %s that was locked until just now has the reason %s", async (kind, reason) => {
    const attempt = { username: "admin", now: app.clock.now() };
    // What a right answer, or a reset, does between the refusal of an attempt and the look at how long it is to wait.
    await app.db.transaction((tx) => forgetFailures(tx, kind, attempt.username));
    const refused = await refusal(app.db, { kind, what: "Too many failed logins" }, attempt);
    expect(refused).toMatchObject({ code: "limited", retryAfter: 1, reason });
  });
});
