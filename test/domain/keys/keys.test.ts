import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { eq } from "drizzle-orm";
import { MINUTE } from "../../../src/shared/time/clock.ts";
import { sshKeys } from "../../../src/store/schema.ts";
import { grants } from "../../../src/store/schema-fleet.ts";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { insertHost } from "../../support/host-rows.ts";
import { freshKey } from "../../support/keys.ts";

let app: TestApp;
let id: number;
let me: Client;
let count = 0;

beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  count++;
  app.clock.advance(61_000);
  app.host.failing.clear();
  ({ id, client: me } = await app.user(`key-owner-${count}`));
});

async function upload(client = me, text = freshKey(), name = "laptop") {
  return await client.call("POST", "/me/keys", { name, public_key: text });
}

function fileOf(username = `key-owner-${count}`) {
  return app.host.accounts.get(`ext_${username}`)?.file;
}

async function lastAudit() {
  const row = (await app.auditRows()).at(-1);
  return { ...row, detail: JSON.parse(row?.detail ?? "{}") };
}

describe("uploadKey()", () => {
  test("stores the key, writes it to the account's file and records it", async () => {
    const answer = await upload();
    expect(answer.status).toBe(201);
    expect(answer.body.data).toMatchObject({
      name: "laptop",
      type: "ssh-ed25519",
      bits: 256,
      status: "active",
      revoked_at: null,
    });
    expect(answer.body.data.public_key).not.toContain("me@laptop");
    expect(fileOf()).toEqual([answer.body.data.fingerprint]);
    expect(await lastAudit()).toMatchObject({
      action: "key.create",
      actorType: "user",
      actor: `key-owner-${count}`,
      resourceType: "ssh_key",
      resourceId: String(answer.body.data.id),
      detail: { name: "laptop", fingerprint: answer.body.data.fingerprint },
      result: "success",
      ip: "192.0.2.1",
    });
  });

  test("trims the name, in the record too", async () => {
    const answer = await upload(me, freshKey(), " \u3000laptop ");
    expect(answer.body.data.name).toBe("laptop");
    expect((await lastAudit()).detail.name).toBe("laptop");
  });

  test("refuses an invalid key with 400, changes nothing and records the failure", async () => {
    const answer = await upload(me, "ssh-ed25519 AAAA nonsense");
    expect(answer.status).toBe(400);
    expect(fileOf()).toEqual([]);
    expect(await app.db.$count(sshKeys, eq(sshKeys.userId, id))).toBe(0);
    expect(await lastAudit()).toMatchObject({
      action: "key.create",
      resourceId: "",
      result: "failed",
      detail: { name: "laptop", err: answer.body.error },
    });
  });

  test("refuses a fingerprint that is active for anyone on the host with 409", async () => {
    const text = freshKey();
    expect((await upload(me, text)).status).toBe(201);
    expect((await upload(me, text)).status).toBe(409);
    const other = await app.user(`key-other-${count}`);
    const refused = await upload(other.client, text);
    expect(refused.status).toBe(409);
    expect(refused.body.error).toContain("Ask the administrators of this host.");
    expect(fileOf(`key-other-${count}`)).toEqual([]);
  });

  test("accepts a revoked key again", async () => {
    const text = freshKey();
    const first = await upload(me, text);
    await me.call("DELETE", `/me/keys/${first.body.data.id}`);
    expect((await upload(me, text)).status).toBe(201);
  });

  test("refuses a disabled user with 409", async () => {
    const admin = await app.admin();
    await admin.call("POST", `/users/${id}/disable`);
    expect((await upload()).status).toBe(409);
  });

  test("answers a deleted user with 404", async () => {
    const admin = await app.admin();
    await admin.call("DELETE", `/users/${id}`);
    expect((await upload()).status).toBe(404);
  });

  test("is rolled back and recorded when the host refuses", async () => {
    app.host.failing.add("writeKeys");
    const answer = await upload();
    expect(answer.status).toBe(500);
    expect(answer.body.error).toContain("ext_key-owner");
    expect(await app.db.$count(sshKeys, eq(sshKeys.userId, id))).toBe(0);
    expect(await lastAudit()).toMatchObject({
      action: "key.create",
      result: "failed",
      detail: { name: "laptop", err: answer.body.error },
    });
    expect(app.host.calls.at(-1)).toBe(`openAccount ext_key-owner-${count}`);
  });
});

