/** Webhooks over the API: what they may be, what is shown of them, and deliveries by request. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { addAdmin } from "../../../src/domain/auth/administrators/add-admin.ts";
import { createToken } from "../../../src/domain/auth/tokens/tokens.ts";
import { purgeDeliveries } from "../../../src/domain/events/deliveries.ts";
import { MAX_WEBHOOKS } from "../../../src/shared/product/webhook-limits.ts";
import { DAY } from "../../../src/shared/time/clock.ts";
import { audit } from "../../../src/store/schema-audit.ts";
import { webhookDeliveries, webhooks } from "../../../src/store/schema-events.ts";
import {
  ADMIN_PASSWORD,
  type Answer,
  type Client,
  confirming,
  createTestApp,
  type TestApp,
} from "../../support/app.ts";
import { logDelivery } from "../../support/deliveries.ts";
import { type Receiver, startReceiver } from "../../support/receiver.ts";

let app: TestApp;
let owner: Client;
let hook: Receiver;

beforeAll(async () => {
  app = await createTestApp({ UAM_WEBHOOK_NETWORKS: "127.0.0.0/8", UAM_SESSION_TTL: "30d" });
  owner = confirming(await app.admin());
  hook = await startReceiver();
});
afterAll(async () => {
  await hook.close();
  await app.close();
});

const reasonOf = ({ status, headers }: Answer) => `${status} ${headers.get("uam-error")}`;

async function make(wanted: object = {}): Promise<{ readonly id: number; readonly secret: string }> {
  const answer = await owner.call("POST", "/webhooks", { url: hook.url, ...wanted });
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body.data;
}

describe("POST /webhooks", () => {
  test("shows the secret once; it is stored nowhere, and not to be made from the database alone", async () => {
    const answer = await owner.call("POST", "/webhooks", {
      url: hook.url,
      actions: ["user.delete", "user.create", "user.create"],
    });
    expect(answer.status).toBe(201);
    const { secret, ...record } = answer.body.data;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(record).toEqual({
      ...{ id: expect.any(Number), url: hook.url, actions: ["user.create", "user.delete"], status: "active" },
      ...{
        created_at: app.clock.now().toISOString(),
        lag: 0,
        failing_since: null,
        last_error: "",
        last_delivered_at: null,
      },
      ...{ made_by: "admin", maker_removed: false },
    });
    const listed = (await owner.call("GET", "/webhooks")).body.data;
    expect(listed).toMatchObject({ stream: null, items: [{ ...record, lag: 1 }] });
    const [dump] = await app.db.execute<{ all: string }>(
      sql`select jsonb_build_array((select jsonb_agg(w) from webhooks w), (select jsonb_agg(a) from audit a), (select jsonb_agg(o) from outbox o))::text as all`,
    );
    expect(dump?.all).not.toContain(secret.slice(6, 30));
    expect(dump?.all).not.toContain(Buffer.from(secret.slice(6), "base64").toString("hex"));
    const { secret: other } = await make();
    expect(other).not.toBe(secret);
  });

  test.each([
    [{}, "400 request.invalid"],
    [{ url: "" }, "400 webhook.address"],
    [{ url: "nonsense" }, "400 webhook.address"],
    [{ url: "http://10.0.0.1/" }, "400 webhook.address"],
    [{ url: "https://[::1]/" }, "400 webhook.address"],
    [{ url: "https://x.example/", actions: ["no.such"] }, "400 request.invalid"],
    [{ url: "https://x.example/", actions: "user.create" }, "400 request.invalid"],
  ])("%j is %s", async (body, reason) => {
    expect(reasonOf(await owner.call("POST", "/webhooks", body))).toBe(reason);
  });

  test("there are so many and no more, also of those made at the same instant", async () => {
    await app.db.delete(webhooks);
    const wanted = { name: "machine", role: "owner", days: 1, networks: [] } as const;
    const { token } = await createToken(app.system, { owner: "admin" }, wanted);
    const answers = await Promise.all(
      Array.from({ length: MAX_WEBHOOKS + 6 }, () =>
        // A password is not tried so often at once.
        app.anonymous().call("POST", "/webhooks", { url: hook.url }, { authorization: `Bearer ${token}` }),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(MAX_WEBHOOKS);
    expect(new Set(answers.filter(({ status }) => status !== 201).map(reasonOf))).toEqual(
      new Set(["409 webhook.limit"]),
    );
    expect((await owner.call("GET", "/webhooks")).body.data.total).toBe(MAX_WEBHOOKS);
    await app.db.delete(webhooks);
  });
});

describe("PATCH and DELETE /webhooks/:id", () => {
  test("change what is given, and nothing twice", async () => {
    const { id } = await make({ actions: ["user.create"] });
    const changed = await owner.call("PATCH", `/webhooks/${id}`, { status: "disabled", actions: [] });
    expect(changed.body.data).toMatchObject({ id, url: hook.url, status: "disabled", actions: [] });
    const records = (await app.auditRows("webhook.update")).length;
    expect((await owner.call("PATCH", `/webhooks/${id}`, { status: "disabled" })).status).toBe(200);
    expect((await owner.call("PATCH", `/webhooks/${id}`, {})).status).toBe(200);
    expect((await app.auditRows("webhook.update")).length).toBe(records);
    expect(reasonOf(await owner.call("PATCH", `/webhooks/${id}`, { url: "http://192.168.0.1/" }))).toBe(
      "400 webhook.address",
    );
    expect((await owner.call("DELETE", `/webhooks/${id}`)).body).toEqual({ data: { status: "deleted" } });
    expect(reasonOf(await owner.call("DELETE", `/webhooks/${id}`))).toBe("404 webhook.missing");
    expect(reasonOf(await owner.call("PATCH", `/webhooks/${id}`, {}))).toBe("404 webhook.missing");
    expect(reasonOf(await owner.call("GET", `/webhooks/${id}/deliveries`))).toBe("404 webhook.missing");
    expect(reasonOf(await owner.call("POST", `/webhooks/${id}/ping`))).toBe("404 webhook.missing");
  });

  test("an auditor reads, and changes nothing", async () => {
    await addAdmin(app.system, "reader", "reader@example.org", ADMIN_PASSWORD, "auditor");
    const auditor = app.anonymous();
    await auditor.call("POST", "/auth/admin/login", { username: "reader", password: ADMIN_PASSWORD });
    const { id } = await make();
    expect((await auditor.call("GET", "/webhooks")).status).toBe(200);
    expect((await auditor.call("GET", `/webhooks/${id}/deliveries`)).status).toBe(200);
    for (const [method, path] of [
      ["POST", `/webhooks/${id}/ping`],
      ["POST", `/webhooks/${id}/deliveries/1/redeliver`],
      ["DELETE", `/webhooks/${id}`],
    ] as const) {
      expect(reasonOf(await auditor.call(method, path))).toBe("403 role.insufficient");
    }
  });
});

describe("deliveries by request", () => {
  test("a ping is signed with the secret that was shown, answers what became of it, and makes no record", async () => {
    const { id, secret } = await make();
    await owner.call("PATCH", `/webhooks/${id}`, { status: "disabled" });
    const records = (await app.auditRows()).length;
    const { body } = await owner.call("POST", `/webhooks/${id}/ping`);
    expect(body.data).toEqual({
      ...{ id: expect.any(Number), message_id: expect.stringMatching(/^ping_/), type: "webhook.ping", attempt: 1 },
      ...{ status: "delivered", error: "", at: app.clock.now().toISOString() },
    });
    const last = hook.requests.at(-1);
    expect(last?.headers["webhook-id"]).toBe(body.data.message_id);
    expect(last?.headers["webhook-signature"]).toMatch(/^v1,/);
    if (last !== undefined) hook.verify(last, secret);
    hook.answer = 500;
    const failed = await owner.call("POST", `/webhooks/${id}/ping`);
    hook.answer = 200;
    expect(failed.status).toBe(200);
    expect(failed.body.data).toMatchObject({ status: "failed", error: "The receiver answered 500" });
    const { total, items } = (await owner.call("GET", `/webhooks/${id}/deliveries`)).body.data;
    expect([total, items[0]]).toEqual([2, failed.body.data]);
    expect((await app.auditRows()).length).toBe(records);
  });

  test("something is delivered once more under the same id, as long as the log has it", async () => {
    const { id } = await make();
    const other = await make();
    const record = (await app.auditRows()).at(-1);
    if (record === undefined) throw new Error("no record");
    const delivery = await logDelivery(app.db, id, record, "The receiver answered 500");
    const path = `/webhooks/${id}/deliveries/${delivery.id}/redeliver`;
    const { body } = await owner.call("POST", path);
    expect(body.data).toMatchObject({
      message_id: delivery.messageId,
      type: record.action,
      attempt: 2,
      status: "delivered",
    });
    expect(hook.requests.at(-1)?.json).toMatchObject({
      type: record.action,
      data: { id: record.id, detail: record.detail },
    });
    expect(hook.requests.at(-1)?.headers["webhook-id"]).toBe(delivery.messageId);
    expect(reasonOf(await owner.call("POST", `/webhooks/${other.id}/deliveries/${delivery.id}/redeliver`))).toBe(
      "404 delivery.missing",
    );
    await app.db.update(webhookDeliveries).set({ recordId: 987_654 });
    expect(reasonOf(await owner.call("POST", path))).toBe("409 webhook.record_gone");
    expect((await app.db.select().from(audit)).length).toBeGreaterThan(0);
  });

  test("only a few at once: each may wait for its receiver", async () => {
    const { id } = await make();
    hook.delay = 300;
    const answers = await Promise.all(Array.from({ length: 8 }, () => owner.call("POST", `/webhooks/${id}/ping`)));
    hook.delay = 0;
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(4);
    expect(new Set(answers.filter(({ status }) => status !== 200).map(reasonOf))).toEqual(
      new Set(["429 service.busy"]),
    );
    expect((await owner.call("POST", `/webhooks/${id}/ping`)).status).toBe(200);
  });

  test("old deliveries go after a week", async () => {
    const before = (await app.db.select().from(webhookDeliveries)).length;
    expect(before).toBeGreaterThan(0);
    await purgeDeliveries(app.services);
    expect((await app.db.select().from(webhookDeliveries)).length).toBe(before);
    app.clock.advance(7 * DAY + 1);
    await purgeDeliveries(app.services);
    expect(await app.db.select().from(webhookDeliveries)).toEqual([]);
  });
});
