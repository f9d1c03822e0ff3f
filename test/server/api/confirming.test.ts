/** What a session alone must not do: everything by which whoever stole it would outlive the new password that ends it. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { addAdmin } from "../../../src/domain/auth/administrators/add-admin.ts";
import { setAdminPassword } from "../../../src/domain/auth/administrators/admin-changes.ts";
import { createToken } from "../../../src/domain/auth/tokens/tokens.ts";
import { createWebhook } from "../../../src/domain/events/webhooks.ts";
import { HOUR, MINUTE } from "../../../src/shared/time/clock.ts";
import { admins, sessions } from "../../../src/store/schema-auth.ts";
import { ssoIdentities } from "../../../src/store/schema-sso.ts";
import { ADMIN_PASSWORD, type Answer, type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { addPasskeyTo, PASSKEY_ORIGIN } from "../../support/authenticator.ts";

const NEW_PASSWORD = "eleven candles under warm sand";

let app: TestApp;
let count = 0;

beforeAll(async () => {
  app = await createTestApp({ UAM_BASE_URL: PASSKEY_ORIGIN, UAM_SESSION_TTL: "30d" });
  await addAdmin(app.system, "another", "another@example.org", ADMIN_PASSWORD);
});
afterAll(() => app.close());
beforeEach(() => app.clock.advance(HOUR));

interface Owner {
  readonly id: number;
  readonly username: string;
  readonly client: Client;
}

async function owner(): Promise<Owner> {
  const username = `chief-${++count}`;
  const { id } = await addAdmin(app.system, username, `${username}@example.org`, ADMIN_PASSWORD);
  const client = app.anonymous();
  const { status } = await client.call("POST", "/auth/admin/login", { username, password: ADMIN_PASSWORD });
  expect(status).toBe(200);
  return { id, username, client };
}

/** Somebody who came in by single sign-on, has no password, and logged in there that long ago. */
async function bySignOn(ago: number): Promise<Owner> {
  const self = await owner();
  await app.db.update(admins).set({ passwordHash: null, sso: true }).where(eq(admins.id, self.id));
  const createdAt = new Date(app.clock.now().getTime() - ago);
  await app.db.update(sessions).set({ way: "oidc", createdAt }).where(eq(sessions.principalId, self.id));
  return self;
}

async function anotherId(): Promise<number> {
  const [row] = await app.db.select().from(admins).where(eq(admins.username, "another"));
  return row?.id ?? 0;
}

/** One who was removed, and may be let in again. */
async function removedId(): Promise<number> {
  const row = { issuer: "https://provider.example", subject: `s-${++count}`, username: `gone-${count}` };
  const [made] = await app.db
    .insert(ssoIdentities)
    .values({ ...row, createdAt: app.clock.now() })
    .returning();
  return made?.id ?? 0;
}

/** What a route is asked for, made ready, with what confirms it. */
type Ask = (self: Owner, confirmation: object) => Promise<Answer>;

const ROUTES: readonly (readonly [string, string, Ask])[] = [
  [
    "POST /tokens",
    "token.create",
    ({ client }, sure) => client.call("POST", "/tokens", { name: "t", role: "owner", days: 366, ...sure }),
  ],
  [
    "POST /admins",
    "admin.create",
    ({ client }, sure) => {
      const username = `guest-${++count}`;
      return client.call("POST", "/admins", { username, email: `${username}@example.org`, ...sure });
    },
  ],
  [
    "PATCH /admins/:id of one's own address",
    "admin.update",
    ({ id, client }, sure) => client.call("PATCH", `/admins/${id}`, { email: `e${++count}@example.org`, ...sure }),
  ],
  [
    "PATCH /admins/:id of another's address",
    "admin.update",
    async ({ client }, sure) =>
      client.call("PATCH", `/admins/${await anotherId()}`, { email: `e${++count}@example.org`, ...sure }),
  ],
  [
    "PATCH /admins/:id of another's role",
    "admin.update",
    async ({ client }, sure) => client.call("PATCH", `/admins/${await anotherId()}`, { role: "owner", ...sure }),
  ],
  ["POST /hosts/tokens", "host_token.create", ({ client }, sure) => client.call("POST", "/hosts/tokens", sure)],
  [
    "POST /webhooks",
    "webhook.create",
    ({ client }, sure) => client.call("POST", "/webhooks", { url: "https://hooks.example.org/", ...sure }),
  ],
  [
    "PATCH /webhooks/:id to another address",
    "webhook.update",
    async ({ client }, sure) => {
      const { entry } = await createWebhook(app.system, { url: "https://hooks.example.org/", actions: [] });
      return client.call("PATCH", `/webhooks/${entry.id}`, { url: "https://elsewhere.example.org/", ...sure });
    },
  ],
  [
    "DELETE /removed-admins/:id",
    "admin.readmit",
    async ({ client }, sure) => client.call("DELETE", `/removed-admins/${await removedId()}`, sure),
  ],
];

