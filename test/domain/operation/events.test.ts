/** The specification's Events table: what each audited action records when it succeeds and when it fails. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { sendCode } from "../../../src/domain/auth/codes/otp.ts";
import { AUDIT_ACTIONS, type AuditAction } from "../../../src/shared/product/audit-actions.ts";
import { DAY, MINUTE, shift } from "../../../src/shared/time/clock.ts";
import { users } from "../../../src/store/schema.ts";
import { ADMIN_PASSWORD, type Client, confirming, createTestApp, type TestApp } from "../../support/app.ts";
import { freshKey } from "../../support/keys.ts";

let app: TestApp;
let admin: Client;
let count = 0;

beforeAll(async () => {
  app = await createTestApp({ UAM_SESSION_TTL: "30d" });
  admin = confirming(await app.admin());
});
afterAll(() => app.close());

const MISSING = 999_999;
const MACHINE = { name: "nightly report", role: "reviewer", days: 30, networks: ["192.0.2.0/24", "2001:db8::/32"] };
const HOOK = { url: "https://hooks.example.org/a-path-that-nobody-may-know" };
const err = expect.any(String);
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

interface Event {
  readonly action: AuditAction;
  readonly resourceType: "user" | "ssh_key" | "setting" | "token" | "webhook" | "";
  /** Brings about the event; returns what the record's resource_id must be, and what the detail depends on. */
  readonly succeed: () => Promise<Outcome>;
  readonly success: (outcome: Outcome) => Record<string, unknown>;
  readonly fail: () => Promise<string>;
  readonly failure: Record<string, unknown>;
}

interface Outcome {
  readonly id: string;
  readonly known?: string;
}

async function person() {
  app.clock.advance(MINUTE);
  const username = `event-${++count}`;
  return { username, ...(await app.user(username)) };
}

/** Whose access is on request. */
async function personOnRequest() {
  const made = await person();
  const onRequest = { rule: "self", max_hours: 4 };
  await expectStatus(200, admin.call("PATCH", `/users/${made.id}`, { on_request: onRequest }));
  return made;
}

async function personWithKey() {
  const made = await person();
  const { body } = await made.client.call("POST", "/me/keys", { name: "laptop", public_key: freshKey() });
  return { ...made, key: body.data.id as number, fingerprint: body.data.fingerprint as string };
}

/** Before everything that happens here. */
const ENDED = "2020-01-01T00:00:00.000Z";

/** An event of POST /users/:id/<verb> or another change to a user. */
function userEvent(
  action: AuditAction,
  call: (id: number) => Promise<{ readonly status: number }>,
  success: Record<string, unknown>,
  failure: Record<string, unknown> = { err },
): Event {
  return {
    action,
    resourceType: "user",
    succeed: async () => {
      const { id, username } = await person();
      if (action === "user.enable") await admin.call("POST", `/users/${id}/disable`);
      expect((await call(id)).status).toBe(200);
      return { id: String(id), known: username };
    },
    success: ({ known }) => ({ username: known, ...success }),
    fail: async () => {
      expect((await call(MISSING)).status).toBe(404);
      return String(MISSING);
    },
    failure,
  };
}

async function expectStatus(status: number, answer: Promise<{ readonly status: number }>, id = ""): Promise<string> {
  expect((await answer).status).toBe(status);
  return id;
}

