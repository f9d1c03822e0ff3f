import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { verifyAudit } from "../../../src/domain/audit/verify.ts";
import { appendAudit } from "../../../src/domain/operation/append.ts";
import { audited } from "../../../src/domain/operation/audited.ts";
import type { AuditAction } from "../../../src/shared/product/audit-actions.ts";
import { isPrintable } from "../../../src/shared/text/text.ts";
import type { AuditRow } from "../../../src/store/schema-audit.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";

describe("appendAudit()", () => {
  let t: TestApp;
  beforeAll(async () => {
    t = await createTestApp();
  });
  afterAll(() => t.close());
  const entry = { action: "user.create" } as const;

  test("appendAudit() numbers and chains without a gap, whatever commits, rolls back or runs at once", async () => {
    const work = Array.from({ length: 60 }, (_, index) =>
      audited(t.system, { ...entry, detail: { index } }, async (op) => {
        // The inner operation's record comes first; both commit or neither.
        await audited(op.context, { action: "user.update" }, async () => {});
        if (index % 3 === 0) throw new Error("no");
      }),
    );
    const outcomes = await Promise.allSettled(work);
    expect(outcomes.filter((outcome) => outcome.status === "rejected")).toHaveLength(20);
    const rows = await t.auditRows();
    expect(rows.map((row) => row.id)).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
    expect(rows.filter((row) => row.result === "failed")).toHaveLength(20);
    expect(await verifyAudit(t.services)).toMatchObject({ fault: undefined, verified: 100 });
  });

  test("appendAllPermitted() gives each record of one change its place in each series", async () => {
    const record = (action: AuditAction, resourceId: string, subjectId?: number, actor = t.system.actor) =>
      ({
        entry: { action, resourceId, ...(subjectId === undefined ? {} : { subjectId }) },
        result: "success",
        actor,
      }) as const;
    const other = { type: "cli", name: "root", ip: "" } as const;
    await audited(t.system, entry, async (op) => {
      op.alsoRecord(record("user.create", "7", 7));
      op.alsoRecord(record("user.update", "7", 7));
      op.alsoRecord(record("user.create", "8", 8, other));
      op.alsoRecord(record("user.create", "7", 7, other));
      op.alsoRecord(record("admin.create", "7"));
      op.alsoRecord(record("user.create", "7", 7));
    });
    const rows = await t.auditRows();
    const nth = (at: number, isSame: (one: AuditRow) => boolean) => rows.slice(0, at + 1).filter(isSame).length;
    for (const [at, row] of rows.entries()) {
      const { actor, action, resourceId, subjectId } = row;
      expect(row).toMatchObject({
        nAction: nth(at, (one) => one.action === action),
        nActorAction: nth(at, (one) => one.action === action && one.actor === actor),
        nResourceAction: nth(at, (one) => one.action === action && one.resourceId === resourceId),
        nResourceActorAction: nth(
          at,
          (one) => one.action === action && one.resourceId === resourceId && one.actor === actor,
        ),
        nSubject: subjectId === null ? 0 : nth(at, (one) => one.subjectId === subjectId),
      });
    }
    expect(await verifyAudit(t.services)).toMatchObject({ fault: undefined, verified: rows.length });
  });

  test("appendAudit() keeps times in order when the clock is set back, and notes what the clock said", async () => {
    const before = t.clock.now();
    t.clock.set(new Date(before.getTime() - 3_600_000));
    const set = t.clock.now();
    await audited(t.system, entry, async () => {});
    t.clock.set(before);
    await audited(t.system, entry, async () => {});
    const rows = (await t.auditRows()).slice(-2);
    expect(rows.map((row) => row.createdAt)).toEqual([before, before]);
    expect(rows.map((row) => JSON.parse(row.detail))).toEqual([{ clock: set.toISOString() }, {}]);
  });

  test("appendAudit() stores any text, cut to a length that an index can hold, and the seal matches what is stored", async () => {
    const odd = `\0\ud800"\\\u{1f600}é`.repeat(500);
    const actor = { type: "user", name: odd, ip: "::1" } as const;
    await audited({ ...t.system, actor }, { ...entry, resourceId: odd, detail: { odd } }, async () => {});
    const row = (await t.auditRows()).at(-1);
    expect(row?.actor).toHaveLength(256);
    expect(row?.actor).toStartWith('��"\\\u{1f600}é');
    expect(JSON.parse(row?.detail ?? "").odd).toHaveLength(1000);
    expect((await verifyAudit(t.services)).fault).toBeUndefined();
  });

  test("appendAudit() writes a detail that drives no terminal and breaks no line, and says the same", async () => {
    const odd = "\x1b[1m\u009b31m a\u0085b\u2028c \u202ed\u200b \u{e0041} \u{1f600}é";
    await audited(t.system, { ...entry, detail: { odd } }, async () => {});
    const { detail } = (await t.auditRows()).at(-1) ?? { detail: "" };
    expect(isPrintable(detail)).toBe(true);
    expect(detail).toContain("\u{1f600}é");
    expect(JSON.parse(detail)).toEqual({ odd });
  });

  test("appendAudit() scans no table: PostgreSQL before 18 would compile the statement for each record", async () => {
    const [before, after] = await t.db.transaction(async (tx) => {
      const scans = async () => [
        ...(await tx.execute(sql`select relname, seq_scan from pg_stat_xact_user_tables order by relname`)),
      ];
      return [await scans(), await appendAudit(tx, t.system, { entry, result: "success" }).then(scans)];
    });
    expect(after?.length).toBeGreaterThan(0);
    expect(after?.filter(({ seq_scan }) => seq_scan !== "0")).toEqual(
      before?.filter(({ seq_scan }) => seq_scan !== "0") ?? [],
    );
  });
});
