/** Who loses the permission while their request is under way changes nothing: every route that changes something, and every way to lose it. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { eq } from "drizzle-orm";
import { addAdmin } from "../../../src/domain/auth/administrators/add-admin.ts";
import {
  endAdminSessions,
  removeAdmin,
  setAdminPassword,
  updateAdmin,
} from "../../../src/domain/auth/administrators/admin-changes.ts";
import { createToken, revokeToken } from "../../../src/domain/auth/tokens/tokens.ts";
import { deleteUser, disableUser } from "../../../src/domain/users/users.ts";
import { audit } from "../../../src/store/schema-audit.ts";
import { ADMIN_PASSWORD, type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { PASSKEY_ORIGIN } from "../../support/authenticator.ts";
import { createChanges, type Wanted } from "../../support/changes.ts";
import { apiDocument } from "../../support/openapi.ts";
import { type Receiver, startReceiver } from "../../support/receiver.ts";
import { sendSlowly } from "../../support/slow-body.ts";
import { storedState } from "../../support/stored-state.ts";
import { describeSlow } from "../../support/thorough.ts";

setDefaultTimeout(180_000);

let app: TestApp;
let hook: Receiver;
let changes: ReturnType<typeof createChanges>;
let count = 0;

/**
 * An application for the tests around it, and then that of before again: with all rows that 500 cases leave, looking at what is stored took
 * six times as long as at first.
 */
function onFreshApp(): void {
  let before: readonly [TestApp, Receiver, typeof changes];
  beforeAll(async () => {
    before = [app, hook, changes];
    app = await createTestApp({
      UAM_BASE_URL: PASSKEY_ORIGIN,
      UAM_WEBHOOK_NETWORKS: "127.0.0.0/8",
      UAM_FLEET_WAIT: "1s",
    });
    hook = await startReceiver();
    changes = createChanges(app, await app.admin(), hook.url);
  });
  afterAll(async () => {
    await hook.close();
    await app.close();
    [app, hook, changes] = before;
  });
}

/** Whoever asks; `lose` takes the permission from them. */
interface Caller {
  readonly headers: Readonly<Record<string, string>>;
  readonly wanted: Wanted;
}

async function administrator() {
  const username = `caller-${++count}`;
  const { id } = await addAdmin(app.system, username, `${username}@example.org`, ADMIN_PASSWORD);
  const client = app.anonymous();
  await client.call("POST", "/auth/admin/login", { username, password: ADMIN_PASSWORD });
  return { id, username, client };
}

const TOKEN = { name: "nightly", role: "owner", days: 1, networks: [] } as const;

const logOut = async ({ cookie }: Client) => {
  const client = Object.assign(app.anonymous(), { cookie });
  expect((await client.call("POST", "/auth/logout")).status).toBe(200);
};

type Loss = (route: string) => Promise<Caller & { readonly lose: () => Promise<unknown> }>;

const byAdmin =
  (lose: (admin: Awaited<ReturnType<typeof administrator>>) => Promise<unknown>): Loss =>
  async (route) => {
    const admin = await administrator();
    const wanted = await changes.ask(route, admin);
    return { wanted, headers: { cookie: admin.client.cookie }, lose: () => lose(admin) };
  };

const byToken =
  (lose: (owner: string, token: number) => Promise<unknown>): Loss =>
  async (route) => {
    const admin = await administrator();
    const { username } = admin;
    const { token, entry } = await createToken(app.system, { owner: username }, TOKEN);
    const wanted = await changes.ask(route, admin);
    return { wanted, headers: { authorization: `Bearer ${token}` }, lose: () => lose(username, entry.id) };
  };

const byUser =
  (
    lose: (user: { readonly id: number; readonly client: Client; readonly username: string }) => Promise<unknown>,
  ): Loss =>
  async (route) => {
    const username = `user-${++count}`;
    const user = await app.user(username);
    const wanted = await changes.ask(route, { ...user, username });
    return { wanted, headers: { cookie: user.client.cookie }, lose: () => lose({ ...user, username }) };
  };

const nothing: Loss = byAdmin(async () => {});

/** How an administrator's session loses its permission, and how it is answered then. */
const OF_ADMINS: Readonly<Record<string, readonly [number, Loss]>> = {
  removed: [401, byAdmin(({ username }) => removeAdmin(app.system, username))],
  demoted: [403, byAdmin(({ username }) => updateAdmin(app.system, username, { role: "auditor" }))],
  "logged out": [401, byAdmin(({ client }) => logOut(client))],
  "signed out by an owner": [401, byAdmin(({ username }) => endAdminSessions(app.system, username))],
  "given another password": [
    401,
    byAdmin(({ username }) => setAdminPassword(app.system, username, "nine doves over still water")),
  ],
};

const OF_TOKENS: Readonly<Record<string, readonly [number, Loss]>> = {
  "whose token was revoked": [401, byToken((_, token) => revokeToken(app.system, undefined, token))],
  "whose token's owner was removed": [401, byToken((owner) => removeAdmin(app.system, owner))],
  "whose token's owner was demoted": [403, byToken((owner) => updateAdmin(app.system, owner, { role: "auditor" }))],
};

/** For who is shut: the status table's answer where it has one. */
const SHUT: Readonly<Record<string, number>> = {
  "POST /me/keys": 409,
  "POST /me/extension": 409,
  "POST /me/terms": 409,
  "POST /me/lock": 409,
  "POST /me/company/users/{id}/end": 403,
  "POST /me/company/applications": 403,
};

