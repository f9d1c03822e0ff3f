import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { listClosings } from "../../../src/domain/accounts/closings.ts";
import { finishClosings } from "../../../src/domain/lifecycle/finish-closings.ts";
import { findLockable, importLocks } from "../../../src/domain/lifecycle/locks.ts";
import { reconcileHost } from "../../../src/domain/lifecycle/reconcile.ts";
import { extendUser } from "../../../src/domain/users/extend.ts";
import { createUser, getUser } from "../../../src/domain/users/users.ts";
import type { Account } from "../../../src/protocol/host.ts";
import { silentLog } from "../../../src/shared/log.ts";
import { type LockEntry, readLocks, writeLock } from "../../../src/shared/system/lock-journal.ts";
import { HOUR, shift } from "../../../src/shared/time/clock.ts";
import { users } from "../../../src/store/schema.ts";
import { importedLocks } from "../../../src/store/schema-fleet.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
let dataDir: string;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "uam-locks-"));
});
afterEach(() => {
  app.host.failing.clear();
  rmSync(dataDir, { recursive: true, force: true });
});

let made = 0;
async function newUser() {
  made += 1;
  return await createUser(app.system, { username: `user${made}`, email: "u@example.org", ttlDays: 10 });
}

/** Journals a lock of the user, as `uam lock` does. */
function journal(
  user: { readonly username: string; readonly uid: number },
  changes: Partial<LockEntry> = {},
): LockEntry {
  const { username, uid } = user;
  const entry = { id: randomUUID(), at: app.clock.now(), username, uid, operator: "olga", ...changes };
  writeLock(dataDir, entry);
  return entry;
}

const disablings = async (id: number) =>
  (await app.auditRows("user.disable")).filter((row) => row.resourceId === String(id));

