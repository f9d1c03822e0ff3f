/** What users see of their own account: how to connect, until when, and whom to ask. */

import { afterEach, describe, expect, test } from "bun:test";
import { createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp | undefined;
afterEach(() => app?.close());

describe("GET /me", () => {
  test("names the account, its end, the host with its keys, and whom to ask", async () => {
    app = await createTestApp({ UAM_SSH_HOST: "ssh.example.org:2222", UAM_CONTACT: "help@example.org" });
    const { id, client } = await app.user("alice");
    const { body } = await client.call("GET", "/me");
    const stored = (await (await app.admin()).call("GET", `/users/${id}`)).body.data;
    expect(body.data).toEqual({
      id,
      username: "alice",
      host_account: "ext_alice",
      email: "alice@example.org",
      status: "active",
      expire_at: stored.expire_at,
      ssh: { host: "ssh.example.org", port: 2222, host_keys: await app.host.hostKeys() },
      contact: "help@example.org",
    });
  });

  test("reads as the user's state is now, with an empty contact where none is named", async () => {
    app = await createTestApp();
    const { id, client } = await app.user("bo");
    await (await app.admin()).call("POST", `/users/${id}/disable`);
    const { data } = (await client.call("GET", "/me")).body;
    expect([data.status, data.contact, data.ssh.port]).toEqual(["disabled", "", 22]);
  });

  test("is 401 for a user who was deleted", async () => {
    app = await createTestApp();
    const { id, client } = await app.user("cleo");
    await (await app.admin()).call("DELETE", `/users/${id}`);
    const { status, body } = await client.call("GET", "/me");
    expect([status, body]).toEqual([401, { error: "The user of this session was deleted" }]);
  });
});