const EVENTS: readonly Event[] = [
  {
    action: "auth.admin_login",
    resourceType: "",
    succeed: async () => {
      await app.admin();
      return { id: "" };
    },
    success: () => ({ username: "admin", way: "password" }),
    fail: () =>
      expectStatus(401, app.anonymous().call("POST", "/auth/admin/login", { username: "admin", password: "wrong" })),
    failure: { username: "admin", err },
  },
  {
    action: "auth.otp_send",
    resourceType: "",
    succeed: async () => {
      const { username } = await person();
      app.clock.advance(MINUTE);
      await sendCode(app.system, username, await app.captcha());
      return { id: "", known: username };
    },
    success: ({ known }) => ({ username: known, channel: "mail" }),
    fail: async () => {
      await sendCode(app.system, "nobody-here", await app.captcha());
      return "";
    },
    // Nobody has that name: it may be a password.
    failure: { channel: "mail", err },
  },
  {
    action: "auth.otp_login",
    resourceType: "",
    succeed: async () => ({ id: "", known: (await person()).username }),
    success: ({ known }) => ({ username: known }),
    fail: () =>
      expectStatus(401, app.anonymous().call("POST", "/auth/otp/login", { username: "nobody", code: "12345678" })),
    failure: { err },
  },
  {
    action: "auth.logout",
    resourceType: "",
    succeed: async () => {
      await expectStatus(200, (await person()).client.call("POST", "/auth/logout"));
      return { id: "" };
    },
    success: () => ({}),
    fail: async () => {
      const { client } = await person();
      await app.alter(`
        create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
        create trigger refuse before delete on sessions for each row execute function refuse()`);
      const answer = await client.call("POST", "/auth/logout");
      await app.alter("drop trigger refuse on sessions");
      return expectStatus(500, Promise.resolve(answer));
    },
    failure: { err },
  },
  {
    action: "auth.admin_forgot",
    resourceType: "",
    succeed: async () => {
      app.clock.advance(MINUTE);
      await expectStatus(200, app.anonymous().call("POST", "/auth/admin/forgot", { username: "admin" }));
      return { id: "" };
    },
    success: () => ({ username: "admin" }),
    fail: () => expectStatus(200, app.anonymous().call("POST", "/auth/admin/forgot", { username: "nobody" })),
    failure: { err },
  },
  {
    action: "auth.admin_reset",
    resourceType: "",
    succeed: async () => {
      app.clock.advance(MINUTE);
      await app.anonymous().call("POST", "/auth/admin/forgot", { username: "admin" });
      const text = (await app.mails("admin@example.org")).at(-1)?.text ?? "";
      const token = /^ +([A-Za-z0-9_-]{43})$/m.exec(text)?.[1];
      const body = { token, new_password: ADMIN_PASSWORD };
      await expectStatus(200, app.anonymous().call("POST", "/auth/admin/reset", body));
      admin = confirming(await app.admin());
      return { id: "" };
    },
    success: () => ({}),
    fail: () =>
      expectStatus(
        400,
        app.anonymous().call("POST", "/auth/admin/reset", { token: "x", new_password: ADMIN_PASSWORD }),
      ),
    failure: { err },
  },
  {
    action: "auth.admin_password",
    resourceType: "",
    succeed: async () => {
      const body = { password: ADMIN_PASSWORD, new_password: ADMIN_PASSWORD };
      await expectStatus(200, admin.call("POST", "/auth/admin/password", body));
      return { id: "" };
    },
    success: () => ({ username: "admin" }),
    fail: () =>
      expectStatus(
        403,
        admin.call("POST", "/auth/admin/password", { password: "wrong", new_password: ADMIN_PASSWORD }),
      ),
    failure: { username: "admin", err },
  },
  {
    action: "user.create",
    resourceType: "user",
    succeed: async () => {
      const username = `event-${++count}`;
      const { body } = await admin.call("POST", "/users", { username, email: "e@example.org" });
      return { id: String(body.data.id), known: username };
    },
    success: ({ known }) => ({ username: known, email: "e@example.org", expire_at: time }),
    fail: () => expectStatus(400, admin.call("POST", "/users", { username: "Not Valid", email: "e@example.org" })),
    failure: { username: "Not Valid", err },
  },
  userEvent("user.update", (id) => admin.call("PATCH", `/users/${id}`, { email: "n@example.org", purpose: "" }), {
    email: "n@example.org",
    old_email: expect.stringMatching(/^event-\d+@example\.org$/),
    purpose: "",
    old_purpose: "",
  }),
  userEvent("user.disable", (id) => admin.call("POST", `/users/${id}/disable`), { status: "disabled" }),
  userEvent("user.enable", (id) => admin.call("POST", `/users/${id}/enable`), { status: "active" }),
  {
    action: "user.welcome",
    resourceType: "user",
    succeed: async () => {
      const { id, username } = await person();
      await app.db.update(users).set({ welcomePendingSince: app.clock.now() }).where(eq(users.id, id));
      expect((await admin.call("POST", `/users/${id}/welcome`)).status).toBe(200);
      return { id: String(id), known: username };
    },
    success: ({ known }) => ({ username: known, email: expect.any(String) }),
    fail: async () => {
      const { id } = await person();
      return await expectStatus(409, admin.call("POST", `/users/${id}/welcome`), String(id));
    },
    failure: { username: expect.any(String), err },
  },
  userEvent(
    "user.extend",
    (id) => admin.call("POST", `/users/${id}/extend`, { days: 3 }),
    { days: 3, old_status: "active", old_expire_at: time, expire_at: time },
    { days: 3, err },
  ),
  {
    action: "user.shorten",
    resourceType: "user",
    succeed: async () => {
      const { id, username } = await person();
      const until = shift(app.clock.now(), DAY).toISOString();
      expect((await admin.call("POST", `/users/${id}/extend`, { until })).status).toBe(200);
      return { id: String(id), known: username };
    },
    success: ({ known }) => ({ username: known, until: time, old_expire_at: time, expire_at: time }),
    fail: async () => {
      const { id } = await person();
      return await expectStatus(400, admin.call("POST", `/users/${id}/extend`, { until: ENDED }), String(id));
    },
    failure: { username: expect.any(String), until: ENDED, err },
  },
  userEvent("user.delete", (id) => admin.call("DELETE", `/users/${id}`), {
    status: "deleted",
    email: expect.stringMatching(/^event-\d+@example\.org$/),
    supervisor: "",
    purpose: "",
    full_name: "",
    note: "",
    keys: 0,
    uid: expect.any(Number),
    expire_at: time,
  }),
  {
    action: "user.lock",
    resourceType: "user",
    succeed: async () => {
      const { id, username, client } = await person();
      return { id: await expectStatus(200, client.call("POST", "/me/lock"), String(id)), known: username };
    },
    success: ({ known }) => ({ username: known, status: "disabled" }),
    fail: async () => {
      const { id, client } = await person();
      await admin.call("POST", `/users/${id}/disable`);
      return expectStatus(409, client.call("POST", "/me/lock"), String(id));
    },
    failure: { username: expect.stringMatching(/^event-/), err },
  },
  {
    action: "extension.request",
    resourceType: "user",
    succeed: async () => {
      const { id, username, client } = await person();
      const { body } = await client.call("POST", "/me/extension", { days: 5, reason: "more tests" });
      return { id: String(id), known: `${body.data.id} ${username}` };
    },
    success: ({ known = "" }) => ({ application: Number(known.split(" ")[0]), username: known.split(" ")[1], days: 5 }),
    fail: async () => {
      const { id, client } = await person();
      return expectStatus(400, client.call("POST", "/me/extension", { days: 366, reason: "more tests" }), String(id));
    },
    failure: { username: expect.stringMatching(/^event-/), days: 366, err },
  },
  {
    action: "extension.withdraw",
    resourceType: "user",
    succeed: async () => {
      const { id, username, client } = await person();
      const { body } = await client.call("POST", "/me/extension", { days: 5, reason: "more tests" });
      await client.call("DELETE", "/me/extension");
      return { id: String(id), known: `${body.data.id} ${username}` };
    },
    success: ({ known = "" }) => ({ application: Number(known.split(" ")[0]), username: known.split(" ")[1] }),
    fail: async () => {
      const { id, client } = await person();
      return expectStatus(404, client.call("DELETE", "/me/extension"), String(id));
    },
    failure: { username: expect.stringMatching(/^event-/), err },
  },
  {
    action: "access.request",
    resourceType: "user",
    succeed: async () => {
      const { id, username, client } = await personOnRequest();
      await client.call("POST", "/me/access", { hours: 2, reason: "deploy" });
      return { id: String(id), known: username };
    },
    success: ({ known }) => ({ username: known, hours: 2, reason: "deploy" }),
    fail: async () => {
      const { id, client } = await personOnRequest();
      return expectStatus(409, client.call("POST", "/me/access", { hours: 9, reason: "deploy" }), String(id));
    },
    failure: { username: expect.stringMatching(/^event-/), hours: 9, reason: "deploy", err },
  },
  {
    action: "access.allow",
    resourceType: "user",
    succeed: async () => {
      const { id, username, client } = await personOnRequest();
      await client.call("POST", "/me/access", { hours: 2, reason: "deploy" });
      return { id: String(id), known: username };
    },
    success: ({ known }) => ({ username: known, hours: 2, until: expect.stringMatching(/Z$/) }),
    fail: async () => {
      const { id, client } = await personOnRequest();
      app.host.failing.add("openAccount");
      const failed = await expectStatus(
        500,
        client.call("POST", "/me/access", { hours: 2, reason: "deploy" }),
        String(id),
      );
      app.host.failing.clear();
      return failed;
    },
    failure: { username: expect.stringMatching(/^event-/), err },
  },
  {
    action: "access.end",
    resourceType: "user",
    succeed: async () => {
      const { id, username, client } = await personOnRequest();
      await client.call("POST", "/me/access", { hours: 2, reason: "deploy" });
      return { id: await expectStatus(200, client.call("DELETE", "/me/access"), String(id)), known: username };
    },
    success: ({ known }) => ({ username: known, until: expect.stringMatching(/Z$/) }),
    fail: async () => {
      const { id, client } = await person();
      return expectStatus(409, client.call("DELETE", "/me/access"), String(id));
    },
    failure: { username: expect.stringMatching(/^event-/), err },
  },
  {
    action: "key.create",
    resourceType: "ssh_key",
    succeed: async () => {
      const { username, key, fingerprint } = await personWithKey();
      return { id: String(key), known: `${username} ${fingerprint}` };
    },
    success: ({ known = "" }) => ({
      username: known.split(" ")[0],
      name: "laptop",
      fingerprint: known.split(" ")[1],
    }),
    fail: async () =>
      expectStatus(400, (await person()).client.call("POST", "/me/keys", { name: "bad", public_key: "nonsense" })),
    failure: { username: expect.stringMatching(/^event-/), name: "bad", err },
  },
  {
    action: "key.update",
    resourceType: "ssh_key",
    succeed: async () => {
      const { client, key, username } = await personWithKey();
      const changes = { name: "desk", source_networks: ["192.0.2.0/24"] };
      const id = await expectStatus(200, client.call("PATCH", `/me/keys/${key}`, changes), String(key));
      return { id, known: username };
    },
    success: ({ known }) => ({
      username: known,
      fingerprint: expect.stringMatching(/^SHA256:/),
      name: "desk",
      old_name: expect.any(String),
      source_networks: "192.0.2.0/24",
      old_source_networks: "",
    }),
    fail: async () => {
      const { client, key } = await personWithKey();
      return expectStatus(400, client.call("PATCH", `/me/keys/${key}`, { source_networks: ["x"] }), String(key));
    },
    failure: {
      username: expect.stringMatching(/^event-/),
      name: expect.any(String),
      fingerprint: expect.stringMatching(/^SHA256:/),
      err,
    },
  },
  {
    action: "key.rename",
    resourceType: "ssh_key",
    succeed: async () => {
      const { client, key, username } = await personWithKey();
      const id = await expectStatus(200, client.call("PATCH", `/me/keys/${key}`, { name: "desk" }), String(key));
      return { id, known: username };
    },
    success: ({ known }) => ({ username: known, name: "desk" }),
    fail: async () => {
      const { client, key } = await personWithKey();
      return expectStatus(400, client.call("PATCH", `/me/keys/${key}`, { name: "" }), String(key));
    },
    failure: { username: expect.stringMatching(/^event-/), err },
  },
  {
    action: "key.revoke",
    resourceType: "ssh_key",
    succeed: async () => {
      const { client, key, fingerprint, username } = await personWithKey();
      await expectStatus(200, client.call("DELETE", `/me/keys/${key}`));
      return { id: String(key), known: `${username} ${fingerprint}` };
    },
    success: ({ known = "" }) => ({
      username: known.split(" ")[0],
      fingerprint: known.split(" ")[1],
      status: "revoked",
    }),
    fail: async () => expectStatus(404, (await person()).client.call("DELETE", `/me/keys/${MISSING}`), String(MISSING)),
    failure: { username: expect.stringMatching(/^event-/), err },
  },
  {
    action: "session.end",
    resourceType: "user",
    succeed: async () => {
      const { id, username } = await person();
      const session = { id: `${count}0000001`, account: `ext_${username}`, from: "192.0.2.7", fingerprint: undefined };
      app.host.sessionsOpen.push({ ...session, since: app.clock.now() });
      await expectStatus(200, admin.call("DELETE", `/users/${id}/sessions/${session.id}`));
      return { id: String(id), known: `${username} ${session.id}` };
    },
    success: ({ known = "" }) => ({
      ...{ username: known.split(" ")[0], session: known.split(" ")[1] },
      ...{ from: "192.0.2.7", since: time },
    }),
    fail: () => expectStatus(404, admin.call("DELETE", `/users/${MISSING}/sessions/10000001`), String(MISSING)),
    failure: { session: "10000001", err },
  },
  {
    action: "approval.submit",
    resourceType: "",
    succeed: async () => {
      const username = `event-${++count}`;
      const { body } = await app.anonymous().call("POST", "/approvals", { username, email: "e@example.org" });
      return { id: "", known: `${body.data.id} ${username}` };
    },
    success: ({ known = "" }) => ({ application: Number(known.split(" ")[0]), username: known.split(" ")[1] }),
    fail: () =>
      expectStatus(400, app.anonymous().call("POST", "/approvals", { username: "ext_x", email: "e@example.org" })),
    failure: { username: "ext_x", err },
  },
  {
    action: "approval.review",
    resourceType: "",
    succeed: async () => {
      const username = `event-${++count}`;
      const { body } = await app.anonymous().call("POST", "/approvals", { username, email: "e@example.org" });
      await expectStatus(200, admin.call("POST", `/approvals/${body.data.id}/review`, { approve: true }));
      return { id: "", known: `${body.data.id} ${username}` };
    },
    success: ({ known = "" }) => ({
      application: Number(known.split(" ")[0]),
      username: known.split(" ")[1],
      approve: true,
      outcome: "approved",
    }),
    fail: () => expectStatus(404, admin.call("POST", `/approvals/${MISSING}/review`, { approve: true })),
    failure: { application: MISSING, approve: true, err },
  },
  {
    action: "settings.update",
    resourceType: "setting",
    succeed: async () => {
      await expectStatus(200, admin.call("PUT", "/settings", { key: "policy.default_ttl", value: "60d" }));
      return { id: "policy.default_ttl" };
    },
    success: () => ({ value: "60d", overridden: true, old_value: "90d" }),
    fail: () =>
      expectStatus(
        400,
        admin.call("PUT", "/settings", { key: "policy.default_ttl", value: "0" }),
        "policy.default_ttl",
      ),
    failure: { err },
  },
  {
    action: "token.create",
    resourceType: "token",
    succeed: async () => {
      const { body } = await admin.call("POST", "/tokens", { ...MACHINE, password: ADMIN_PASSWORD });
      return { id: String(body.data.id), known: body.data.prefix };
    },
    success: ({ known }) => ({
      ...{ administrator: "admin", name: MACHINE.name, role: "reviewer", days: 30 },
      ...{ networks: "192.0.2.0/24 2001:db8::/32", prefix: known, expires_at: time },
    }),
    fail: () => expectStatus(400, admin.call("POST", "/tokens", { ...MACHINE, days: 367, password: ADMIN_PASSWORD })),
    failure: { administrator: "admin", name: MACHINE.name, role: "reviewer", days: 367, err },
  },
  {
    action: "token.revoke",
    resourceType: "token",
    succeed: async () => {
      const { body } = await admin.call("POST", "/tokens", { ...MACHINE, password: ADMIN_PASSWORD });
      await expectStatus(200, admin.call("DELETE", `/tokens/${body.data.id}`));
      return { id: String(body.data.id), known: body.data.prefix };
    },
    success: ({ known }) => ({ administrator: "admin", name: MACHINE.name, role: "reviewer", prefix: known }),
    fail: () => expectStatus(404, admin.call("DELETE", `/tokens/${MISSING}`), String(MISSING)),
    failure: { err },
  },
  {
    action: "webhook.create",
    resourceType: "webhook",
    succeed: async () => {
      const { body } = await admin.call("POST", "/webhooks", { ...HOOK, actions: ["user.delete", "user.create"] });
      return { id: String(body.data.id) };
    },
    success: () => ({ to: "https://hooks.example.org", actions: "user.create user.delete" }),
    fail: () => expectStatus(400, admin.call("POST", "/webhooks", { url: "https://10.0.0.1/" })),
    failure: { err },
  },
  {
    action: "webhook.update",
    resourceType: "webhook",
    succeed: async () => {
      const { body } = await admin.call("POST", "/webhooks", HOOK);
      const changes = { url: "https://other.example.org/x", actions: ["user.create"], status: "disabled" };
      await expectStatus(200, admin.call("PATCH", `/webhooks/${body.data.id}`, changes));
      return { id: String(body.data.id) };
    },
    success: () => ({
      ...{ to: "https://other.example.org", previous: "https://hooks.example.org" },
      ...{ actions: "user.create", status: "disabled" },
    }),
    fail: () => expectStatus(404, admin.call("PATCH", `/webhooks/${MISSING}`, { status: "active" }), String(MISSING)),
    failure: { err },
  },
  {
    action: "webhook.delete",
    resourceType: "webhook",
    succeed: async () => {
      const { body } = await admin.call("POST", "/webhooks", HOOK);
      await expectStatus(200, admin.call("DELETE", `/webhooks/${body.data.id}`));
      return { id: String(body.data.id) };
    },
    success: () => ({ to: "https://hooks.example.org" }),
    fail: () => expectStatus(404, admin.call("DELETE", `/webhooks/${MISSING}`), String(MISSING)),
    failure: { err },
  },
];

