/** The permission is looked at again behind every wait: for a row, for the log's head, and before the host. What began to take access away goes on. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import { addAdmin } from "../../../src/domain/auth/administrators/add-admin.ts";
import { removeAdmin, updateAdmin } from "../../../src/domain/auth/administrators/admin-changes.ts";
import { disableUser } from "../../../src/domain/users/users.ts";
import { users } from "../../../src/store/schema.ts";
import { ADMIN_PASSWORD, type Answer, type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { freshKey } from "../../support/keys.ts";
import { storedState } from "../../support/stored-state.ts";
import { untilWaiting } from "../../support/waiting.ts";

setDefaultTimeout(180_000);

let app: TestApp;
let count = 0;

beforeAll(async () => {
  app = await createTestApp({ UAM_SESSION_TTL: "30d" });
});
afterAll(() => app.close());

async function operator() {
  const name = `operator-${++count}`;
  await addAdmin(app.system, name, `${name}@example.org`, ADMIN_PASSWORD, "operator");
  const client = app.anonymous();
  await client.call("POST", "/auth/admin/login", { username: name, password: ADMIN_PASSWORD });
  return { name, client };
}

async function person() {
  const username = `person-${++count}`;
  const { id, client } = await app.user(username);
  const key = await client.call("POST", "/me/keys", { name: "Laptop", public_key: freshKey() });
  return { id, username, client, key: key.body.data.id as number };
}

const answerOf = ({ status, headers }: Answer) => [status, headers.get("uam-error")];

/** Begins the request while `lock` is held, takes the permission away once it waits for that, and lets it go on. */
async function behind(
  lock: "user" | "head",
  {
    id,
    ask,
    lose,
  }: { readonly id: number; readonly ask: () => Promise<Answer>; readonly lose: () => Promise<unknown> },
): Promise<{ readonly answer: Answer; readonly changed: boolean }> {
  let asked: Promise<Answer> | undefined;
  let before = "";
  await app.db.transaction(async (tx) => {
    if (lock === "user") await tx.select().from(users).where(eq(users.id, id)).for("update");
    else await tx.execute(sql`select id from audit_next('', 'auth.logout', '', '', null)`);
    asked = ask();
    await untilWaiting(app.db);
    // A removal takes the log's head itself: what it does is done with it in hand.
    if (lock === "user") await lose();
    else await tx.execute(sql`delete from sessions where username like 'operator-%' or username like 'person-%'`);
    before = await storedState({ db: tx as never, host: app.host });
  });
  const answer = (await asked) as Answer;
  return { answer, changed: (await storedState(app)) !== before };
}

describe("behind a user's row", () => {
  const CHANGES: Readonly<Record<string, (client: Client, id: number, key: number) => Promise<Answer>>> = {
    "a change of address": (client, id) => client.call("PATCH", `/users/${id}`, { email: "mine@example.org" }),
    "networks that widen": (client, id) => client.call("PATCH", `/users/${id}`, { source_networks: [] }),
    "networks that narrow": (client, id) => client.call("PATCH", `/users/${id}`, { source_networks: ["192.0.2.1/32"] }),
    disabling: (client, id) => client.call("POST", `/users/${id}/disable`),
    extending: (client, id) => client.call("POST", `/users/${id}/extend`),
    deleting: (client, id) => client.call("DELETE", `/users/${id}`),
    "revoking a key": (client, id, key) => client.call("DELETE", `/users/${id}/keys/${key}`),
  };

  test.each(Object.entries(CHANGES))("%s is refused for who was removed", async (_, ask) => {
    const [{ name, client }, { id, key }] = [await operator(), await person()];
    const lose = () => removeAdmin(app.system, name);
    const { answer, changed } = await behind("user", { id, ask: () => ask(client, id, key), lose });
    expect([...answerOf(answer), changed]).toEqual([401, "session.missing", false]);
  });

  test.each(Object.entries(CHANGES))("%s is refused for who was demoted", async (_, ask) => {
    const [{ name, client }, { id, key }] = [await operator(), await person()];
    const lose = () => updateAdmin(app.system, name, { role: "auditor" });
    const { answer, changed } = await behind("user", { id, ask: () => ask(client, id, key), lose });
    expect([...answerOf(answer), changed]).toEqual([403, "role.insufficient", false]);
  });

  test("enabling does not touch the host any more", async () => {
    const [{ name, client }, { id }] = [await operator(), await person()];
    await disableUser(app.system, id);
    const ask = () => client.call("POST", `/users/${id}/enable`);
    const { answer, changed } = await behind("user", { id, ask, lose: () => removeAdmin(app.system, name) });
    expect([answer.status, changed]).toEqual([401, false]);
    expect(app.host.calls.at(-1)).toContain("shut");
  });

  test("a key is not uploaded by who has logged out", async () => {
    const { id, client } = await person();
    const { cookie } = client;
    const ask = () => client.call("POST", "/me/keys", { name: "Late", public_key: freshKey() });
    const lose = () => Object.assign(app.anonymous(), { cookie }).call("POST", "/auth/logout");
    const { answer, changed } = await behind("user", { id, ask, lose });
    expect([answer.status, changed]).toEqual([401, false]);
  });
});

