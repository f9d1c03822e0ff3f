import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { like } from "drizzle-orm";
import { finishRemovals } from "../../../src/domain/lifecycle/removals.ts";
import type { Context } from "../../../src/domain/operation/context.ts";
import { findUserByName } from "../../../src/domain/users/find.ts";
import { deleteUser } from "../../../src/domain/users/users.ts";
import { HOUR, MINUTE } from "../../../src/shared/clock.ts";
import { counters } from "../../../src/store/schema.ts";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
let admin: Client;

beforeAll(async () => {
  app = await createTestApp();
  admin = await app.admin();
});
afterAll(() => app.close());

async function create(username: string): Promise<number> {
  return (await admin.call("POST", "/users", { username, email: "x@example.org" })).body.data.id;
}

function notes() {
  return app.db.select().from(counters).where(like(counters.name, "removal:%"));
}

/** As an administrator whose process dies when the account was just removed: what comes after never happens. */
async function dieWhileDeleting(userId: number): Promise<void> {
  const removed = Promise.withResolvers<void>();
  const host = {
    ...app.host,
    removeAccount: async (account: Parameters<typeof app.host.removeAccount>[0]) => {
      await app.host.removeAccount(account);
      removed.resolve();
      // The transaction of a process that died is rolled back by the database; no undo of ours runs.
      throw new Error("died");
    },
    // What the process would have asked and done after its death.
    presence: () => Promise.reject(new Error("dead")),
    applyAccess: () => Promise.reject(new Error("dead")),
  };
  const actor = { type: "admin", name: "boss:1", ip: "192.0.2.7" } as const;
  const context: Context = { ...app.services, host, actor, requestId: "" };
  await expect(deleteUser(context, userId)).rejects.toThrow("died");
  await removed.promise;
}

describe("finishRemovals()", () => {
  test("finds nothing after a deletion that succeeded, was refused, or was of nobody", async () => {
    const id = await create("refused");
    app.host.failing.add("removeAccount");
    expect((await admin.call("DELETE", `/users/${id}`)).status).toBe(500);
    app.host.failing.clear();
    expect(await notes()).toEqual([]);
    expect((await admin.call("DELETE", `/users/${id}`)).status).toBe(200);
    expect((await admin.call("DELETE", `/users/${id}`)).status).toBe(404);
    expect(await notes()).toEqual([]);
  });

  test("deletes the user whose account a crash left removed, as the doing of who asked", async () => {
    const id = await create("halfway");
    await dieWhileDeleting(id);
    expect(app.host.accounts.has("ext_halfway")).toBe(false);
    expect(await findUserByName(app.db, "halfway")).toBeDefined();
    await finishRemovals(app.services);
    expect(await findUserByName(app.db, "halfway")).toBeDefined();
    app.clock.advance(2 * MINUTE);
    await Promise.all([finishRemovals(app.services), finishRemovals(app.services)]);
    expect(await findUserByName(app.db, "halfway")).toBeUndefined();
    expect(await notes()).toEqual([]);
    const records = (await app.auditRows("user.delete")).filter((row) => row.resourceId === String(id));
    expect(records.map(({ result, actorType, actor }) => [result, actorType, actor])).toEqual([
      ["failed", "admin", "boss:1"],
      ["success", "admin", "boss:1"],
    ]);
    expect(records[1]?.detail).toBe("{}");
  });

  test("tries again after an hour what the host refuses", async () => {
    const id = await create("stubborn");
    await dieWhileDeleting(id);
    app.clock.advance(2 * MINUTE);
    app.host.failing.add("removeAccount");
    await finishRemovals(app.services);
    app.host.failing.clear();
    app.clock.advance(30 * MINUTE);
    await finishRemovals(app.services);
    expect(await findUserByName(app.db, "stubborn")).toBeDefined();
    app.clock.advance(HOUR);
    await finishRemovals(app.services);
    expect(await findUserByName(app.db, "stubborn")).toBeUndefined();
    expect(await notes()).toEqual([]);
  });
});