/** Their operations, and their tests, are in hosts/ and wire/. */
const FLEET = AUDIT_ACTIONS.filter((action) => /^(?:host|host_token|host_group|fleet)\.|^user\.grant$/.test(action));

/** Their operations, and their tests, are in companies/, sponsors/ and decisions/. */
const COMPANIES = AUDIT_ACTIONS.filter((action) => /^(?:company|sponsor)\./.test(action));

/** Their operations, and their tests, are in reviews/. */
const REVIEWS = AUDIT_ACTIONS.filter((action) => action.startsWith("review."));

/** Their operations, and their tests, are in profiles/. */
const PROFILES = AUDIT_ACTIONS.filter((action) => action.startsWith("profile."));

/** Their operations, and their tests, are in adoption/, users/terms.ts, lifecycle/, in auth/, server/api/handlers/admins.ts, and at the command line. */
const ELSEWHERE: readonly AuditAction[] = [
  ...(["lifecycle.expire", "lifecycle.recycle", "audit.purge", "reconcile.repair"] as const),
  ...(["admin.create", "admin.update", "admin.remove", "service.backup", "service.restore"] as const),
  ...(["auth.sso_logout", "admin.readmit"] as const),
  ...(["admin.end_sessions", "auth.passkey_add", "auth.passkey_rename", "auth.passkey_remove"] as const),
  ...(["auth.totp_add", "auth.totp_remove", "auth.admin_password_only", "auth.changes_refused"] as const),
  ...(["user.end_sessions", "user.terms", "user.export", "audit.export", "audit.read"] as const),
  ...(["user.adopt", "user.give_back", "key.confirm", "key.dismiss", "access.window", "access.refuse"] as const),
];

