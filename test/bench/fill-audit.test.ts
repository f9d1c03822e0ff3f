import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { type AuditFilter, listAudit } from "../../src/domain/audit/audit.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { fillAudit } from "./fill-audit.ts";
import { processorTime, treeTime } from "./processor-time.ts";

const RECORDS = 12_345;

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

describe("fillAudit()", () => {
  test("counts as the service does: every filter has the total that counting gives", async () => {
    const { users } = await fillAudit(app.superuser, RECORDS, 30);
    expect(users).toBe(29);
    const filters: readonly AuditFilter[] = [
      {},
      { action: "user.update" },
      { actor: "admin3", action: "key.revoke" },
      { resourceType: "ssh_key" },
      { resourceId: "7" },
      { resourceId: "7", actor: "admin0" },
      { userId: 29 },
    ];
    for (const filter of filters) {
      const { actor, action, resourceType, resourceId, userId } = filter;
      const [counted] = await app.db.execute<{ total: number }>(sql`select count(*)::int as total from audit where
        (${actor ?? null}::text is null or actor = ${actor ?? ""}) and (${action ?? null}::text is null or action = ${action ?? ""})
        and (${resourceType ?? null}::text is null or resource_type = ${resourceType ?? ""})
        and (${resourceId ?? null}::text is null or resource_id = ${resourceId ?? ""})
        and (${userId ?? null}::bigint is null or subject_id = ${userId ?? 0}::bigint)`);
      const { total } = await listAudit(app.system, filter, { page: 1, pageSize: 1 });
      expect([filter, total]).toEqual([filter, Number(counted?.total)]);
      expect(total).toBeGreaterThan(0);
    }
  });

  test("leaves a log that goes on, and is not to be filled twice", async () => {
    await app.admin();
    const [last] = (await listAudit(app.system, {}, { page: 1, pageSize: 1 })).items;
    expect([last?.id, last?.action]).toEqual([RECORDS + 1, "auth.admin_login"]);
    await expect(fillAudit(app.superuser, 10, 10)).rejects.toThrow("the log is not empty");
  });
});

describe("treeTime()", () => {
  test("counts what a process has started, also once it has ended", async () => {
    const before = treeTime(process.pid) - processorTime(process.pid);
    const spin = Bun.spawn(["/bin/sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"]);
    await spin.exited;
    expect(treeTime(process.pid) - processorTime(process.pid)).toBeGreaterThan(before);
  });
});
