import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { reconcileHost } from "../../../src/domain/lifecycle/reconcile.ts";
import { createUser, deleteUser, disableUser, getUser } from "../../../src/domain/users/users.ts";
import { givenUids } from "../../../src/store/schema-fleet.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());
afterEach(() => {
  app.host.strays.length = 0;
});

let made = 0;
async function newUser() {
  made += 1;
  return await createUser(app.system, { username: `stray${made}`, email: "s@example.org", ttlDays: 10 });
}

const reconcile = (mode: "check" | "repair" = "repair", host = app.host) =>
  reconcileHost({ ...app.services, host }, app.config.dataDir, mode);
const repairs = async (uid: number) =>
  (await app.auditRows("reconcile.repair"))
    .map(({ subjectId, resourceId, result, detail }) => ({ subjectId, resourceId, result, ...JSON.parse(detail) }))
    .filter((record) => record.uid === uid);
const notes = async () => (await app.services.db.select().from(givenUids)).filter(({ strayAt }) => strayAt !== null);

describe("processes of uids that no account has", () => {
  test("are ended once the account is deleted, and recorded in the trail of who had the uid", async () => {
    const user = await newUser();
    await deleteUser(app.system, user.id);
    const problem = `1 process of uid ${user.uid}, which no account has`;
    app.host.strays.push({ uid: user.uid, problem, ended: true });
    expect(await reconcile("check")).toEqual([{ account: "", kind: "stray", problem, repaired: false }]);
    expect([await repairs(user.uid), app.host.strays.length]).toEqual([[], 1]);
    expect(await reconcile()).toEqual([{ account: "", kind: "stray", problem, repaired: true }]);
    const record = { subjectId: user.id, resourceId: String(user.id), result: "success", username: user.username };
    expect(await repairs(user.uid)).toEqual([{ ...record, kinds: "stray", uid: user.uid, found: problem }]);
    expect([await reconcile(), await notes()]).toEqual([[], []]);
    expect(await repairs(user.uid)).toHaveLength(1);
  });

  test("are left alone where this service never gave out the uid, and where an open account has it", async () => {
    const user = await newUser();
    const asked: number[] = [];
    const host = {
      ...app.host,
      endStrays: async (uids: readonly number[], checkOnly: boolean) => {
        asked.push(...uids);
        return await app.host.endStrays(uids, checkOnly);
      },
    };
    // One above the counter, one of another service on this machine, one of a container, and that of an open account.
    for (const uid of [user.uid + 1, 58_000, 3_000_000_000, user.uid])
      app.host.strays.push({ uid, problem: "runs", ended: true });
    expect(await reconcile("repair", host)).toEqual([]);
    expect([asked.length, app.host.strays.length]).toEqual([0, 4]);
    // A disabled user's account that somebody removed from the host.
    await disableUser(app.system, user.id);
    expect((await reconcile("repair", host)).map(({ kind }) => kind)).toEqual(["stray"]);
    expect(await repairs(user.uid)).toHaveLength(1);
  });

  test("that do not end are reported each time, and recorded when they did", async () => {
    const user = await newUser();
    await deleteUser(app.system, user.id);
    app.host.strays.push({ uid: user.uid, problem: "1 process. It did not end: 7", ended: false });
    for (let look = 0; look < 2; look++) expect((await reconcile()).map(({ repaired }) => repaired)).toEqual([false]);
    expect(await repairs(user.uid)).toEqual([]);
    app.host.strays.length = 0;
    expect(await reconcile()).toEqual([]);
    expect(await repairs(user.uid)).toMatchObject([{ kinds: "stray", username: user.username }]);
    await reconcile();
    expect(await repairs(user.uid)).toHaveLength(1);
  });

  test("are recorded by the next look if the service died between ending and recording them", async () => {
    const user = await newUser();
    await deleteUser(app.system, user.id);
    app.host.strays.push({ uid: user.uid, problem: "1 process", ended: true });
    const dying = {
      ...app.host,
      endStrays: async (uids: readonly number[], checkOnly: boolean) => {
        const found = await app.host.endStrays(uids, checkOnly);
        if (!checkOnly) throw new Error("the service died");
        return found;
      },
    };
    await expect(reconcile("repair", dying)).rejects.toThrow("died");
    expect(await repairs(user.uid)).toEqual([]);
    expect((await notes()).map(({ uid }) => uid)).toEqual([user.uid]);
    await reconcile();
    expect(await repairs(user.uid)).toMatchObject([{ found: expect.stringContaining("cut short") }]);
  });

  test("are recorded without a name where the log does not go back to the deletion", async () => {
    const user = await newUser();
    expect((await getUser(app.system, user.id)).uid).toBe(user.uid);
    const [given] = await app.services.db.select().from(givenUids).where(eq(givenUids.uid, user.uid));
    expect(given).toEqual({ uid: user.uid, strayAt: null });
    await app.services.db.insert(givenUids).values({ uid: 61_000 });
    app.host.strays.push({ uid: 61_000, problem: "1 process", ended: true });
    await reconcile();
    const [record] = await repairs(61_000);
    expect(record).toEqual({
      ...{ subjectId: null, resourceId: "", result: "success" },
      ...{ kinds: "stray", uid: 61_000, found: "1 process" },
    });
  });
});
