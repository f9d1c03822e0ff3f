import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { systemContext } from "../../../src/domain/operation/context.ts";
import { noteConfigured, readSetting } from "../../../src/domain/settings/settings.ts";
import type { SettingKey } from "../../../src/shared/product/setting-keys.ts";
import { DAY, HOUR } from "../../../src/shared/time/clock.ts";
import { outbox } from "../../../src/store/schema.ts";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
let admin: Client;

beforeAll(async () => {
  app = await createTestApp({ UAM_AUDIT_RETENTION: "52w" });
  admin = await app.admin();
});
afterAll(() => app.close());

async function put(key: string, value: unknown) {
  // A session does not last for the days that some tests take.
  admin = await app.admin();
  return admin.call("PUT", "/settings", { key, value });
}

describe("listSettings()", () => {
  test("gives the defaults until they are overridden", async () => {
    expect((await admin.call("GET", "/settings")).body).toEqual({
      data: {
        items: [
          { key: "policy.default_ttl", value: "90d", overridden: false },
          { key: "policy.recycle_period", value: "30d", overridden: false },
          { key: "policy.audit_retention", value: "364d", overridden: false },
          { key: "policy.review_every", value: "off", overridden: false },
          { key: "policy.inactive_after", value: "off", overridden: false },
        ],
      },
    });
  });
});

describe("updateSetting()", () => {
  test.each([
    ["90d", "90d"],
    ["1d12h", "1d12h"],
    ["2160h", "90d"],
    ["720h0m0s", "30d"],
    ["2w", "14d"],
    ["90m", "1h30m"],
    ["61s", "1m1s"],
    ["3650d", "3650d"],
  ])("takes %s and answers %s", async (value, shown) => {
    const setting = { key: "policy.default_ttl", value: shown, overridden: true };
    const answer = await put("policy.default_ttl", value);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ data: setting });
    expect((await admin.call("GET", "/settings")).body.data.items[0]).toEqual(setting);
    expect(await app.lastAudit("settings.update")).toMatchObject({
      actor: "admin",
      resourceType: "setting",
      resourceId: "policy.default_ttl",
      detail: { value: shown, overridden: true },
      result: "success",
    });
  });

  test.each([
    ["0"],
    ["0d"],
    ["-1d"],
    ["90"],
    ["d"],
    [""],
    ["1.5d"],
    ["12h1d"],
    ["1d1d"],
    ["P90D"],
    ["3651d"],
    [" 1d"],
    [90],
    [null],
  ])("refuses %j with 400 and changes nothing", async (value) => {
    const before = (await admin.call("GET", "/settings")).text;
    const answer = await put("policy.default_ttl", value);
    expect(answer.status).toBe(400);
    expect((await admin.call("GET", "/settings")).text).toBe(before);
    if (typeof value === "string") {
      expect(await app.lastAudit("settings.update")).toMatchObject({
        resourceId: "policy.default_ttl",
        result: "failed",
        detail: { err: answer.body.error },
      });
    }
  });

  test("knows three keys, and a longer retention than 3650d", async () => {
    expect((await put("policy.unknown", "1d")).status).toBe(400);
    expect((await put("policy.audit_retention", "7300d")).body.data.value).toBe("7300d");
  });

  test("is in force at once", async () => {
    await put("policy.default_ttl", "36h");
    const made = await admin.call("POST", "/users", { username: "by-default", email: "d@example.org" });
    expect(made.body.data.expire_at).toBe(new Date(app.clock.now().getTime() + 36 * HOUR).toISOString());
  });
});