const OF_USERS: Readonly<Record<string, readonly [(route: string) => number, Loss]>> = {
  "logged out": [() => 401, byUser(({ client }) => logOut(client))],
  deleted: [(route) => (route === "POST /auth/logout" ? 200 : 404), byUser(({ id }) => deleteUser(app.system, id))],
  // Giving access asks for the permission first, so who has lost the session as well is told of that.
  disabled: [
    (route) => ({ ...SHUT, "POST /me/access": 409 })[route] ?? 200,
    byUser(({ id }) => disableUser(app.system, id)),
  ],
  "locked by themselves": [
    (route) => SHUT[route] ?? 401,
    byUser(async ({ client: { cookie } }) => {
      const window = Object.assign(app.anonymous(), { cookie });
      expect((await window.call("POST", "/me/lock")).status).toBe(200);
    }),
  ],
};

const operations = Object.entries(apiDocument.paths).flatMap(([path, methods]) =>
  Object.entries(methods ?? {}).flatMap(([method, operation]) =>
    method === "get"
      ? []
      : [
          {
            route: `${method.toUpperCase()} ${path}`,
            permission: String(operation?.["x-permission"]),
            isForAll: operation?.["x-roles"]?.includes("auditor") ?? true,
          },
        ],
  ),
);
const routesFor = (...permissions: readonly string[]) =>
  operations.filter(({ permission }) => permissions.includes(permission)).map(({ route }) => route);

/** Whether administrators of every role may do it: then a demotion takes nothing away. */
const isForAll = (route: string) => operations.some((operation) => operation.route === route && operation.isForAll);
/** What is about the login itself, or lets administrators in, takes no token. */
const takesTokens = (route: string) =>
  !/ \/auth\//.test(route) && !["POST /admins", "PATCH /admins/{id}", "DELETE /removed-admins/{id}"].includes(route);

const successes = () => app.db.$count(audit, eq(audit.result, "success"));

/** Sends the request slowly; what is stored after the loss is what is stored after the answer. */
async function tooLate(route: string, loss: Loss) {
  const { wanted, headers, lose } = await loss(route);
  const [method = ""] = route.split(" ");
  let before = "";
  let records = 0;
  const received = hook.requests.length;
  const answer = await sendSlowly(app, { method, ...wanted, headers }, async () => {
    await lose();
    before = await storedState(app);
    records = await successes();
  });
  const changed =
    (await storedState(app)) !== before || (await successes()) !== records || hook.requests.length !== received;
  return { ...answer, changed };
}

describeSlow("a request that is under way", () => {
  onFreshApp();

  test("is tried for every route that changes something", () => {
    const asked = routesFor("admin", "user", "session");
    expect([...changes.routes].sort()).toEqual([...asked].sort());
    // What else changes something asks for no session.
    const others = operations.filter(({ route }) => !asked.includes(route)).map(({ permission }) => permission);
    expect([...new Set(others)].sort()).toEqual(["agent", "undefined"]);
  });

  test.each(routesFor("admin"))("%s is done for an administrator who keeps the permission", async (route) => {
    const { status, text } = await tooLate(route, nothing);
    expect([200, 201], text).toContain(status);
  });

  test.each(routesFor("user"))("%s is done for a user who keeps the permission", async (route) => {
    const { status, text } = await tooLate(
      route,
      byUser(async () => {}),
    );
    expect([200, 201], text).toContain(status);
  });

  describe.each(Object.entries(OF_ADMINS))("of an administrator who is %s", (_, [status, loss]) => {
    onFreshApp();

    test.each(routesFor("admin", "session"))("%s changes nothing", async (route) => {
      const answer = await tooLate(route, loss);
      if (status === 403 && isForAll(route)) return expect([200, 201], answer.text).toContain(answer.status);
      expect([answer.status, answer.changed], answer.text).toEqual([status, false]);
    });
  });

  describe.each(Object.entries(OF_TOKENS))("of a machine %s", (_, [status, loss]) => {
    onFreshApp();

    test.each(routesFor("admin").filter(takesTokens))("%s changes nothing", async (route) => {
      const answer = await tooLate(route, loss);
      // A token above its owner's role has ended.
      const expected = isForAll(route) ? 401 : status;
      expect([answer.status, answer.changed], answer.text).toEqual([expected, false]);
    });
  });

  test("of an owner who is demoted revokes nobody else's token", async () => {
    const [caller, other] = [await administrator(), await administrator()];
    const { entry } = await createToken(app.system, { owner: other.username }, { ...TOKEN, name: "theirs" });
    const { cookie } = caller.client;
    const ask = { method: "DELETE", path: `/tokens/${entry.id}`, headers: { cookie } };
    const demote = () => updateAdmin(app.system, caller.username, { role: "auditor" });
    expect((await sendSlowly(app, ask, demote)).status).toBe(404);
  });

  describe.each(Object.entries(OF_USERS))("of a user who is %s", (_, [statusOf, loss]) => {
    onFreshApp();

    test.each(routesFor("user", "session"))("%s is answered by the status table, or changes nothing", async (route) => {
      const answer = await tooLate(route, loss);
      expect(answer.status, answer.text).toBe(statusOf(route));
      if (answer.status >= 400) expect(answer.changed).toBe(false);
    });
  });
});