describe("findLockable()", () => {
  test("finds the account by name, inside the uid range and that of older versions only", async () => {
    const { username, uid } = await newUser();
    const { policy } = app.services;
    expect(await findLockable(app.host, policy, username)).toEqual({ name: `ext_${username}`, uid });
    const elsewhere = { ...policy, uidRange: { first: 1000, last: 1001 } };
    await expect(findLockable(app.host, elsewhere, username)).rejects.toThrow(/outside UAM_UID_RANGE/);
    // Made by a version whose default range was another.
    const old = { ...app.host, findAccount: async (name: string) => ({ name, uid: 20_000 }) };
    expect(await findLockable(old, policy, username)).toEqual({ name: `ext_${username}`, uid: 20_000 });
    const person = { ...app.host, findAccount: async (name: string) => ({ name, uid: 1001 }) };
    await expect(findLockable(person, policy, username)).rejects.toThrow(/outside UAM_UID_RANGE/);
    await expect(findLockable(app.host, policy, "nobody")).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("writeLock()", () => {
  test("writes a file that only its owner can read, and readLocks() reads it back", () => {
    const later = journal({ username: "b", uid: 20001 }, { at: shift(app.clock.now(), HOUR) });
    const earlier = journal({ username: "a", uid: 20000 }, { operator: "o", at: app.clock.now() });
    const inDryRun = journal({ username: "c", uid: 1 }, { uid: undefined, at: shift(app.clock.now(), 2 * HOUR) });
    expect(readLocks(dataDir, silentLog)).toEqual([earlier, later, inDryRun]);
    for (const name of readdirSync(dataDir)) expect(statSync(join(dataDir, name)).mode & 0o777).toBe(0o600);
  });

  test("a damaged entry is skipped, logged, and kept", () => {
    const entry = journal({ username: "a", uid: 20000 });
    writeFileSync(join(dataDir, `lock-${randomUUID()}.json`), '{"id":');
    const errors: string[] = [];
    expect(readLocks(dataDir, { ...silentLog, error: (message) => errors.push(message) })).toEqual([entry]);
    expect(errors).toHaveLength(1);
    expect(readdirSync(dataDir)).toHaveLength(2);
  });
});

describe("importLocks()", () => {
  test("disables the user and records it once, by the operator", async () => {
    const user = await newUser();
    await app.host.shutAccount({ name: `ext_${user.username}`, uid: user.uid });
    const entry = journal(user);
    expect(await importLocks(app.services, dataDir)).toEqual([]);
    expect(await getUser(app.system, user.id)).toMatchObject({ status: "disabled", disabledAt: entry.at });
    expect(app.host.accounts.get(`ext_${user.username}`)?.open).toBe(false);
    expect(await disablings(user.id)).toMatchObject([
      {
        actorType: "cli",
        actor: "olga",
        result: "success",
        detail: JSON.stringify({ username: user.username, status: "disabled" }),
        subjectId: user.id,
      },
    ]);
    expect(readdirSync(dataDir)).toEqual([]);
    expect(await app.db.select().from(importedLocks).where(eq(importedLocks.id, entry.id))).toEqual([]);
    await importLocks(app.services, dataDir);
    expect(await disablings(user.id)).toHaveLength(1);
  });

  test("an entry that was recorded before a crash could remove it is not recorded again", async () => {
    const user = await newUser();
    const entry = journal(user);
    await app.db.insert(importedLocks).values({ id: entry.id, at: entry.at });
    await importLocks(app.services, dataDir);
    expect(await disablings(user.id)).toEqual([]);
    expect(readdirSync(dataDir)).toEqual([]);
  });

  test("of several at the same time, one records", async () => {
    const user = await newUser();
    journal(user);
    await Promise.all(Array.from({ length: 4 }, () => importLocks(app.services, dataDir)));
    expect(await disablings(user.id)).toHaveLength(1);
  });

  test("a late record says when the account was locked", async () => {
    const user = await newUser();
    const { at } = journal(user);
    app.clock.advance(2 * HOUR);
    await importLocks(app.services, dataDir);
    const [row] = await disablings(user.id);
    expect(JSON.parse(row?.detail ?? "")).toEqual({
      username: user.username,
      status: "disabled",
      locked_at: at.toISOString(),
    });
  });

  test("a user of that name with another account is left alone, and the failure recorded", async () => {
    const user = await newUser();
    journal({ ...user, uid: user.uid + 1000 });
    const failures = await importLocks(app.services, dataDir);
    expect(failures).toMatchObject([{ username: user.username, problem: expect.stringMatching(/no user named/) }]);
    expect((await getUser(app.system, user.id)).status).toBe("active");
    expect(await disablings(user.id)).toMatchObject([{ result: "failed", actor: "olga" }]);
    expect(readdirSync(dataDir)).toEqual([]);
  });

  test("an expired user comes back disabled", async () => {
    const user = await newUser();
    await app.db.update(users).set({ status: "expired", expireAt: app.clock.now() }).where(eq(users.id, user.id));
    journal(user);
    await importLocks(app.services, dataDir);
    expect((await getUser(app.system, user.id)).status).toBe("expired");
    expect((await extendUser(app.system, user.id, 1)).status).toBe("disabled");
  });

  test("where the host refuses, the user is disabled and the record says what failed", async () => {
    const user = await newUser();
    journal(user);
    app.host.failing.add("shutAccount");
    expect(await importLocks(app.services, dataDir)).toMatchObject([{ problem: expect.stringMatching(/refused/) }]);
    expect((await getUser(app.system, user.id)).status).toBe("disabled");
    const [row] = await disablings(user.id);
    expect(row).toMatchObject({ result: "failed", detail: expect.stringContaining("The host refused") });
    app.host.failing.clear();
    await finishClosings(app.services, "all");
    expect(await listClosings(app.db)).toEqual([]);
  });
});

describe("reconcileHost()", () => {
  /** The services with a host that remembers what it was asked to bring about. */
  function watching() {
    const asked: Account[] = [];
    const host = {
      ...app.host,
      reconcile: async (accounts: readonly Account[]) => {
        asked.push(...accounts);
        return [];
      },
    };
    return { services: { ...app.services, host }, asked };
  }

  test("records locks before it repairs, so that it never opens a locked account", async () => {
    const user = await newUser();
    journal(user);
    const { services, asked } = watching();
    expect(await reconcileHost(services, dataDir, "repair")).toEqual([]);
    expect(asked.find((account) => account.uid === user.uid)).toMatchObject({ open: false, keys: [] });
    expect((await getUser(app.system, user.id)).status).toBe("disabled");
  });

  test("reports locks that are not recorded yet, and records nothing, where it only checks", async () => {
    const user = await newUser();
    journal(user);
    const { services, asked } = watching();
    expect(await reconcileHost(services, dataDir, "check")).toMatchObject([
      { account: `ext_${user.username}`, repaired: false },
    ]);
    expect(asked.find((account) => account.uid === user.uid)?.open).toBe(false);
    expect((await getUser(app.system, user.id)).status).toBe("active");
    expect(readdirSync(dataDir)).toHaveLength(1);
  });

  test("does not open an account that is locked while it compares", async () => {
    const user = await newUser();
    const account = `ext_${user.username}`;
    const repaired: Account[] = [];
    const host = {
      ...app.host,
      reconcile: async (accounts: readonly Account[], checkOnly: boolean) => {
        if (checkOnly) journal(user);
        else repaired.push(...accounts);
        return [{ account, kind: "expiry_date" as const, problem: "the account is locked", repaired: !checkOnly }];
      },
    };
    await reconcileHost({ ...app.services, host }, dataDir, "repair");
    expect(repaired).toMatchObject([{ name: account, open: false, keys: [] }]);
  });
});
