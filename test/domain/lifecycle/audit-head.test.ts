import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { auditHead, describeHead } from "../../../src/domain/audit/head.ts";
import { addAdmin } from "../../../src/domain/auth/administrators/add-admin.ts";
import { mailAuditHead } from "../../../src/domain/lifecycle/audit-head.ts";
import { updateSetting } from "../../../src/domain/settings/settings.ts";
import { DAY, HOUR } from "../../../src/shared/time/clock.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;

beforeAll(async () => {
  app = await createTestApp();
}, 180_000);
afterAll(() => app.close());

describe("mailAuditHead()", () => {
  test("mails each administrator the head, once a day, once there is one", async () => {
    await mailAuditHead(app.services);
    expect(await app.mails()).toEqual([]);
    for (const name of ["one", "two"])
      await addAdmin(app.system, name, `${name}@example.org`, "seven lanterns over cold water");
    await updateSetting(app.system, "policy.default_ttl", "5d");
    const head = describeHead(await auditHead(app.services));
    await Promise.all([mailAuditHead(app.services), mailAuditHead(app.services)]);
    app.clock.advance(HOUR);
    await mailAuditHead(app.services);
    const mails = (await app.mails()).filter((mail) => mail.dedupeKey?.startsWith("audit-head:"));
    expect(mails.map((mail) => mail.recipient)).toEqual(["one@example.org", "two@example.org"]);
    expect(mails[0]?.text).toContain(head);
    expect(mails[0]?.text.replace(/\s+/g, " ")).toContain(`held ${(await app.auditRows()).length} records`);
    app.clock.advance(DAY);
    await mailAuditHead(app.services);
    expect(
      (await app.mails("one@example.org")).filter((mail) => mail.dedupeKey?.startsWith("audit-head:")),
    ).toHaveLength(2);
  });
});
