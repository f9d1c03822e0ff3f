import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import { revokeKey, uploadKey } from "../../../src/domain/keys/keys.ts";
import { finishClosings } from "../../../src/domain/lifecycle/finish-closings.ts";
import type { Context } from "../../../src/domain/operation/context.ts";
import { type DatabaseHandle, openDatabase } from "../../../src/store/client.ts";
import { sshKeys } from "../../../src/store/schema.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { freshKey } from "../../support/keys.ts";
import { type PostgresProxy, startPostgresProxy } from "../../support/postgres-proxy.ts";

let app: TestApp;
let proxy: PostgresProxy;
const handles: DatabaseHandle[] = [];
let context: Context;
let id: number;
let count = 0;

beforeAll(async () => {
  app = await createTestApp();
  proxy = await startPostgresProxy(app.connection);
});
afterAll(async () => {
  // A pool that lost a connection would take its five seconds to close.
  await Promise.all(handles.map(({ db }) => db.$client.end({ timeout: 0 })));
  proxy.close();
  await app.close();
});
beforeEach(async () => {
  count++;
  app.clock.advance(61_000);
  ({ id } = await app.user(`lost-${count}`));
  proxy.cuts = 0;
  // Fresh connections: on one that has committed before, "commit" is sent as the name of a prepared statement.
  const handle = openDatabase(proxy.connection, 2);
  handles.push(handle);
  context = { ...app.system, db: handle.db };
});

function fileOf() {
  return app.host.accounts.get(`ext_lost-${count}`)?.file;
}

async function stored() {
  const rows = await app.db.select().from(sshKeys).where(eq(sshKeys.userId, id));
  return rows.filter((row) => row.status === "active").map((row) => row.fingerprint);
}

/** Loses one commit; what the service asks afterwards gets through. */
async function losing<T>(mood: "before" | "after", work: () => Promise<T>): Promise<T> {
  proxy.mood = mood;
  const calm = setInterval(() => {
    if (proxy.cuts > 0) proxy.mood = "pass";
  }, 1);
  try {
    return await work();
  } finally {
    clearInterval(calm);
    proxy.mood = "pass";
  }
}

describe("a commit whose answer is lost", () => {
  test("is a success if it was done: stored, on the host and recorded once", async () => {
    const key = await losing("after", () => uploadKey(context, id, { name: "k", publicKey: freshKey() }));
    expect(proxy.cuts).toBe(1);
    expect(await stored()).toEqual([key.fingerprint]);
    expect(fileOf()).toEqual([key.fingerprint]);
    const rows = (await app.auditRows("key.create")).filter((row) => row.resourceId === String(key.id));
    expect(rows.map((row) => row.result)).toEqual(["success"]);
  });

  test("is a failure if it was not: nothing stored, the host restored, recorded as failed", async () => {
    const upload = losing("before", () => uploadKey(context, id, { name: "k", publicKey: freshKey() }));
    await expect(upload).rejects.toThrow();
    expect(proxy.cuts).toBe(1);
    expect(await stored()).toEqual([]);
    expect(fileOf()).toEqual([]);
    expect((await app.auditRows("key.create")).at(-1)).toMatchObject({ result: "failed", subjectId: id });
  });

  test("keeps a key out of the file that was not stored as revoked, and stores it so afterwards", async () => {
    const key = await uploadKey(app.system, id, { name: "k", publicKey: freshKey() });
    await expect(losing("before", () => revokeKey(context, id, key.id))).rejects.toThrow();
    expect(await stored()).toEqual([key.fingerprint]);
    expect(fileOf()).toEqual([]);
    await finishClosings(app.services);
    expect(await stored()).toEqual([]);
    expect(fileOf()).toEqual([]);
  });
});

describe("a connection that is lost while the host is at work", () => {
  /** The host, which loses the operation's connection, and goes on for a while. */
  function losingConnection<K extends "takeKey" | "shutAccount" | "writeKeys">(call: K): Context {
    const { host } = app;
    const work = host[call] as (...given: unknown[]) => Promise<unknown>;
    const losing = async (...given: unknown[]) => {
      await app.db.execute(
        sql`select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and state = 'idle in transaction' and pid <> pg_backend_pid()`,
      );
      await Bun.sleep(300);
      return await work.apply(host, given);
    };
    return { ...context, host: { ...host, [call]: losing } };
  }

  test("answers only once the host has done it", async () => {
    const key = await uploadKey(app.system, id, { name: "k", publicKey: freshKey() });
    const revoking = revokeKey(losingConnection("takeKey"), id, key.id);
    await expect(revoking).rejects.toThrow(/before this could be recorded. It stays out of the file/);
    expect(fileOf()).toEqual([]);
    await finishClosings(app.services);
    expect(await stored()).toEqual([]);
  });

  test("restores the host after it has finished, not while it is at work", async () => {
    const uploading = uploadKey(losingConnection("writeKeys"), id, { name: "k", publicKey: freshKey() });
    await expect(uploading).rejects.toThrow();
    expect(await stored()).toEqual([]);
    expect(fileOf()).toEqual([]);
  });

  test("shuts the account where the key cannot be taken out of the file, and says so", async () => {
    const key = await uploadKey(app.system, id, { name: "k", publicKey: freshKey() });
    const name = `ext_lost-${count}`;
    app.host.failing.add("takeKey");
    const revoking = revokeKey(losingConnection("shutAccount"), id, key.id);
    await expect(revoking).rejects.toThrow(/could not be taken out of the file, so it gives no access/);
    expect(app.host.accounts.get(name)?.open).toBe(false);
    app.host.failing.clear();
    await finishClosings(app.services);
    expect(await stored()).toEqual([]);
  });

  test("says that the host may still let them in where it could do neither", async () => {
    const key = await uploadKey(app.system, id, { name: "k", publicKey: freshKey() });
    app.host.failing.add("takeKey").add("shutAccount");
    const revoking = revokeKey(losingConnection("shutAccount"), id, key.id);
    await expect(revoking).rejects.toThrow(/the host may still let them in/);
    app.host.failing.clear();
    await finishClosings(app.services);
    expect(await stored()).toEqual([]);
    expect(fileOf()).toEqual([]);
  });
});