describe("behind the log's head", () => {
  test("a change is rolled back whole, on the host too", async () => {
    const { client } = await operator();
    const username = `never-${++count}`;
    const ask = () => client.call("POST", "/users", { username, email: "never@example.org" });
    const { answer } = await behind("head", { id: 0, ask, lose: async () => {} });
    expect(answer.status).toBe(401);
    expect(app.host.accounts.has(`ext_${username}`)).toBe(false);
    expect(await app.db.select().from(users).where(eq(users.username, username))).toEqual([]);
    expect(await app.lastAudit("user.create")).toMatchObject({ result: "failed", actorType: "admin" });
  });

  test("what takes access away goes on: it was noted before", async () => {
    const [{ client }, { id, username }] = [await operator(), await person()];
    const { answer } = await behind("head", {
      id,
      ask: () => client.call("POST", `/users/${id}/disable`),
      lose: async () => {},
    });
    expect(answer.status).toBe(200);
    expect(app.host.accounts.get(`ext_${username}`)?.open).toBe(false);
  });
});

describe("what began to take access away", () => {
  test("goes on to shut the account where the key stays in the file, though its administrator is removed meanwhile", async () => {
    const [{ name, client }, { id, key, username }] = [await operator(), await person()];
    const { takeKey } = app.host;
    app.host.takeKey = async () => {
      await removeAdmin(app.system, name);
      return { rewritten: false, problem: "The file is immutable" };
    };
    const answer = await client.call("DELETE", `/users/${id}/keys/${key}`);
    app.host.takeKey = takeKey;
    expect([answer.status, answer.body.error]).toEqual([500, expect.stringContaining("was disabled")]);
    expect(app.host.accounts.get(`ext_${username}`)?.open).toBe(false);
    expect(await app.lastAudit("key.revoke")).toMatchObject({ result: "failed", actor: name });
  });
});

describe("what ends the caller's own permission", () => {
  test("is done: logging out, ending one's own sessions, giving oneself another role, removing oneself", async () => {
    const owner = async () => {
      const name = `owner-${++count}`;
      const { id } = await addAdmin(app.system, name, `${name}@example.org`, ADMIN_PASSWORD);
      const client = app.anonymous();
      await client.call("POST", "/auth/admin/login", { username: name, password: ADMIN_PASSWORD });
      return { id, client };
    };
    await owner();
    const [first, second, third, fourth] = [await owner(), await owner(), await owner(), await owner()];
    const answers = [
      await first.client.call("POST", "/auth/logout"),
      await second.client.call("DELETE", `/admins/${second.id}/sessions`),
      await third.client.call("PATCH", `/admins/${third.id}`, { role: "auditor", password: ADMIN_PASSWORD }),
      await fourth.client.call("DELETE", `/admins/${fourth.id}`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });
});
