import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import { audited, auditedClosing, auditedGrant } from "../../../src/domain/operation/audited.ts";
import type { ActorType } from "../../../src/domain/operation/entry.ts";
import { UamError } from "../../../src/shared/errors.ts";
import { settings } from "../../../src/store/schema-service.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;

beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  await app.db.delete(settings);
});

async function newRows(work: () => Promise<unknown>) {
  const before = (await app.auditRows()).length;
  await work().catch(() => undefined);
  return (await app.auditRows()).slice(before).map((row) => ({ ...row, detail: JSON.parse(row.detail) }));
}

const entry = { action: "user.update", resourceId: "7", detail: { given: 1 } } as const;

describe("audited()", () => {
  test("commits the change and its record together", async () => {
    const rows = await newRows(() =>
      auditedGrant(app.system, entry, async (op) => {
        await op.tx.insert(settings).values({ key: "change", value: 1, updatedAt: app.clock.now() });
        op.record({ detail: { learned: 2 } });
      }),
    );
    expect(await app.db.$count(settings)).toBe(1);
    expect(rows).toMatchObject([
      {
        action: "user.update",
        resourceId: "7",
        result: "success",
        detail: { given: 1, learned: 2 },
        actor: "operator",
      },
    ]);
  });

  test("records nothing where nothing was needed", async () => {
    const rows = await newRows(() => audited(app.system, entry, async (op) => op.record({ unneeded: true })));
    expect(rows).toEqual([]);
  });

  test("rolls back, restores the host in reverse order, and records what the entry said with err", async () => {
    const undone: string[] = [];
    const rows = await newRows(() =>
      auditedGrant(app.system, entry, async (op) => {
        await op.tx.insert(settings).values({ key: "change", value: 1, updatedAt: app.clock.now() });
        op.record({ detail: { learned: 2 } });
        op.onRollback(async () => void undone.push("first"));
        op.onRollback(async () => void undone.push("second"));
        throw new UamError("conflict", "It is taken");
      }),
    );
    expect(await app.db.$count(settings)).toBe(0);
    expect(undone).toEqual(["second", "first"]);
    expect(rows).toMatchObject([{ result: "failed", detail: { given: 1, err: "It is taken" } }]);
    expect(rows[0]?.detail).not.toHaveProperty("learned");
  });

  test("records a fixed sentence for an unexpected failure", async () => {
    const rows = await newRows(() =>
      audited(app.system, entry, async (op) => {
        await op.tx.execute(sql`select * from secret_table_name`);
      }),
    );
    expect(JSON.stringify(rows)).not.toContain("secret_table_name");
  });

  test("makes an operation inside another share its fate", async () => {
    const inner = { action: "user.create", resourceType: "user" } as const;
    const succeed = await newRows(() =>
      audited(app.system, entry, (outer) =>
        audited(
          outer.context,
          inner,
          async (op) => void (await op.tx.insert(settings).values({ key: "i", value: 1, updatedAt: app.clock.now() })),
        ),
      ),
    );
    expect(succeed.map((row) => [row.action, row.result])).toEqual([
      ["user.create", "success"],
      ["user.update", "success"],
    ]);
    const failAfter = await newRows(() =>
      audited(app.system, entry, async (outer) => {
        await audited(
          outer.context,
          inner,
          async (op) => void (await op.tx.insert(settings).values({ key: "j", value: 1, updatedAt: app.clock.now() })),
        );
        throw new UamError("internal", "too late");
      }),
    );
    expect(failAfter.map((row) => [row.action, row.result])).toEqual([["user.update", "failed"]]);
    const failInside = await newRows(() =>
      audited(app.system, entry, (outer) =>
        audited(outer.context, inner, async () => {
          throw new UamError("conflict", "inside");
        }),
      ),
    );
    expect(failInside.map((row) => [row.action, row.result])).toEqual([
      ["user.create", "failed"],
      ["user.update", "failed"],
    ]);
    expect(await app.db.$count(settings)).toBe(1);
  });

  test("commits a refusal that has effects, and records it as failed", async () => {
    const rows = await newRows(() => audited(app.system, entry, async (op) => op.record({ refused: "no such user" })));
    expect(rows).toMatchObject([{ result: "failed", detail: { given: 1, err: "no such user" } }]);
  });

  test("numbers the records without gaps, whatever fails in between", async () => {
    const failures = [async () => {}, async () => Promise.reject(new Error("x"))];
    await Promise.allSettled(
      Array.from({ length: 40 }, (_, index) => audited(app.system, entry, failures[index % 2] ?? (async () => {}))),
    );
    const ids = (await app.auditRows()).map((row) => row.id);
    expect(ids).toEqual(Array.from({ length: ids.length }, (_, index) => index + 1));
  });

  test("changes nothing when the record cannot be written", async () => {
    await app.alter("alter table audit rename to audit_away");
    try {
      const change = audited(
        app.system,
        entry,
        async (op) => void (await op.tx.insert(settings).values({ key: "k", value: 1, updatedAt: app.clock.now() })),
      );
      const message = expect.stringContaining("nothing was changed");
      await expect(change).rejects.toMatchObject({ code: "internal", message });
    } finally {
      await app.alter("alter table audit_away rename to audit");
    }
    expect(await app.db.$count(settings)).toBe(0);
  });

  test("does not say that nothing was changed if the host could not be restored either", async () => {
    await app.alter("alter table audit rename to audit_away");
    try {
      const change = auditedGrant(app.system, entry, async (op) => {
        op.onRollback(() => Promise.reject(new Error("the database is away")));
      });
      const message = expect.stringContaining("it may have changed the host");
      await expect(change).rejects.toMatchObject({ code: "internal", message });
    } finally {
      await app.alter("alter table audit_away rename to audit");
    }
  });

  test("keeps long and ill-formed texts from filling or breaking the log", async () => {
    const rows = await newRows(() =>
      audited(app.system, { ...entry, detail: { text: `\0\uD800${"x".repeat(5000)}` } }, async () => {}),
    );
    expect(rows[0]?.detail.text).toHaveLength(1000);
  });
});

