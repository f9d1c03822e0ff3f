/** Taking access away: noted before the host is touched, never undone, owed until it is done. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { checkOwed } from "../../../src/doctor/owed.ts";
import { accountOf, allAccounts } from "../../../src/domain/accounts/account.ts";
import { listClosings } from "../../../src/domain/accounts/closings.ts";
import { findUserByName, type User } from "../../../src/domain/accounts/find-user.ts";
import { finishClosings } from "../../../src/domain/lifecycle/finish-closings.ts";
import { reconcileHost } from "../../../src/domain/lifecycle/reconcile.ts";
import type { Drift, Host } from "../../../src/protocol/host.ts";
import { HOUR, MINUTE } from "../../../src/shared/time/clock.ts";
import { closings, sshKeys } from "../../../src/store/schema.ts";
import { ADMIN_PASSWORD, type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { freshKey } from "../../support/keys.ts";

let app: TestApp;
let admin: Client;
let me: Client;
let name: string;
let id: number;
let count = 0;

beforeAll(async () => {
  app = await createTestApp({ UAM_SESSION_TTL: "30d" });
});
afterAll(() => app.close());
beforeEach(async () => {
  app.host.failing.clear();
  app.clock.advance(2 * HOUR);
  await app.db.delete(closings);
  admin = await app.admin();
  name = `close-${++count}`;
  ({ id, client: me } = await app.user(name));
});

const account = () => app.host.accounts.get(`ext_${name}`);
const row = () => findUserByName(app.db, name) as Promise<User>;
const owed = () => listClosings(app.db);
const finish = () => finishClosings(app.services);
const disable = () => admin.call("POST", `/users/${id}/disable`);
const enable = () => admin.call("POST", `/users/${id}/enable`);
const remove = () => admin.call("DELETE", `/users/${id}`);
const records = async (...actions: string[]) =>
  (await app.auditRows()).filter((record) => record.subjectId === id && actions.includes(record.action));
const told = async () => (await app.mails("admin@example.org")).filter((mail) => mail.dedupeKey?.startsWith("owed:"));

async function upload(): Promise<{ readonly id: number; readonly fingerprint: string }> {
  return (await me.call("POST", "/me/keys", { name: "k", public_key: freshKey() })).body.data;
}

/** While `work` runs, the database refuses every record of the audit log: what was done on the host cannot be committed. */
async function withoutCommit<T>(work: () => Promise<T>): Promise<T> {
  await app.alter("alter function audit_append rename to audit_append_away");
  try {
    return await work();
  } finally {
    await app.alter("alter function audit_append_away rename to audit_append");
  }
}

describe("a disable that the database cannot store", () => {
  test("is not undone on the host, opens nothing, and is finished in the name of whoever asked", async () => {
    await upload();
    const answer = await withoutCommit(disable);
    expect(answer.status).toBe(500);
    expect(answer.body.error).toContain(`The access of ${name} is being taken away`);
    expect(account()).toMatchObject({ open: false, file: [] });
    expect((await row()).status).toBe("active");
    expect(await accountOf(app.db, await row(), app.clock.now())).toMatchObject({ open: false, keys: [] });
    expect((await allAccounts(app.db, app.clock.now())).find(({ uid }) => uid === account()?.uid)?.open).toBe(false);
    expect((await me.call("POST", "/me/keys", { name: "k", public_key: freshKey() })).status).toBe(409);
    await finish();
    expect((await row()).status).toBe("disabled");
    expect(await owed()).toEqual([]);
    expect((await records("user.disable")).at(-1)).toMatchObject({ actor: "admin", result: "success" });
  });

  test("is finished in the name of the token that asked, and of its owner, even if it is revoked by then", async () => {
    const wanted = { name: "nightly", role: "operator", days: 1, password: ADMIN_PASSWORD };
    const { token, id: tokenId } = (await admin.call("POST", "/tokens", wanted)).body.data;
    const authorization = `Bearer ${token}`;
    const byToken = () => app.anonymous().call("POST", `/users/${id}/disable`, undefined, { authorization });
    expect((await withoutCommit(byToken)).status).toBe(500);
    await admin.call("DELETE", `/tokens/${tokenId}`);
    await finish();
    const [record] = (await records("user.disable")).slice(-1);
    expect(record).toMatchObject({ actorType: "token", actor: "nightly", result: "success" });
    expect(JSON.parse(record?.detail ?? "")).toMatchObject({ owner: "admin", username: name });
  });

  test("is not ended by more time", async () => {
    await withoutCommit(disable);
    expect((await admin.call("POST", `/users/${id}/extend`, { days: 1 })).status).toBe(500);
    expect(account()?.open).toBe(false);
    await finish();
    expect((await admin.call("POST", `/users/${id}/extend`, { days: 1 })).status).toBe(200);
    expect((await row()).status).toBe("disabled");
    expect(account()?.open).toBe(false);
  });

  test("is forgotten once an administrator opens the account", async () => {
    await withoutCommit(disable);
    expect((await enable()).status).toBe(200);
    await finish();
    expect((await row()).status).toBe("active");
    expect(account()?.open).toBe(true);
  });
});

