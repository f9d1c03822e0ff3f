import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { createWebhook, updateWebhook } from "../../../src/domain/events/webhooks.ts";
import { audited } from "../../../src/domain/operation/audited.ts";
import { createApp } from "../../../src/server/api/app.ts";
import { createMetrics, type Metrics } from "../../../src/server/metrics/metrics.ts";
import { UamError } from "../../../src/shared/errors.ts";
import { silentLog } from "../../../src/shared/log.ts";
import { closings } from "../../../src/store/schema.ts";
import { webhooks } from "../../../src/store/schema-events.ts";
import { hostProblems } from "../../../src/store/schema-fleet.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { insertHost } from "../../support/host-rows.ts";

let app: TestApp;
let metrics: Metrics;
beforeAll(async () => {
  app = await createTestApp();
  metrics = createMetrics({ services: app.services, version: "1.2.3", runtime: "test 1" });
}, 180_000);
afterAll(async () => await app.close());

/** The value of each series that is shown, by its name and labels. */
async function scrape(of = metrics): Promise<ReadonlyMap<string, number>> {
  const answer = await of.fetch(new Request("http://127.0.0.1:9090/metrics"));
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, expect.stringContaining("text/plain")]);
  const lines = (await answer.text()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ")))]),
  );
}

describe("metrics", () => {
  test("fetch() shows users, mails, applications and the audit log as they are stored", async () => {
    const { id } = await app.user("anna");
    await app.user("bert");
    const admin = await app.admin();
    await admin.call("POST", `/users/${id}/disable`);
    const shown = await scrape();
    const rows = await app.auditRows();
    expect(shown.get('uam_users{status="active"}')).toBe(1);
    expect(shown.get('uam_users{status="disabled"}')).toBe(1);
    expect(shown.get("uam_audit_head")).toBe(rows.at(-1)?.id ?? 0);
    expect(shown.get("uam_pending_approvals")).toBe(0);
    expect(shown.get('uam_outbox_mails{status="dead"}')).toBe(0);
    expect(shown.get('uam_build_info{version="1.2.3",runtime="test 1"}')).toBe(1);
    expect(shown.get("process_start_time_seconds")).toBeGreaterThan(0);
  });

  test("fetch() shows how far behind each receiver is, and for how long it has taken nothing; not one that is switched off", async () => {
    const { entry } = await createWebhook(app.system, { url: "https://hooks.example.org/", actions: [] });
    const off = await createWebhook(app.system, { url: "https://off.example.org/", actions: [] });
    await updateWebhook(app.system, off.entry.id, { status: "disabled" });
    await app.db.update(webhooks).set({ failingSince: app.clock.now() }).where(eq(webhooks.id, entry.id));
    app.clock.advance(90_000);
    const shown = await scrape();
    const rows = await app.auditRows();
    expect(shown.get(`uam_receiver_lag_records{kind="webhook",id="${entry.id}"}`)).toBe(rows.length - entry.cursor);
    expect(shown.get(`uam_receiver_failing_seconds{kind="webhook",id="${entry.id}"}`)).toBe(90);
    expect(shown.has(`uam_receiver_lag_records{kind="webhook",id="${off.entry.id}"}`)).toBe(false);
  });

  test("fetch() shows access that is still to be taken away, and for how long already", async () => {
    expect([(await scrape()).get("uam_owed_closings"), (await scrape()).get("uam_owed_seconds")]).toEqual([0, 0]);
    const { id } = await app.user("olga");
    const now = app.clock.now();
    const about = { kind: "shut", action: "user.disable", actorType: "system", actor: "test" } as const;
    await app.db.insert(closings).values({ ...about, userId: id, begunAt: now, dueAt: now });
    app.clock.advance(60_000);
    const shown = await scrape();
    await app.db.delete(closings).where(eq(closings.userId, id));
    expect([shown.get("uam_owed_closings"), shown.get("uam_owed_seconds")]).toEqual([1, 60]);
  });

  test("fetch() shows the problems of hosts by kind: those that are reported, and a silence since the service runs", async () => {
    const kinds = ["silent", "no_lease", "refused", "drift"].map((kind) => `uam_host_problems{kind="${kind}"}`);
    const problems = async (of = metrics) => {
      const shown = await scrape(of);
      return kinds.map((name) => shown.get(name));
    };
    expect(await problems()).toEqual([0, 0, 0, 0]);
    const host = await insertHost(app, "web1", { leaseMs: 0 });
    const since = app.clock.now();
    const told = { hostId: host.id, account: "ext_olga", text: "It cannot be created", since };
    await app.db.insert(hostProblems).values({ ...told, kind: "refused" });
    expect(await problems()).toEqual([0, 1, 1, 0]);
    app.clock.advance(86_400_000);
    expect(await problems()).toEqual([1, 1, 1, 0]);
    const restarted = createMetrics({ services: app.services, version: "1", runtime: "t" });
    expect(await problems(restarted)).toEqual([0, 1, 1, 0]);
  });

  test("fetch() shows when the newest backup was made, and not one that failed", async () => {
    expect((await scrape()).get("uam_backup_timestamp_seconds")).toBe(0);
    const record = (run: () => Promise<void>) => audited(app.system, { action: "service.backup" }, run);
    await record(async () => {});
    const madeAt = app.clock.now().getTime() / 1000;
    app.clock.advance(5000);
    await expect(record(() => Promise.reject(new UamError("conflict", "The disk is full.")))).rejects.toThrow("full");
    expect((await scrape()).get("uam_backup_timestamp_seconds")).toBeCloseTo(madeAt, 2);
  });

  test("observe() counts requests by route, never by path, so that a caller cannot make series", async () => {
    const observed = createApp(app.services, { ...app.config, version: "1", runtime: "t", observe: metrics.observe });
    const get = (path: string) => observed.fetch(new Request(`http://127.0.0.1:8080/api/v1${path}`), "192.0.2.1");
    await get("/healthz");
    for (const path of ["/users/1", "/users/2", "/nothing/here", "/nothing/there"]) await get(path);
    const shown = await scrape();
    const count = (route: string, status: number) =>
      shown.get(`uam_http_request_duration_seconds_count{method="GET",route="${route}",status="${status}"}`);
    expect(count("/api/v1/healthz", 200)).toBe(1);
    expect(count("/api/v1/users/:id", 401)).toBe(2);
    expect(count("other", 404)).toBe(2);
  });

  test("fetch() works without the database, and says that it is unavailable", async () => {
    const failing = new Proxy(app.services.autocommit, {
      get: (_, name) => (name === "execute" ? () => Promise.reject(new Error("gone")) : undefined),
    });
    const alone = createMetrics({
      services: { autocommit: failing, clock: app.clock, log: silentLog, policy: app.services.policy },
      version: "1",
      runtime: "t",
    });
    const shown = await scrape(alone);
    expect(shown.get("uam_database_up")).toBe(0);
    expect(shown.get("uam_database_read_failures_total")).toBe(1);
    expect(shown.has('uam_users{status="active"}')).toBe(false);
  });

  test("fetch() answers nothing but GET /metrics, which the API does not have", async () => {
    expect((await metrics.fetch(new Request("http://127.0.0.1:9090/"))).status).toBe(404);
    const post = new Request("http://127.0.0.1:9090/metrics", { method: "POST" });
    expect((await metrics.fetch(post)).status).toBe(404);
    for (const path of ["/metrics", "/api/v1/metrics"]) {
      const answer = await app.app.fetch(new Request(`http://127.0.0.1:8080${path}`), "192.0.2.1");
      expect(answer.status).toBe(404);
    }
  });
});
