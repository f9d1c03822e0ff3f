/** What users see of their own account: how to connect, until when, and whom to ask. */

import { afterEach, describe, expect, test } from "bun:test";
import { DAY } from "../../../src/shared/time/clock.ts";
import { users } from "../../../src/store/schema.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp | undefined;
afterEach(() => app?.close());

/** The time so many days later. */
const days = (time: string, count: number) => new Date(Date.parse(time) + count * DAY).toISOString();

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
      supervisor: "",
      full_name: "",
      purpose: "",
      source_networks: [],
      manager: false,
      status: "active",
      expire_at: stored.expire_at,
      created_at: stored.created_at,
      ends: { at: stored.expire_at, reason: "expiry", removed_at: days(stored.expire_at, 30) },
      ssh: {
        host: "ssh.example.org",
        port: 2222,
        host_keys: [`SHA256:${"h".repeat(43)} (ED25519)`],
        command: "ssh -p 2222 ext_alice@ssh.example.org",
        config: "Host ssh.example.org\n  HostName ssh.example.org\n  User ext_alice\n  Port 2222",
        known_hosts: (await app.host.hostKeys()).map(({ base64 }) => `[ssh.example.org]:2222 ssh-ed25519 ${base64}`),
      },
      contact: "help@example.org",
      extension: null,
      ...{ access: "open", access_changes_at: null, on_request: null, profile: null },
    });
  });

  test("says when access is open, where it has hours, and of both calendars where the company has some", async () => {
    app = await createTestApp();
    // A Friday.
    app.clock.set(new Date("2026-11-27T10:00:00Z"));
    const { id, client } = await app.user("hanne");
    expect((await client.call("GET", "/me")).body.data).not.toHaveProperty("hours");
    const admin = await app.admin();
    const windows = [{ days: ["mon", "tue", "wed", "thu", "fri"], from: "08:00", to: "18:00" }];
    await admin.call("PATCH", `/users/${id}`, { hours: { zone: "Europe/Berlin", windows } });
    expect((await client.call("GET", "/me")).body.data.hours).toEqual({
      texts: ["mon-fri 08:00-18:00 Europe/Berlin"],
      zone: "Europe/Berlin",
      starts_at: null,
      access: "open",
      access_changes_at: "2026-11-27T17:00:00.000Z",
      next: { from: "2026-11-30T07:00:00.000Z", to: "2026-11-30T17:00:00.000Z" },
    });
    const limits = { hours: { zone: "UTC", windows: [{ days: ["tue"], from: "12:00", to: "24:00" }] } };
    const company = (await admin.call("POST", "/companies", { name: "Lindqvist AB", ...limits })).body.data;
    expect(company.hours).toEqual(limits.hours);
    await admin.call("PATCH", `/users/${id}`, { company_id: company.id });
    expect((await client.call("GET", "/me")).body.data.hours).toMatchObject({
      texts: ["mon-fri 08:00-18:00 Europe/Berlin", "tue 12:00-24:00 UTC"],
      access: "outside_hours",
      access_changes_at: "2026-12-01T12:00:00.000Z",
      next: { from: "2026-12-01T12:00:00.000Z", to: "2026-12-01T17:00:00.000Z" },
    });
    const preview = await admin.call("PATCH", `/companies/${company.id}?preview=true`, { hours: null });
    expect(preview.body.data).toMatchObject({ users: 0 });
    const lifted = await admin.call("PATCH", `/companies/${company.id}`, { hours: { zone: "UTC", windows: [] } });
    expect(lifted.body.data.hours).toBeNull();
    expect((await client.call("GET", "/me")).body.data.hours.access).toBe("open");
  });

  test("says when and why logins ended, and when the account is deleted by the setting in force", async () => {
    app = await createTestApp({ UAM_SESSION_TTL: "30d" });
    const { id, client } = await app.user("dora");
    const admin = await app.admin();
    const ends = async () => (await client.call("GET", "/me")).body.data.ends;
    const { at } = await ends();
    await admin.call("PUT", "/settings", { key: "policy.recycle_period", value: "40d" });
    expect(await ends()).toEqual({ at, reason: "expiry", removed_at: days(at, 40) });
    app.clock.advance(1000);
    await admin.call("POST", `/users/${id}/disable`);
    const since = app.clock.now().toISOString();
    app.clock.advance(1000);
    expect(await ends()).toEqual({ at: since, reason: "disabled", removed_at: days(at, 40) });
    await app.db.update(users).set({ expireAt: app.clock.now() });
    const now = app.clock.now().toISOString();
    expect(await ends()).toEqual({ at: now, reason: "expired", removed_at: days(now, 40) });
  });

  test("names no keys where the host does not give them", async () => {
    app = await createTestApp();
    const { client } = await app.user("eve");
    app.host.hostKeys = () => Promise.reject(new Error("no sshd"));
    const { ssh } = (await client.call("GET", "/me")).body.data;
    expect([ssh.host_keys, ssh.known_hosts, ssh.command]).toEqual([[], [], "ssh ext_eve@127.0.0.1"]);
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