describe("uploadKey() of a key that sshd refuses", () => {
  const MLDSA = readFileSync(new URL("../../testdata/keys-10.6/mldsa44-ed25519-1.pub", import.meta.url), "utf8");
  beforeEach(() => void app.host.refusedTypes.add("ssh-mldsa44-ed25519"));
  afterEach(() => app.host.refusedTypes.clear());

  test("says so, and stores nothing, where the user has no other host", async () => {
    const answer = await upload(me, MLDSA);
    expect([answer.status, answer.body.error]).toEqual([
      400,
      "The key would open nothing on this host: its sshd does not accept keys of the type ssh-mldsa44-ed25519",
    ]);
    expect((await me.call("GET", "/me/keys")).body.data.items).toEqual([]);
    expect((await upload()).status).toBe(201);
  });

  test("stores it where the user has a further host, which may take it", async () => {
    const { id: hostId } = await insertHost(app, `further-${count}`);
    await app.db.insert(grants).values({ userId: id, hostId, createdAt: app.clock.now() });
    expect((await upload(me, MLDSA)).body.data).toMatchObject({ type: "ssh-mldsa44-ed25519", bits: 512 });
  });
});

describe("listKeys()", () => {
  test("is empty for a user without keys, and not found for one that there is not", async () => {
    const admin = await app.admin();
    expect((await admin.call("GET", `/users/${id}/keys`)).body.data).toEqual({ items: [] });
    const key = (await upload()).body.data;
    expect((await admin.call("GET", `/users/${id}/keys`)).body.data).toEqual({ items: [key] });
    expect((await admin.call("DELETE", `/users/${id}`)).status).toBe(200);
    expect((await admin.call("GET", `/users/${id}/keys`)).status).toBe(404);
    expect((await me.call("GET", "/me/keys")).status).toBe(404);
  });
});

describe("renameKey()", () => {
  test("changes the name and does not touch the host", async () => {
    const key = await upload();
    const before = app.host.calls.length;
    const answer = await me.call("PATCH", `/me/keys/${key.body.data.id}`, { name: "  desk 🖥 " });
    expect(answer.body.data).toMatchObject({ id: key.body.data.id, name: "desk 🖥" });
    expect(app.host.calls.length).toBe(before);
    expect(await lastAudit()).toMatchObject({ action: "key.rename", result: "success", detail: { name: "desk 🖥" } });
  });

  test.each([
    ["", 400],
    [" ", 400],
    ["x".repeat(65), 400],
    ["a\nb", 400],
    ["🖥".repeat(64), 200],
  ])("judges the name %p with %d", async (name, status) => {
    const key = await upload();
    expect((await me.call("PATCH", `/me/keys/${key.body.data.id}`, { name })).status).toBe(status);
  });

  test("does not find another user's key", async () => {
    const key = await upload();
    const other = await app.user(`key-thief-${count}`);
    expect((await other.client.call("PATCH", `/me/keys/${key.body.data.id}`, { name: "mine" })).status).toBe(404);
    expect((await other.client.call("DELETE", `/me/keys/${key.body.data.id}`)).status).toBe(404);
    expect(fileOf()).toEqual([key.body.data.fingerprint]);
  });
});