/** These need something to remove, which itself confirms: their tests are with their tables below. */
const FACTORS: readonly (readonly [string, string, Ask])[] = [
  [
    "DELETE /auth/passkeys/:id",
    "auth.passkey_remove",
    async ({ client }, sure) => {
      const { items } = (await client.call("GET", "/auth/passkeys")).body.data;
      return client.call("DELETE", `/auth/passkeys/${items[0].id}`, sure);
    },
  ],
  ["DELETE /auth/totp", "auth.totp_remove", ({ client }, sure) => client.call("DELETE", "/auth/totp", sure)],
];

const reasonOf = ({ status, headers }: Answer) => `${status} ${headers.get("uam-error")}`;

describe.each([...ROUTES, ...FACTORS])("%s", (route, action, ask) => {
  const isFactor = FACTORS.some(([name]) => name === route);

  async function ready(): Promise<Owner> {
    const self = await owner();
    if (route === "DELETE /auth/passkeys/:id") await addPasskeyTo(self.client, ADMIN_PASSWORD);
    return self;
  }

  test("is refused to a session alone, and changes nothing", async () => {
    const self = await ready();
    const mails = (await app.mails()).length;
    const answer = await ask(self, {});
    expect(reasonOf(answer)).toBe("400 request.invalid");
    expect(answer.body.error).toBe("Confirm that it is you: send either password, your current one, or passkey");
    expect(await app.lastAudit(action)).toMatchObject({ result: "failed", actor: self.username });
    expect(await app.mails()).toHaveLength(mails);
  });

  test("a wrong password is 403, on record, and counts as a failed login", async () => {
    const self = await ready();
    expect(reasonOf(await ask(self, { password: "wrong" }))).toBe("403 password.wrong");
    expect(await app.lastAudit(action)).toMatchObject({ result: "failed", actor: self.username });
    for (let n = 0; n < 4; n++) expect((await ask(self, { password: "wrong" })).status).toBe(403);
    expect(reasonOf(await ask(self, { password: ADMIN_PASSWORD }))).toBe("429 login.locked");
  });

  test("the password and a passkey at once confirm nothing", async () => {
    const self = await ready();
    const passkey = await addPasskeyTo(self.client, ADMIN_PASSWORD);
    const asked = (await self.client.call("GET", "/auth/passkeys/challenge")).body.data.passkey;
    const both = { passkey: passkey.answer(asked), password: ADMIN_PASSWORD };
    expect((await ask(self, both)).status).toBe(400);
  });

  test("the current password, or a passkey once, confirms", async () => {
    const self = await ready();
    const passkey = await addPasskeyTo(self.client, ADMIN_PASSWORD);
    const expected = route === "DELETE /auth/totp" ? [404] : [200, 201];
    expect(expected).toContain((await ask(self, { password: ADMIN_PASSWORD })).status);
    const asked = (await self.client.call("GET", "/auth/passkeys/challenge")).body.data.passkey;
    if (asked === null) return;
    const confirmation = { passkey: passkey.answer(asked) };
    expect(expected).toContain((await ask(self, confirmation)).status);
    if (!isFactor) expect(reasonOf(await ask(self, confirmation))).toBe("401 login.passkey_wrong");
  });

  test("of who has neither, a login at the provider within the last five minutes confirms, and none before", async () => {
    if (route === "DELETE /auth/passkeys/:id") return;
    const late = await bySignOn(5 * MINUTE);
    expect(reasonOf(await ask(late, {}))).toBe("403 login.not_recent");
    expect(await app.lastAudit(action)).toMatchObject({ result: "failed", actor: late.username });
    expect(reasonOf(await ask(late, { password: ADMIN_PASSWORD }))).toBe("403 password.wrong");
    const recent = await bySignOn(5 * MINUTE - 1000);
    expect(route === "DELETE /auth/totp" ? [404] : [200, 201]).toContain((await ask(recent, {})).status);
  });

  test("a session that was ended confirms nothing any more", async () => {
    const self = await ready();
    const [answer] = await Promise.all([
      ask(self, { password: ADMIN_PASSWORD }),
      setAdminPassword(app.system, self.username, NEW_PASSWORD),
    ]);
    // Whichever came first: nothing of it is left once the password is set.
    if (answer.status === 201 && route === "POST /tokens") {
      const headers = { authorization: `Bearer ${answer.body.data.token}` };
      expect((await app.anonymous().call("GET", "/auth/me", undefined, headers)).status).toBe(401);
    } else expect([200, 201, 401, 403, 404]).toContain(answer.status);
  });
});

