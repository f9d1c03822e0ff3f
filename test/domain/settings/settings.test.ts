import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DAY, HOUR } from "../../../src/shared/clock.ts";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
let admin: Client;

beforeAll(async () => {
  app = await createTestApp({ UAM_AUDIT_RETENTION: "52w" });
  admin = await app.admin();
});
afterAll(() => app.close());

function put(key: string, value: unknown) {
  return admin.call("PUT", "/settings", { key, value });
}

describe("listSettings()", () => {
  test("tells the defaults until they are overridden", async () => {
    expect((await admin.call("GET", "/settings")).body).toEqual({
      data: {
        items: [
          { key: "policy.default_ttl", value: "90d", overridden: false },
          { key: "policy.recycle_period", value: "30d", overridden: false },
          { key: "policy.audit_retention", value: "364d", overridden: false },
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
    const setting = { key: "policy.recycle_period", value: shown, overridden: true };
    const answer = await put("policy.recycle_period", value);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ data: setting });
    expect((await admin.call("GET", "/settings")).body.data.items[1]).toEqual(setting);
    expect(await app.lastAudit("settings.update")).toMatchObject({
      actor: "admin",
      resourceType: "setting",
      resourceId: "policy.recycle_period",
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
      expect((await admin.call("DELETE", `/settings/${key}`)).status).toBe(404);
    },
  );
});
