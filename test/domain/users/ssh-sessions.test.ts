import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { MINUTE } from "../../../src/shared/time/clock.ts";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { freshKey } from "../../support/keys.ts";

let app: TestApp;
let admin: Client;
let count = 0;

beforeAll(async () => {
  app = await createTestApp({ UAM_SESSION_TTL: "30d" });
  admin = await app.admin();
});
beforeEach(() => app.clock.advance(MINUTE));
afterEach(() => {
  app.host.failing.clear();
  app.host.sessionsOpen.length = 0;
});
afterAll(() => app.close());

const SINCE = new Date("2026-11-20T08:00:00Z");

/** A user who is logged in twice: with their key, and by something that no log proves. */
async function person() {
  const username = `shell-${++count}`;
  const made = await app.user(username);
  const { body } = await made.client.call("POST", "/me/keys", { name: "laptop", public_key: freshKey() });
  const open = { account: `ext_${username}`, since: SINCE, from: "192.0.2.7" };
  const proven = { ...open, id: `${count}0000001234`, fingerprint: body.data.fingerprint as string };
  const unproven = { ...open, id: `${count}0000005678`, from: "", fingerprint: undefined };
  app.host.sessionsOpen.push(proven, unproven);
  return { username, ...made, key: body.data, proven, unproven };
}

