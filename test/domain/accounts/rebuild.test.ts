import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { rebuildAccount } from "../../../src/domain/accounts/rebuild.ts";
import { deleteUser, disableUser } from "../../../src/domain/users/users.ts";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { freshKey } from "../../support/keys.ts";

let app: TestApp;
let id: number;
let client: Client;
let account: string;
let count = 0;

beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  app.clock.advance(61_000);
  app.host.failing.clear();
  account = `ext_gone-${++count}`;
  ({ id, client } = await app.user(`gone-${count}`));
});

async function upload(): Promise<string> {
  const answer = await client.call("POST", "/me/keys", { name: "laptop", public_key: freshKey() });
  return answer.body.data.fingerprint;
}

describe("rebuildAccount()", () => {
  test("recreates the account with its uid and its keys, on record", async () => {
    const fingerprint = await upload();
    const before = app.host.accounts.get(account);
    app.host.accounts.delete(account);
    await rebuildAccount(app.system, id);
    expect(app.host.accounts.get(account)).toEqual({ ...before, open: true, file: [fingerprint] } as never);
    expect(await app.lastAudit("reconcile.repair")).toMatchObject({
      actorType: "cli",
      resourceType: "user",
      resourceId: String(id),
      subjectId: id,
      result: "success",
      detail: { username: `gone-${count}`, open: true, keys: 1, done: "the account was recreated" },
    });
  });

  test("removes what the account left before it creates the new one", async () => {
    app.host.accounts.delete(account);
    app.host.calls.length = 0;
    await rebuildAccount(app.system, id);
    expect(app.host.calls).toEqual([`removeAccount ${account}`, `createAccount ${account}`, `openAccount ${account}`]);
  });

  test("leaves the account of a disabled user shut and without keys, and enabling works again", async () => {
    const fingerprint = await upload();
    await disableUser(app.system, id);
    app.host.accounts.delete(account);
    await rebuildAccount(app.system, id);
    expect(app.host.accounts.get(account)).toMatchObject({ open: false, file: [] });
    const admin = await app.admin();
    expect((await admin.call("POST", `/users/${id}/enable`)).status).toBe(200);
    expect(app.host.accounts.get(account)).toMatchObject({ open: true, file: [fingerprint] });
  });

  test("refuses an account that exists, and one that by now is somebody else's", async () => {
    await expect(rebuildAccount(app.system, id)).rejects.toThrow(`The host account ${account} exists`);
    const found = app.host.accounts.get(account);
    app.host.accounts.set(account, { ...found, uid: 4242 } as never);
    app.host.failing.add("createAccount");
    await expect(rebuildAccount(app.system, id)).rejects.toThrow();
    expect(app.host.accounts.get(account)?.uid).toBe(4242);
    expect(await app.lastAudit("reconcile.repair")).toMatchObject({ result: "failed", resourceId: String(id) });
  });

  test.each(["createAccount", "openAccount", "removeAccount"] as const)(
    "leaves no account behind, and a record, when the host refuses %s",
    async (action) => {
      app.host.accounts.delete(account);
      app.host.failing.add(action);
      await expect(rebuildAccount(app.system, id)).rejects.toThrow("The host refused");
      expect(app.host.accounts.has(account)).toBe(false);
      expect(await app.lastAudit("reconcile.repair")).toMatchObject({
        result: "failed",
        detail: { err: expect.stringContaining("The host refused") },
      });
    },
  );

  test("leaves no account behind where that of a disabled user cannot be shut", async () => {
    await disableUser(app.system, id);
    app.host.accounts.delete(account);
    app.host.failing.add("shutAccount");
    await expect(rebuildAccount(app.system, id)).rejects.toThrow("The host refused");
    expect(app.host.accounts.has(account)).toBe(false);
  });

  test("refuses a user who is being deleted", async () => {
    app.host.failing.add("removeAccount");
    await expect(deleteUser(app.system, id)).rejects.toThrow();
    app.host.accounts.delete(account);
    app.host.failing.clear();
    await expect(rebuildAccount(app.system, id)).rejects.toThrow(`gone-${count} is being deleted`);
    expect(app.host.accounts.has(account)).toBe(false);
  });

  test("is named by the refusal of other changes", async () => {
    app.host.accounts.delete(account);
    const admin = await app.admin();
    for (const verb of ["disable", "enable"]) {
      const { status, body } = await admin.call("POST", `/users/${id}/${verb}`);
      expect([status, body.error]).toEqual([
        409,
        `The host account ${account} is missing; on the host, uam user rebuild gone-${count} recreates it`,
      ]);
    }
  });

  test("fails for a user who does not exist", async () => {
    await expect(rebuildAccount(app.system, 999_999)).rejects.toThrow("There is no user with the id 999999");
  });
});
