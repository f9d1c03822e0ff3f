import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { freeKey } from "../../../src/domain/keys/free.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { freshKey } from "../../support/keys.ts";

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

describe("freeKey()", () => {
  test("revokes the key of whoever uploaded it first, so that its owner can", async () => {
    const thief = await app.user("thief");
    const owner = await app.user("owner");
    const key = { name: "laptop", public_key: freshKey() };
    const taken = await thief.client.call("POST", "/me/keys", key);
    const { fingerprint } = taken.body.data;
    const refused = await owner.client.call("POST", "/me/keys", key);
    expect([refused.status, refused.body.error]).toEqual([
      409,
      `A key with the fingerprint ${fingerprint} is already active on this host. Is it yours, but you did not add it? Ask the administrators of this host.`,
    ]);

    const freed = await freeKey(app.system, fingerprint);
    expect(freed).toMatchObject({ holder: { username: "thief" }, key: { id: taken.body.data.id, status: "revoked" } });
    expect(app.host.accounts.get("ext_thief")?.file).toEqual([]);
    expect(app.host.calls).toContain("takeKey ext_thief");
    expect(await app.lastAudit("key.revoke")).toMatchObject({
      actorType: "cli",
      result: "success",
      resourceId: String(taken.body.data.id),
      subjectId: thief.id,
      detail: { fingerprint },
    });
    expect((await owner.client.call("POST", "/me/keys", key)).status).toBe(201);
    expect(app.host.accounts.get("ext_owner")?.file).toEqual([fingerprint]);
  });

  test("refuses what is not a fingerprint, and one that nobody has", async () => {
    await expect(freeKey(app.system, "MD5:aa:bb")).rejects.toThrow("as ssh-keygen -l prints it");
    const unknown = `SHA256:${"A".repeat(43)}`;
    await expect(freeKey(app.system, unknown)).rejects.toThrow(`No active key has the fingerprint ${unknown}`);
  });
});
