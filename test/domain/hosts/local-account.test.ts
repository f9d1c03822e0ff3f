/** The account on the service's own host, given to a user and taken away again, with what can fail on the way. */

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { grantsOf, setUserHosts } from "../../../src/domain/hosts/grants.ts";
import { updateGroup } from "../../../src/domain/hosts/groups.ts";
import { uploadKey } from "../../../src/domain/keys/keys.ts";
import { finishClosings } from "../../../src/domain/lifecycle/finish-closings.ts";
import { reconcileHost } from "../../../src/domain/lifecycle/reconcile.ts";
import { createUser, deleteUser, disableUser, enableUser } from "../../../src/domain/users/users.ts";
import { HOUR } from "../../../src/shared/time/clock.ts";
import { closings } from "../../../src/store/schema.ts";
import { createTestApp } from "../../support/app.ts";
import { insertHost } from "../../support/host-rows.ts";
import { freshKey } from "../../support/keys.ts";

const app = await createTestApp({ UAM_FLEET_WAIT: "1s" });
afterAll(() => app.close());
const { host, system, services } = app;
await insertHost(app, "web1");

const LOCAL = { hosts: ["web1"], groups: ["default"] };
const AWAY = { hosts: ["web1"], groups: [] };

let count = 0;
let user: { readonly id: number; readonly username: string };
let account: string;
beforeEach(async () => {
  host.failing.clear();
  user = await createUser(system, { username: `mover${++count}`, email: "m@example.org" });
  account = `ext_${user.username}`;
  await uploadKey(system, user.id, { name: "laptop", publicKey: freshKey() });
});

const owed = async () => (await app.db.select().from(closings)).map(({ userId, kind }) => [userId, kind]);
const states = async (wanted: typeof LOCAL) =>
  (await setUserHosts(system, user.id, wanted)).places.map((place) => [place.host.name, place.removing]);