describe("what the host could not do", () => {
  test("is retried at growing intervals, mailed once, and recorded when it is done", async () => {
    app.host.failing.add("emptyFile");
    expect((await disable()).status).toBe(500);
    expect(await checkOwed(app.services)).toMatchObject([
      {
        state: "fault",
        finding: expect.stringContaining(`The access of ${name} has been waiting to be taken away since`),
      },
    ]);
    expect(await reconcileHost(app.services, app.config.dataDir, "check")).toMatchObject([
      { account: `ext_${name}`, problem: expect.stringContaining("emptyFile"), repaired: false },
    ]);
    const mailed = (await told()).length;
    expect(mailed).toBeGreaterThan(0);
    const minutes: number[] = [];
    for (let minute = 0; minute < 240; minute++, app.clock.advance(MINUTE)) {
      const before = (await owed())[0]?.attempts;
      await finish();
      if ((await owed())[0]?.attempts !== before) minutes.push(minute);
    }
    expect(minutes).toEqual([1, 3, 7, 15, 31, 63, 123, 183]);
    expect((await told()).length).toBe(mailed);
    expect(await records("reconcile.repair")).toEqual([]);
    app.host.failing.clear();
    app.clock.advance(HOUR);
    await Promise.all([finish(), finish()]);
    expect(await owed()).toEqual([]);
    expect(await checkOwed(app.services)).toMatchObject([{ state: "ok" }]);
    expect(account()).toMatchObject({ open: false, file: [] });
    const [repair, ...others] = await records("reconcile.repair");
    expect(others).toEqual([]);
    expect(repair).toMatchObject({ actor: "system", result: "success", resourceId: String(id) });
    expect(JSON.parse(repair?.detail ?? "")).toMatchObject({
      username: name,
      found: expect.stringContaining("emptyFile"),
    });
  });

  test("says so where the account may still let its owner in", async () => {
    app.host.failing.add("shutAccount");
    expect((await disable()).body.error).toContain("but the host may still let them in until this is done");
    expect((await row()).status).toBe("disabled");
  });

  test("does not prevent opening the account again", async () => {
    app.host.failing.add("emptyFile");
    await disable();
    app.host.failing.clear();
    expect((await enable()).status).toBe(200);
    expect(await owed()).toEqual([]);
  });
});

