import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createAdminProbe } from "../../../../src/domain/auth/administrators/first-admin.ts";
import { MINUTE, SECOND } from "../../../../src/shared/time/clock.ts";
import { admins } from "../../../../src/store/schema-auth.ts";
import { createTestApp, type TestApp } from "../../../support/app.ts";

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

describe("createAdminProbe()", () => {
  test("sees the first administrator within a second, and that the last one is gone within a minute", async () => {
    const hasAdmins = createAdminProbe(app.services);
    expect(await hasAdmins()).toBe(false);
    await app.admin();
    app.clock.advance(SECOND);
    expect(await hasAdmins()).toBe(true);
    await app.db.delete(admins);
    app.clock.advance(MINUTE - 1);
    expect(await hasAdmins()).toBe(true);
    app.clock.advance(1);
    expect(await hasAdmins()).toBe(false);
  });

  test("asks the database once, however many ask at a time", async () => {
    let queries = 0;
    const counting = new Proxy(app.services.autocommit, {
      get: (target, name) => {
        if (name === "select") queries++;
        return Reflect.get(target, name);
      },
    });
    const hasAdmins = createAdminProbe({ autocommit: counting, clock: app.clock });
    await Promise.all(Array.from({ length: 50 }, hasAdmins));
    expect(queries).toBe(1);
  });

  test("says that there is one while the database fails, and asks again a second later", async () => {
    let isBroken = true;
    const failing = new Proxy(app.services.autocommit, {
      get: (target, name) => {
        if (isBroken) throw new Error("no connection");
        return Reflect.get(target, name);
      },
    });
    const hasAdmins = createAdminProbe({ autocommit: failing, clock: app.clock });
    expect(await hasAdmins()).toBe(true);
    isBroken = false;
    app.clock.advance(SECOND);
    expect(await hasAdmins()).toBe(false);
  });
});