describe("what sends nothing elsewhere", () => {
  test("a webhook is switched off and on, and told of less, by a session alone", async () => {
    const { client } = await owner();
    const { entry } = await createWebhook(app.system, { url: "https://hooks.example.org/", actions: [] });
    for (const body of [{ status: "disabled" }, { status: "active" }, { actions: ["user.create"] }]) {
      expect((await client.call("PATCH", `/webhooks/${entry.id}`, body)).status).toBe(200);
    }
  });

  test("a token shows nothing: it has nothing to show", async () => {
    const { username } = await owner();
    const wanted = { name: "machine", role: "owner", days: 1, networks: [] } as const;
    const { token } = await createToken(app.system, { owner: username }, wanted);
    const bearer = { authorization: `Bearer ${token}` };
    const ask = (path: string, body: object) => app.anonymous().call("POST", path, body, bearer);
    expect((await ask("/hosts/tokens", {})).status).toBe(201);
    expect((await ask("/webhooks", { url: "https://hooks.example.org/" })).status).toBe(201);
  });
});

describe("what there is to confirm with", () => {
  test("is told: a passkey's challenge, and whether one has a password", async () => {
    const { client } = await owner();
    const ways = async (by: Client) => (await by.call("GET", "/auth/passkeys/challenge")).body.data;
    expect(await ways(client)).toEqual({ passkey: null, password: true });
    await addPasskeyTo(client, ADMIN_PASSWORD);
    expect(await ways(client)).toEqual({ passkey: expect.any(Object), password: true });
    expect(await ways((await bySignOn(HOUR)).client)).toEqual({ passkey: null, password: false });
  });

  test("a login with a password is none at the provider, however recent", async () => {
    const self = await bySignOn(0);
    await app.db.update(sessions).set({ way: "passkey" }).where(eq(sessions.principalId, self.id));
    const made = await self.client.call("POST", "/tokens", { name: "t", role: "owner", days: 1 });
    expect(reasonOf(made)).toBe("403 login.not_recent");
  });

  test("a passkey that one has is asked for, also of who came from the provider a moment ago", async () => {
    const self = await owner();
    await addPasskeyTo(self.client, ADMIN_PASSWORD);
    await app.db.update(admins).set({ passwordHash: null, sso: true }).where(eq(admins.id, self.id));
    await app.db.update(sessions).set({ way: "oidc" }).where(eq(sessions.principalId, self.id));
    const made = await self.client.call("POST", "/tokens", { name: "t", role: "owner", days: 1 });
    expect(reasonOf(made)).toBe("400 request.invalid");
  });

  test("one who has just logged in at the provider adds a first passkey", async () => {
    const begin = async ({ client }: Owner) => (await client.call("POST", "/auth/passkeys/begin", {})).status;
    expect([await begin(await bySignOn(HOUR)), await begin(await bySignOn(MINUTE))]).toEqual([403, 200]);
  });
});

describe("a token", () => {
  async function machine(): Promise<Owner & { readonly headers: Record<string, string> }> {
    const self = await owner();
    const wanted = { name: "m", role: "owner", days: 1, networks: [] } as const;
    const { token } = await createToken(app.system, { owner: self.username }, wanted);
    return { ...self, headers: { authorization: `Bearer ${token}` } };
  }

  test("lets nobody in as an administrator, and changes nobody's address or role", async () => {
    const { id, headers } = await machine();
    const other = await anotherId();
    const asked = [
      ["POST", "/admins", { username: "sneaked", email: "sneaked@example.org" }],
      ["PATCH", `/admins/${id}`, { email: "sneaked@example.org" }],
      ["PATCH", `/admins/${other}`, { email: "sneaked@example.org" }],
      ["PATCH", `/admins/${other}`, { role: "auditor" }],
      ["DELETE", `/removed-admins/${await removedId()}`, undefined],
    ] as const;
    for (const [method, path, body] of asked) {
      for (const sent of [body, { ...body, password: ADMIN_PASSWORD }]) {
        const answer = await app.anonymous().call(method, path, sent, headers);
        expect(reasonOf(answer)).toBe("403 token.not_allowed");
      }
    }
    expect(JSON.stringify(await app.mails())).not.toContain("sneaked");
  });

  test("makes others without a password, so that a machine can replace its own", async () => {
    const { headers } = await machine();
    const body = { name: "next", role: "owner", days: 1 };
    expect((await app.anonymous().call("POST", "/tokens", body, headers)).status).toBe(201);
  });
});