describe("a deletion that the host cannot finish", () => {
  test("leaves the user disabled, is answered with 500, and is recorded once it is done", async () => {
    app.host.failing.add("removeAccount");
    const answer = await remove();
    expect(answer.status).toBe(500);
    expect(answer.body.error).toContain(`${name} is disabled, and is being deleted, and cannot log in.`);
    expect((await row()).status).toBe("disabled");
    expect(account()?.open).toBe(false);
    expect((await enable()).status).toBe(409);
    expect((await admin.call("POST", `/users/${id}/extend`, { days: 1 })).status).toBe(500);
    app.host.failing.clear();
    app.clock.advance(MINUTE);
    await Promise.all([finish(), finish()]);
    expect(await row()).toBeUndefined();
    expect(app.host.accounts.has(`ext_${name}`)).toBe(false);
    expect(await owed()).toEqual([]);
    const deletions = await records("user.delete");
    expect(deletions.map(({ result, actorType, actor }) => [result, actorType, actor])).toEqual([
      ["failed", "admin", "admin"],
      ["success", "admin", "admin"],
    ]);
    expect(JSON.parse(deletions[1]?.detail ?? "")).toMatchObject({ username: name, email: `${name}@example.org` });
  });

  test("is finished where the process died once the account was gone", async () => {
    expect((await withoutCommit(remove)).status).toBe(500);
    expect(app.host.accounts.has(`ext_${name}`)).toBe(false);
    expect(await row()).toBeDefined();
    await finish();
    expect(await row()).toBeUndefined();
    expect((await records("user.delete")).at(-1)).toMatchObject({ result: "success", actor: "admin" });
  });

  test("needs nothing from a missing account, and does not touch a foreign one", async () => {
    app.host.accounts.delete(`ext_${name}`);
    expect((await remove()).status).toBe(200);
    const other = await app.user(`foreign-${count}`);
    const taken = app.host.accounts.get(`ext_foreign-${count}`);
    app.host.accounts.set(`ext_foreign-${count}`, { uid: 1, open: true, expireAt: new Date(), file: [] });
    expect(taken).toBeDefined();
    expect((await admin.call("DELETE", `/users/${other.id}`)).status).toBe(500);
    expect(app.host.accounts.get(`ext_foreign-${count}`)).toMatchObject({ uid: 1, open: true });
  });
});

describe("a revocation", () => {
  test("that cannot be stored keeps the key out of the file until it is", async () => {
    const kept = await upload();
    const gone = await upload();
    expect((await withoutCommit(() => me.call("DELETE", `/me/keys/${gone.id}`))).status).toBe(500);
    expect(account()?.file).toEqual([kept.fingerprint]);
    const wanted = await accountOf(app.db, await row(), app.clock.now());
    expect(wanted.keys.map(({ fingerprint }) => fingerprint)).toEqual([kept.fingerprint]);
    const third = await upload();
    expect(account()?.file).toEqual([kept.fingerprint, third.fingerprint]);
    await finish();
    const [stored] = await app.db.select().from(sshKeys).where(eq(sshKeys.id, gone.id));
    expect(stored?.status).toBe("revoked");
    expect((await records("key.revoke")).at(-1)).toMatchObject({ actor: name, result: "success" });
  });

  test("stays dead when the account is disabled and enabled meanwhile", async () => {
    const gone = await upload();
    await withoutCommit(() => me.call("DELETE", `/me/keys/${gone.id}`));
    await disable();
    await enable();
    expect(account()).toMatchObject({ open: true, file: [] });
  });
});

describe("a key that comes back", () => {
  /** The services on a host that finds, once at each call, a key that is not stored. */
  function withReturns() {
    const host: Host = {
      ...app.host,
      reconcile: async (accounts, checkOnly): Promise<readonly Drift[]> =>
        accounts
          .filter((wanted) => wanted.name === `ext_${name}` && wanted.open)
          .map((wanted) => ({
            account: wanted.name,
            kind: "key_added",
            problem: "the file holds a key that is not stored",
            repaired: !checkOnly,
          })),
    };
    return { ...app.services, host };
  }
  const look = () => reconcileHost(withReturns(), app.config.dataDir, "repair");

  test("is recorded and mailed each time, and disables the user the third time within an hour", async () => {
    await look();
    expect((await records("reconcile.repair"))[0]).toMatchObject({ actor: "system", result: "success" });
    expect((await app.mails("admin@example.org")).at(-1)?.subject).toContain(`was found for ${name}`);
    app.clock.advance(20 * MINUTE);
    await look();
    expect((await row()).status).toBe("active");
    app.clock.advance(20 * MINUTE);
    await look();
    expect((await row()).status).toBe("disabled");
    expect(account()?.open).toBe(false);
    const [disabled] = await records("user.disable");
    expect(disabled).toMatchObject({ actor: "system", result: "success" });
    await look();
    expect(await records("reconcile.repair")).toHaveLength(3);
  });

  test("counts only what happened within the hour", async () => {
    for (let turn = 0; turn < 4; turn++) {
      await look();
      app.clock.advance(31 * MINUTE);
    }
    expect((await row()).status).toBe("active");
  });
});