describe("revokeKey()", () => {
  test("removes the key from the file at once, ends its sessions and keeps the row", async () => {
    const kept = await upload();
    const gone = await upload();
    const answer = await me.call("DELETE", `/me/keys/${gone.body.data.id}`);
    expect(answer.status).toBe(200);
    expect(answer.body.data).toMatchObject({
      id: gone.body.data.id,
      status: "revoked",
      revoked_at: app.clock.now().toISOString(),
    });
    expect(fileOf()).toEqual([kept.body.data.fingerprint]);
    expect(app.host.calls.at(-1)).toBe(`takeKey ext_key-owner-${count}`);
    expect((await me.call("GET", "/me/keys")).body.data.items).toHaveLength(1);
    expect(await app.db.$count(sshKeys, eq(sshKeys.userId, id))).toBe(2);
    expect(await lastAudit()).toMatchObject({
      action: "key.revoke",
      detail: { fingerprint: gone.body.data.fingerprint },
    });
    expect((await me.call("DELETE", `/me/keys/${gone.body.data.id}`)).status).toBe(404);
  });

  test("disables the user when the file cannot be repaired, and fails", async () => {
    const key = await upload();
    app.host.failing.add("takeKey");
    const answer = await me.call("DELETE", `/me/keys/${key.body.data.id}`);
    expect(answer.status).toBe(500);
    expect(app.host.accounts.get(`ext_key-owner-${count}`)).toMatchObject({ open: false, file: [] });
    const [row] = await app.db.select().from(sshKeys).where(eq(sshKeys.id, key.body.data.id));
    expect(row?.status).toBe("active");
    const admin = await app.admin();
    expect((await admin.call("GET", `/users/${id}`)).body.data.status).toBe("disabled");
    const [disable, revoke] = (await app.auditRows())
      .filter((audit) => /^(key.revoke|user.disable)$/.test(audit.action))
      .slice(-2);
    expect(disable).toMatchObject({
      action: "user.disable",
      actorType: "system",
      result: "success",
      resourceId: String(id),
    });
    expect(revoke).toMatchObject({ action: "key.revoke", actorType: "user", result: "failed" });
  });

  test("of a user who was disabled already keeps since when", async () => {
    const key = await upload();
    const admin = await app.admin();
    await admin.call("POST", `/users/${id}/disable`);
    const since = (await admin.call("GET", `/users/${id}`)).body.data.disabled_at;
    expect(since).toBe(app.clock.now().toISOString());
    app.clock.advance(MINUTE);
    app.host.failing.add("takeKey");
    expect((await me.call("DELETE", `/me/keys/${key.body.data.id}`)).status).toBe(500);
    expect((await admin.call("GET", `/users/${id}`)).body.data).toMatchObject({
      status: "disabled",
      disabled_at: since,
    });
  });

  test("disables the user when another file that sshd reads still holds the key, and fails", async () => {
    const key = await upload();
    app.host.elsewhere.add(key.body.data.fingerprint);
    expect((await me.call("DELETE", `/me/keys/${key.body.data.id}`)).status).toBe(500);
    expect(app.host.accounts.get(`ext_key-owner-${count}`)).toMatchObject({ open: false, file: [] });
    const admin = await app.admin();
    expect((await admin.call("GET", `/users/${id}`)).body.data.status).toBe("disabled");
  });

  test("disables the user even where the file can never be emptied", async () => {
    const key = await upload();
    app.host.failing.add("takeKey").add("shutAccount");
    expect((await me.call("DELETE", `/me/keys/${key.body.data.id}`)).status).toBe(500);
    const admin = await app.admin();
    expect((await admin.call("GET", `/users/${id}`)).body.data.status).toBe("disabled");
  });

  test("stands when the sessions cannot be ended, and disables the user", async () => {
    const key = await upload();
    app.host.failing.add("endProcesses");
    const answer = await me.call("DELETE", `/me/keys/${key.body.data.id}`);
    expect(answer.status).toBe(500);
    expect(answer.body.error).toMatch(/^The key is revoked, but its sessions could not be ended, so key-owner-/);
    expect(app.host.accounts.get(`ext_key-owner-${count}`)).toMatchObject({ open: false, file: [] });
    expect((await me.call("GET", "/me/keys")).body.data.items).toHaveLength(0);
    const admin = await app.admin();
    expect((await admin.call("GET", `/users/${id}`)).body.data.status).toBe("disabled");
    const [disable, revoke] = (await app.auditRows())
      .filter((audit) => /^(key.revoke|user.disable)$/.test(audit.action))
      .slice(-2);
    expect(disable).toMatchObject({ actorType: "system", result: "failed", resourceId: String(id) });
    expect(revoke).toMatchObject({ actorType: "user", result: "failed", resourceId: String(key.body.data.id) });
  });

  test("is 500 where the account is missing, as is an upload", async () => {
    const key = await upload();
    app.host.accounts.delete(`ext_key-owner-${count}`);
    expect((await upload()).status).toBe(500);
    expect((await me.call("DELETE", `/me/keys/${key.body.data.id}`)).status).toBe(500);
  });
});

describe("concurrent changes", () => {
  test("30 upload and revoke pairs on one user end with a file that equals the stored active keys", async () => {
    const pairs = Array.from({ length: 30 }, async (_, index) => {
      const made = await upload(me, freshKey(), `pair ${index}`);
      expect(made.status).toBe(201);
      if (index % 3 !== 0) expect((await me.call("DELETE", `/me/keys/${made.body.data.id}`)).status).toBe(200);
    });
    await Promise.all(pairs);
    const stored = (await me.call("GET", "/me/keys")).body.data.items.map(
      (key: { fingerprint: string }) => key.fingerprint,
    );
    expect(stored).toHaveLength(10);
    expect(fileOf()).toEqual(stored);
  });

  test("the limit of active keys holds", async () => {
    const answers = await Promise.all(Array.from({ length: 60 }, () => upload()));
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(50);
    expect(answers.filter((answer) => answer.status === 409)).toHaveLength(10);
  });
});