describe("the Events table", () => {
  test("names every action there is", () => {
    expect(
      [...EVENTS.map(({ action }) => action), ...ELSEWHERE, ...FLEET, ...COMPANIES, ...REVIEWS, ...PROFILES].sort(),
    ).toEqual([...AUDIT_ACTIONS].sort());
  });

  test.each(EVENTS.map((event) => [event.action, event] as const))("%s on success", async (action, event) => {
    const outcome = await event.succeed();
    expect(await app.lastAudit(action)).toMatchObject({
      resourceType: event.resourceType,
      resourceId: outcome.id,
      result: "success",
    });
    expect((await app.lastAudit(action)).detail).toEqual(event.success(outcome));
  });

  test.each(EVENTS.map((event) => [event.action, event] as const))("%s on failure", async (action, event) => {
    const resourceId = await event.fail();
    expect(await app.lastAudit(action)).toMatchObject({
      resourceType: event.resourceType,
      resourceId,
      result: "failed",
    });
    expect((await app.lastAudit(action)).detail).toEqual(event.failure);
  });

  test("users find what they did and what was done to them in their own trail, and nothing else", async () => {
    const other = await personWithKey();
    const { id, client, key, username } = await personWithKey();
    await client.call("DELETE", `/me/keys/${key}`);
    await admin.call("POST", `/users/${id}/disable`);
    await other.client.call("POST", "/auth/logout");
    const { body } = await client.call("GET", "/me/audit");
    const trail = body.data.items.map((row: { action: string; actor: string }) => `${row.action} by ${row.actor}`);
    expect(trail).toEqual([
      "user.disable by admin",
      `key.revoke by ${username}`,
      `key.create by ${username}`,
      `auth.otp_login by ${username}`,
      "auth.otp_send by operator",
      "user.create by admin",
    ]);
    expect(body.data.total).toBe(6);
  });

  test("passwords, codes, tokens and whole keys are in no record", async () => {
    const text = JSON.stringify(await app.auditRows());
    expect(text).not.toContain(ADMIN_PASSWORD);
    expect(text).not.toContain("12345678");
    expect(text).not.toContain("AAAAC3NzaC1lZDI1NTE5");
    for (const mail of await app.mails()) {
      for (const secret of mail.text.match(/^ +([A-Za-z0-9_-]{43}|\d{8})$/gm) ?? []) {
        expect(text).not.toContain(secret.trim());
      }
    }
  });
});