describe("a period that is made shorter", () => {
  const keys = ["policy.recycle_period", "policy.audit_retention"] as const;
  const inForce = (key: SettingKey) => readSetting(app.services, app.db, key);
  const shown = async (key: string) =>
    (await (await app.admin()).call("GET", "/settings")).body.data.items.find(
      (item: { key: string }) => item.key === key,
    );

  test.each([...keys])("%s takes effect a day after it was set; until then the old one holds", async (key) => {
    await put(key, "400d");
    app.clock.advance(DAY);
    await app.db.delete(outbox);
    const at = new Date(app.clock.now().getTime() + DAY).toISOString();
    const waiting = { key, value: "400d", overridden: true, pending: { value: "40d", at } };
    expect((await put(key, "40d")).body.data).toEqual(waiting);
    expect(await app.lastAudit("settings.update")).toMatchObject({
      detail: { value: "40d", overridden: true, old_value: "400d", effective_at: at },
    });
    const [mail] = await app.mails("admin@example.org");
    expect(mail?.subject).toContain(`${key} becomes shorter`);
    expect(mail?.text).toMatch(/400d[\s\S]*40d/);
    app.clock.advance(DAY - 1);
    // Setting it again does not delay it, nor mail again.
    expect((await put(key, "40d")).body.data).toEqual(waiting);
    expect(await app.mails()).toHaveLength(1);
    expect(await inForce(key)).toBe(400 * DAY);
    app.clock.advance(1);
    expect(await inForce(key)).toBe(40 * DAY);
    expect(await shown(key)).toEqual({ key, value: "40d", overridden: true });
  });

  test("can be taken back, and a longer one is in force at once", async () => {
    const key = "policy.recycle_period";
    expect((await put(key, "41d")).body.data).toEqual({ key, value: "41d", overridden: true });
    await put(key, "31d");
    expect((await put(key, "41d")).body.data).toEqual({ key, value: "41d", overridden: true });
    app.clock.advance(2 * DAY);
    expect(await inForce(key)).toBe(41 * DAY);
    // Another one that is shorter waits for a day of its own, from what holds.
    await put(key, "31d");
    app.clock.advance(DAY / 2);
    const at = new Date(app.clock.now().getTime() + DAY).toISOString();
    expect((await put(key, "35d")).body.data).toMatchObject({ value: "41d", pending: { value: "35d", at } });
  });

  test("waits too where it is an override that was dropped", async () => {
    const key = "policy.recycle_period";
    await put(key, "50d");
    const { data } = (await admin.call("DELETE", `/settings/${key}`)).body;
    expect(data).toMatchObject({ key, value: "50d", overridden: false, pending: { value: "30d" } });
    app.clock.advance(DAY);
    expect(await shown(key)).toEqual({ key, value: "30d", overridden: false });
  });

  test("waits too where it was configured, on record and with a mail, once", async () => {
    const key = "policy.recycle_period";
    const as = (recyclePeriod: number) => {
      const services = { ...app.services, policy: { ...app.services.policy, recyclePeriod } };
      return { services, context: systemContext(services) };
    };
    await noteConfigured(as(30 * DAY).context);
    await app.db.delete(outbox);
    const before = (await app.auditRows("settings.update")).length;
    const { services, context } = as(10 * DAY);
    // Even before the service has noted it.
    expect(await readSetting(services, app.db, key)).toBe(30 * DAY);
    await Promise.all([noteConfigured(context), noteConfigured(context)]);
    expect(await app.mails("admin@example.org")).toHaveLength(1);
    expect(await app.auditRows("settings.update")).toHaveLength(before + 1);
    expect(await app.lastAudit("settings.update")).toMatchObject({
      ...{ actorType: "system", resourceId: key },
      detail: { configured: "10d", value: "10d", old_value: "30d" },
    });
    app.clock.advance(DAY - 1);
    await noteConfigured(context);
    expect(await readSetting(services, app.db, key)).toBe(30 * DAY);
    app.clock.advance(1);
    expect(await readSetting(services, app.db, key)).toBe(10 * DAY);
    // A longer one is in force at once.
    expect(await readSetting(as(20 * DAY).services, app.db, key)).toBe(20 * DAY);
  });

  test("is refused for the retention below the host's minimum", async () => {
    const before = await shown("policy.audit_retention");
    for (const value of ["1s", "29d23h59m59s"]) {
      const answer = await put("policy.audit_retention", value);
      expect(answer.status).toBe(400);
      expect(answer.body.error).toContain("UAM_AUDIT_RETENTION_MIN");
    }
    expect(await shown("policy.audit_retention")).toEqual(before);
    expect((await put("policy.audit_retention", "30d")).status).toBe(200);
  });
});

describe("dropSetting()", () => {
  test("answers the setting as it now stands, again and again", async () => {
    await put("policy.default_ttl", "1d");
    for (let n = 0; n < 2; n++) {
      const answer = await admin.call("DELETE", "/settings/policy.default_ttl");
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({ data: { key: "policy.default_ttl", value: "90d", overridden: false } });
    }
    expect(await app.lastAudit("settings.update")).toMatchObject({
      resourceId: "policy.default_ttl",
      detail: { value: "90d", overridden: false },
    });
    const made = await admin.call("POST", "/users", { username: "again-default", email: "d@example.org" });
    expect(made.body.data.expire_at).toBe(new Date(app.clock.now().getTime() + 90 * DAY).toISOString());
  });

  test.each([["policy.unknown"], ["x"], ["%00"], ["policy.default_ttl%20"]])(
    "answers the key %s with 404",
    async (key) => {
      admin = await app.admin();
      expect((await admin.call("DELETE", `/settings/${key}`)).status).toBe(404);
    },
  );
});