describe("listSshSessions()", () => {
  test("lists the open logins, with the user's own key where it is proven", async () => {
    const { id, key, proven, unproven } = await person();
    const { status, body } = await admin.call("GET", `/users/${id}/sessions`);
    expect([status, body.data.items]).toEqual([
      200,
      [
        {
          id: proven.id,
          since: SINCE.toISOString(),
          from: "192.0.2.7",
          key: { id: key.id, name: "laptop", fingerprint: key.fingerprint },
        },
        { id: unproven.id, since: SINCE.toISOString(), from: "", key: null },
      ],
    ]);
  });

  test("names a key that is revoked, and none that is another user's or that nobody stored", async () => {
    const one = await person();
    const other = await person();
    await one.client.call("DELETE", `/me/keys/${one.key.id}`);
    app.host.sessionsOpen.push({ ...one.unproven, id: "70000001", fingerprint: other.key.fingerprint });
    app.host.sessionsOpen.push({ ...one.unproven, id: "80000001", fingerprint: `SHA256:${"z".repeat(43)}` });
    const { items } = (await admin.call("GET", `/users/${one.id}/sessions`)).body.data;
    expect(items.map((session: { key: { id: number } | null }) => session.key?.id)).toEqual([
      one.key.id,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("says what the host said if it cannot be asked", async () => {
    const { id } = await person();
    app.host.failing.add("sessions");
    const { status, body } = await admin.call("GET", `/users/${id}/sessions`);
    expect([status, body.error]).toEqual([500, "The host refused: sessions"]);
  });
});

describe("endSshSession()", () => {
  test("ends that session and no other, and records who it was, in the user's trail too", async () => {
    const { id, username, client, proven, unproven } = await person();
    const answer = await admin.call("DELETE", `/users/${id}/sessions/${proven.id}`);
    expect([answer.status, answer.body]).toEqual([200, { data: { status: "ended" } }]);
    expect(app.host.sessionsOpen.map((session) => session.id)).toEqual([unproven.id]);
    expect(await app.lastAudit("session.end")).toMatchObject({
      ...{ actorType: "admin", actor: "admin", resourceType: "user", resourceId: String(id), result: "success" },
      detail: {
        ...{ session: proven.id, username, from: "192.0.2.7", since: SINCE.toISOString() },
        fingerprint: proven.fingerprint,
      },
    });
    const trail = (await client.call("GET", "/me/audit")).body.data.items;
    expect(trail[0]).toMatchObject({ action: "session.end", actor: "admin" });
    // The user may come back.
    expect((await admin.call("GET", `/users/${id}`)).body.data.status).toBe("active");
  });

  test("of a session that is over, another user's, or nobody's is 404, ends nothing, and is recorded", async () => {
    const one = await person();
    const other = await person();
    for (const session of [other.proven.id, "123", "0", "9".repeat(50)]) {
      const answer = await admin.call("DELETE", `/users/${one.id}/sessions/${session}`);
      expect([session, answer.status]).toEqual([session, 404]);
      expect(answer.body.error).toBe("There is no such session, or it has already ended");
      expect(await app.lastAudit("session.end")).toMatchObject({
        ...{ resourceId: String(one.id), result: "failed" },
        detail: { session, err: answer.body.error },
      });
    }
    expect(app.host.sessionsOpen).toHaveLength(4);
    expect(app.host.calls.filter((call) => call.startsWith("endSession"))).not.toContain(
      `endSession ext_${one.username}`,
    );
  });

  test("by two administrators at once ends it once", async () => {
    const { id, proven } = await person();
    const path = `/users/${id}/sessions/${proven.id}`;
    const answers = await Promise.all([admin.call("DELETE", path), admin.call("DELETE", path)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404]);
  });

  test("that the host cannot finish is 500 with its sentence, and recorded as failed", async () => {
    const { id, proven } = await person();
    app.host.failing.add("endSession");
    const { status, body } = await admin.call("DELETE", `/users/${id}/sessions/${proven.id}`);
    expect([status, body.error]).toEqual([500, expect.stringContaining("The host refused: endSession")]);
    expect(await app.lastAudit("session.end")).toMatchObject({ result: "failed", detail: { session: proven.id } });
  });

  test("that cannot be recorded says so: the session is over all the same", async () => {
    const { id, proven, unproven } = await person();
    await app.alter(`
      create function no_end() returns trigger language plpgsql as $$ begin
        if new.action = 'session.end' then raise exception 'disk full'; end if; return new; end $$;
      create trigger no_end before insert on audit for each row execute function no_end()`);
    const { status, body } = await admin.call("DELETE", `/users/${id}/sessions/${proven.id}`);
    await app.alter("drop trigger no_end on audit; drop function no_end()");
    expect([status, body.error]).toEqual([
      500,
      "The session has ended, but the database failed before this could be recorded.",
    ]);
    expect(app.host.sessionsOpen.map((session) => session.id)).toEqual([unproven.id]);
  });

  test("with a user's id that is too large is recorded with that id, not the session's", async () => {
    const large = "99999999999999999999";
    expect((await admin.call("DELETE", `/users/${large}/sessions/12345678901234567890`)).status).toBe(404);
    expect(await app.lastAudit("session.end")).toMatchObject({ resourceId: large, result: "failed" });
  });
});

describe("revokeKey() by an administrator", () => {
  test("revokes the key at once, mails the user, and is recorded in the administrator's name", async () => {
    const { id, username, key } = await person();
    const answer = await admin.call("DELETE", `/users/${id}/keys/${key.id}`);
    expect(answer.status).toBe(200);
    expect(answer.body.data).toMatchObject({ id: key.id, status: "revoked", revoked_at: expect.any(String) });
    expect(app.host.accounts.get(`ext_${username}`)?.file).toEqual([]);
    expect(await app.lastAudit("key.revoke")).toMatchObject({
      ...{ actorType: "admin", actor: "admin", resourceId: String(key.id), result: "success" },
      detail: { username, fingerprint: key.fingerprint },
    });
    const mail = (await app.mails(`${username}@example.org`)).at(-1);
    expect(mail?.text).toContain(key.fingerprint);
    expect((await admin.call("DELETE", `/users/${id}/keys/${key.id}`)).status).toBe(404);
  });

  test("never revokes a key through another user", async () => {
    const one = await person();
    const other = await person();
    expect((await admin.call("DELETE", `/users/${one.id}/keys/${other.key.id}`)).status).toBe(404);
    expect((await admin.call("DELETE", `/users/999999/keys/${other.key.id}`)).status).toBe(404);
    expect((await admin.call("GET", `/users/${other.id}/keys`)).body.data.items).toHaveLength(1);
  });

  test("that the host cannot do disables the user instead, and says so", async () => {
    const { id, key } = await person();
    app.host.failing.add("takeKey");
    const { status, body } = await admin.call("DELETE", `/users/${id}/keys/${key.id}`);
    expect([status, body.error]).toEqual([500, expect.stringContaining("was disabled, so it gives no access")]);
    expect((await admin.call("GET", `/users/${id}`)).body.data.status).toBe("disabled");
  });
});