describe("auditedClosing()", () => {
  test("commits what it refuses, records it as failed, and throws the sentence", async () => {
    let thrown: unknown;
    const rows = await newRows(async () => {
      const change = auditedClosing(app.system, entry, async (op) => {
        await op.tx.insert(settings).values({ key: "closing", value: 1, updatedAt: app.clock.now() });
        op.refuse("The file could not be emptied");
      });
      thrown = await change.catch((error: unknown) => error);
    });
    expect(thrown).toMatchObject({ code: "internal", message: "The file could not be emptied" });
    expect(rows).toMatchObject([{ result: "failed", detail: { given: 1, err: "The file could not be emptied" } }]);
    expect(await app.db.$count(settings, eq(settings.key, "closing"))).toBe(1);
  });

  test("records what others did on its way, in their name", async () => {
    const actor = { type: "system", name: "system", ip: "" } as const;
    const rows = await newRows(() =>
      auditedClosing(app.system, entry, async (op) =>
        op.alsoRecord({ actor, entry: { action: "user.disable" }, result: "success" }),
      ),
    );
    expect(rows.map(({ action, actor: by }) => [action, by])).toEqual([
      ["user.disable", "system"],
      ["user.update", "operator"],
    ]);
  });

  test("says what is in progress if the database fails once it has begun, whatever failed", async () => {
    const change = auditedClosing(app.system, entry, async (op) => {
      op.begun("The access is being taken away");
      await op.tx.execute(sql`select * from no_such_table`);
    });
    await expect(change).rejects.toMatchObject({ code: "internal", message: "The access is being taken away" });
    const refused = auditedClosing(app.system, entry, async () => {
      throw new UamError("conflict", "It is expired");
    });
    await expect(refused).rejects.toMatchObject({ code: "conflict" });
  });

  test("is part of no other operation, and has nothing to undo", async () => {
    const inside = audited(app.system, entry, (outer) => auditedClosing(outer.context, entry, async () => {}));
    await expect(inside).rejects.toThrow("part of another operation");
    await auditedClosing(app.system, entry, async (op) => {
      // @ts-expect-error: an undo that could open an account cannot be written for a closing.
      expect(op.onRollback).toBeUndefined();
    });
  });

  describe("on a full disk", () => {
    const full = () => Object.assign(new Error("could not extend file"), { code: "53100" });
    /** How often the reserve was given up, of which there are two pieces, for somebody whose closing fails with that. */
    async function given(type: ActorType, error: Error): Promise<number> {
      let released = 0;
      const reserve = { release: () => ++released <= 2, isInUse: () => false, lay() {} };
      const actor = { type, name: "somebody", ip: "" };
      const closing = auditedClosing({ ...app.system, actor, reserve }, entry, () => Promise.reject(error));
      await expect(closing).rejects.toBe(error);
      return released;
    }

    test.each<[ActorType, number]>([
      ["admin", 3],
      ["token", 3],
      ["cli", 3],
      ["user", 0],
      ["system", 0],
      ["anonymous", 0],
    ])("for one of the type %s the reserve is asked for room %d times", async (type, times) => {
      expect(await given(type, full())).toBe(times);
    });

    test("and nothing is given up for any other failure", async () => {
      expect(await given("admin", new UamError("conflict", "It is expired"))).toBe(0);
    });
  });
});