describe("setUserHosts()", () => {
  test("removes the account on the service's own host, and the user goes on elsewhere", async () => {
    expect(await states(AWAY)).toEqual([["web1", false]]);
    expect(host.accounts.has(account)).toBe(false);
    expect(await owed()).toEqual([]);
    const records = (await app.auditRows("user.grant")).filter(({ subjectId }) => subjectId === user.id);
    expect(records.map(({ result }) => result)).toEqual(["success"]);
    // Nothing makes it again.
    await uploadKey(system, user.id, { name: "second", publicKey: freshKey() });
    await disableUser(system, user.id);
    await enableUser(system, user.id);
    await reconcileHost(services, "/nonexistent", "repair at once");
    expect(host.accounts.has(account)).toBe(false);
    await deleteUser(system, user.id);
  });

  test("makes it with the stored keys and state, as it is with the same uid", async () => {
    const before = structuredClone(host.accounts.get(account));
    await setUserHosts(system, user.id, AWAY);
    await setUserHosts(system, user.id, LOCAL);
    expect(host.accounts.get(account)).toMatchObject({ uid: before?.uid, open: true, file: before?.file });
    await setUserHosts(system, user.id, AWAY);
    await disableUser(system, user.id);
    await setUserHosts(system, user.id, LOCAL);
    expect(host.accounts.get(account)).toMatchObject({ open: false, file: [] });
    expect(await owed()).toEqual([]);
  });

  test.each(["createAccount", "openAccount"] as const)("changes nothing if %s fails", async (action) => {
    await setUserHosts(system, user.id, AWAY);
    host.failing.add(action);
    await expect(setUserHosts(system, user.id, LOCAL)).rejects.toThrow();
    host.failing.clear();
    expect(await grantsOf(app.db, user.id)).toEqual(AWAY);
    await finishClosings(services, "all");
    expect(host.accounts.has(account)).toBe(false);
    expect(await owed()).toEqual([]);
    expect(await app.lastAudit("user.grant")).toMatchObject({ result: "failed", subjectId: user.id });
  });

  test("takes nothing over that has the account's name", async () => {
    await setUserHosts(system, user.id, AWAY);
    host.accounts.set(account, { uid: 7, open: true, expireAt: new Date(0), file: [] });
    await expect(setUserHosts(system, user.id, LOCAL)).rejects.toThrow(`named ${account}`);
    expect(host.accounts.get(account)).toMatchObject({ uid: 7, open: true });
    expect(await owed()).toEqual([]);
    host.accounts.delete(account);
  });

  test("owes what the host cannot do, and goes on with it; nothing opens the account meanwhile", async () => {
    host.failing.add("removeAccount");
    await expect(setUserHosts(system, user.id, AWAY)).rejects.toThrow("no longer has an account on this host");
    expect(await grantsOf(app.db, user.id)).toEqual(AWAY);
    expect(await owed()).toEqual([[user.id, "leave"]]);
    expect(await app.lastAudit("user.grant")).toMatchObject({ result: "failed" });
    expect((await app.mails()).length).toBeGreaterThan(0);
    host.failing.clear();
    app.clock.advance(HOUR);
    await finishClosings(services);
    expect([host.accounts.has(account), await owed()]).toEqual([false, []]);
    expect(await app.lastAudit("reconcile.repair")).toMatchObject({
      ...{ subjectId: user.id, result: "success" },
      detail: { username: user.username, done: "the account on the service's own host was removed" },
    });
  });

  test("records that nothing was removed where another account has the name meanwhile", async () => {
    host.failing.add("removeAccount");
    await expect(setUserHosts(system, user.id, AWAY)).rejects.toThrow("no longer has an account on this host");
    host.failing.clear();
    host.accounts.set(account, { uid: 7, open: true, expireAt: new Date(0), file: [] });
    await finishClosings(services, "all");
    expect([host.accounts.get(account)?.uid, await owed()]).toEqual([7, []]);
    const done = "the account of that name on the service's own host is not the one that uam made, and was left alone";
    expect(await app.lastAudit("reconcile.repair")).toMatchObject({ subjectId: user.id, detail: { done } });
    host.accounts.delete(account);
  });

  test("gives back what is still owed, and then nothing of it is done", async () => {
    host.failing.add("removeAccount");
    await expect(setUserHosts(system, user.id, AWAY)).rejects.toThrow();
    host.failing.clear();
    await setUserHosts(system, user.id, LOCAL);
    await finishClosings(services, "all");
    expect(host.accounts.get(account)).toMatchObject({ open: true });
    expect(await owed()).toEqual([]);
  });

  test("records no removal where the user has the account again, and the note is still there", async () => {
    const now = app.clock.now();
    const by = { action: "", actorType: "admin", actor: "root", actorOwner: "" } as const;
    await app.db.insert(closings).values({ userId: user.id, kind: "leave", ...by, begunAt: now, dueAt: now });
    await finishClosings(services, "all");
    expect(host.accounts.get(account)).toMatchObject({ open: true });
    expect(await owed()).toEqual([]);
    const repairs = (await app.auditRows("reconcile.repair")).filter(({ subjectId }) => subjectId === user.id);
    expect(repairs).toEqual([]);
  });

  test("goes on after a crash between storing and removing", async () => {
    // As the crash leaves it: the grants are stored, the note with them, and the host is as it was.
    host.failing.add("removeAccount");
    await setUserHosts(system, user.id, AWAY).catch(() => {});
    await app.db.update(closings).set({ attempts: 0, problem: "" }).where(eq(closings.userId, user.id));
    host.failing.clear();
    await reconcileHost(services, "/nonexistent", "repair at once");
    expect([host.accounts.has(account), await owed()]).toEqual([false, []]);
  });

  test("by many at once ends with one or the other, on the host as in the database", async () => {
    await Promise.all(
      Array.from({ length: 10 }, (_, index) => setUserHosts(system, user.id, index % 2 === 0 ? AWAY : LOCAL)),
    );
    const { groups } = await grantsOf(app.db, user.id);
    expect(host.accounts.has(account)).toBe(groups.length === 1);
    expect(await owed()).toEqual([]);
  });

  test("deletes a user whose account there is still to be removed", async () => {
    host.failing.add("removeAccount");
    await setUserHosts(system, user.id, AWAY).catch(() => {});
    host.failing.clear();
    await deleteUser(system, user.id);
    expect([host.accounts.has(account), await owed()]).toEqual([false, []]);
  });
});

describe("updateGroup()", () => {
  test("refuses what would take the account there, also from a user who is just being created", async () => {
    const made = createUser(system, { username: "newcomer", email: "n@example.org" });
    const changed = updateGroup(system, "default", { remove: ["local"] });
    await expect(changed).rejects.toThrow("user by user");
    await made;
    expect(host.accounts.has("ext_newcomer")).toBe(true);
  });
});
