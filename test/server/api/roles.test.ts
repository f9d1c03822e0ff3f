/** Who may call which route: every registered route, by nobody, by a user and by an administrator of each role, with a session and with a token. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { addAdmin } from "../../../src/domain/auth/administrators/add-admin.ts";
import { updateAdmin } from "../../../src/domain/auth/administrators/admin-changes.ts";
import { createToken } from "../../../src/domain/auth/tokens/tokens.ts";
import { updateUser } from "../../../src/domain/users/update.ts";
import { API_ROOT } from "../../../src/server/api/app.ts";
import { ADMIN_ROLES, type AdminRole } from "../../../src/shared/product/statuses.ts";
import { ADMIN_PASSWORD, type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { PASSKEY_ORIGIN } from "../../support/authenticator.ts";
import { makeManager } from "../../support/manager.ts";
import { apiDocument } from "../../support/openapi.ts";

const CALLERS = ["nobody", "user", ...ADMIN_ROLES] as const;
type Caller = (typeof CALLERS)[number];

const ANYONE: readonly Caller[] = CALLERS;
const LOGGED_IN: readonly Caller[] = ["user", ...ADMIN_ROLES];
const USERS: readonly Caller[] = ["user"];
const ADMINS: readonly Caller[] = ADMIN_ROLES;
const OPERATORS: readonly Caller[] = ["owner", "operator"];
const REVIEWERS: readonly Caller[] = ["owner", "operator", "reviewer"];
const OWNERS: readonly Caller[] = ["owner"];
/** Only with the signature of a host; see agent.test.ts. */
const AGENTS: readonly Caller[] = [];
/** An auditor reads all that administrators read. */
const reading = (callers: readonly Caller[]): readonly Caller[] => [...callers, "auditor"];

/** A route that is in no row fails. */
const MAY: Readonly<Record<string, readonly Caller[]>> = {
  "GET /healthz": ANYONE,
  "GET /readyz": ANYONE,
  "GET /openapi.json": ANYONE,
  "GET /console/config": ANYONE,
  "GET /agent/key": ANYONE,
  "POST /agent/enrol": ANYONE,
  "GET /agent/state": AGENTS,
  "POST /agent/report": AGENTS,
  "POST /agent/rotate": AGENTS,
  "GET /auth/captcha": ANYONE,
  "POST /auth/otp/send": ANYONE,
  "POST /auth/otp/login": ANYONE,
  "POST /auth/admin/login": ANYONE,
  "POST /auth/admin/forgot": ANYONE,
  "POST /auth/admin/reset": ANYONE,
  "POST /auth/admin/password": ADMINS,
  "GET /auth/oidc/login": ANYONE,
  "GET /auth/oidc/callback": ANYONE,
  "POST /auth/oidc/backchannel-logout": ANYONE,
  "POST /auth/logout": LOGGED_IN,
  "GET /auth/me": LOGGED_IN,
  "GET /users": reading(OPERATORS),
  "POST /users": OPERATORS,
  "POST /users/import": OPERATORS,
  "GET /users/supervisors": reading(OPERATORS),
  "GET /users/export": reading(OPERATORS),
  "GET /users/:id": reading(OPERATORS),
  "GET /users/:id/diagnosis": reading(OPERATORS),
  "GET /users/:id/hours": reading(OPERATORS),
  "PATCH /users/:id": OPERATORS,
  "POST /users/:id/disable": OPERATORS,
  "POST /users/:id/enable": OPERATORS,
  "POST /users/:id/welcome": OPERATORS,
  "POST /users/:id/extend": OPERATORS,
  "DELETE /users/:id": OPERATORS,
  "GET /users/:id/keys": reading(OPERATORS),
  "DELETE /users/:id/keys/:keyId": OPERATORS,
  "GET /users/:id/found-keys": reading(OPERATORS),
  "POST /users/:id/found-keys": OPERATORS,
  "GET /users/:id/sessions": reading(OPERATORS),
  "DELETE /users/:id/sessions/:sessionId": OPERATORS,
  "DELETE /users/:id/web-sessions": OPERATORS,
  "GET /me": USERS,
  "GET /me/keys": USERS,
  "POST /me/keys": USERS,
  "GET /me/keys/challenge": USERS,
  "PATCH /me/keys/:id": USERS,
  "DELETE /me/keys/:id": USERS,
  "GET /me/audit": USERS,
  "GET /me/hours.ics": USERS,
  "GET /me/terms": USERS,
  "POST /me/terms": USERS,
  "POST /me/lock": USERS,
  "POST /me/access": USERS,
  "DELETE /me/access": USERS,
  "DELETE /users/:id/access": OPERATORS,
  "POST /me/extension": USERS,
  "DELETE /me/extension": USERS,
  "GET /me/company": USERS,
  "GET /me/company/users": USERS,
  "POST /me/company/users/:id/end": USERS,
  "POST /me/company/applications": USERS,
  "POST /approvals": ANYONE,
  "GET /approvals": reading(REVIEWERS),
  "POST /approvals/:id/review": REVIEWERS,
  "GET /access": reading(OPERATORS),
  "GET /audit": reading(OWNERS),
  "GET /audit/export": reading(OWNERS),
  "GET /hosts": reading(OPERATORS),
  "GET /hosts/:id": reading(OPERATORS),
  "GET /hosts/:id/users": reading(OPERATORS),
  "GET /hosts/:id/preview": reading(OPERATORS),
  "POST /hosts/tokens": OWNERS,
  "PATCH /hosts/:id": OWNERS,
  "POST /hosts/:id/lock": OWNERS,
  "POST /hosts/:id/unlock": OWNERS,
  "DELETE /hosts/:id": OWNERS,
  "POST /decisions/look": ANYONE,
  "POST /decisions": ANYONE,
  "GET /sponsors": reading(OPERATORS),
  "POST /sponsors/move": OPERATORS,
  "GET /companies": reading(OPERATORS),
  "POST /companies": OPERATORS,
  "GET /companies/:id": reading(OPERATORS),
  "PATCH /companies/:id": OPERATORS,
  "DELETE /companies/:id": OPERATORS,
  "POST /companies/:id/end": OPERATORS,
  "GET /companies/:id/end": reading(OPERATORS),
  "POST /companies/:id/resume": OPERATORS,
  "GET /reviews": reading(OPERATORS),
  "POST /reviews": OPERATORS,
  "GET /reviews/preview": reading(OPERATORS),
  "GET /reviews/:id": reading(OPERATORS),
  "GET /reviews/:id/items": reading(OPERATORS),
  "POST /reviews/:id/items": OPERATORS,
  "POST /reviews/:id/items/:user": OPERATORS,
  "POST /reviews/:id/close": OPERATORS,
  "GET /reviews/:id/report": reading(OPERATORS),
  "GET /profiles": reading(REVIEWERS),
  "GET /profiles/:id": reading(OPERATORS),
  "POST /profiles": OWNERS,
  "PATCH /profiles/:id": OWNERS,
  "DELETE /profiles/:id": OWNERS,
  "GET /host-groups": reading(OPERATORS),
  "GET /host-groups/:id": reading(OPERATORS),
  "POST /host-groups": OWNERS,
  "PATCH /host-groups/:id": OWNERS,
  "DELETE /host-groups/:id": OWNERS,
  "GET /users/:id/hosts": reading(OPERATORS),
  "PUT /users/:id/hosts": OPERATORS,
  "GET /me/hosts": USERS,
  "GET /settings": reading(OWNERS),
  "PUT /settings": OWNERS,
  "DELETE /settings/:key": OWNERS,
  "GET /admin/stats": reading(REVIEWERS),
  "GET /admin/problems": ADMINS,
  "GET /admin/attention": ADMINS,
  "GET /admin/stats/series": reading(REVIEWERS),
  "GET /admins": reading(OWNERS),
  "POST /admins": OWNERS,
  "PATCH /admins/:id": OWNERS,
  "DELETE /admins/:id": OWNERS,
  "GET /removed-admins": reading(OWNERS),
  "DELETE /removed-admins/:id": OWNERS,
  "DELETE /admins/:id/sessions": OWNERS,
  "POST /auth/admin/second": ANYONE,
  "GET /auth/passkey/challenge": ANYONE,
  "POST /auth/passkey/login": ANYONE,
  "GET /auth/passkeys": ADMINS,
  "GET /auth/passkeys/challenge": ADMINS,
  "POST /auth/passkeys/begin": ADMINS,
  "POST /auth/passkeys": ADMINS,
  "PATCH /auth/passkeys/:id": ADMINS,
  "DELETE /auth/passkeys/:id": ADMINS,
  "GET /auth/totp": ADMINS,
  "POST /auth/totp/begin": ADMINS,
  "POST /auth/totp": ADMINS,
  "DELETE /auth/totp": ADMINS,
  "GET /tokens": ADMINS,
  "POST /tokens": ADMINS,
  "DELETE /tokens/:id": ADMINS,
  "GET /webhooks": reading(OWNERS),
  "POST /webhooks": OWNERS,
  "PATCH /webhooks/:id": OWNERS,
  "DELETE /webhooks/:id": OWNERS,
  "POST /webhooks/:id/ping": OWNERS,
  "GET /webhooks/:id/deliveries": reading(OWNERS),
  "POST /webhooks/:id/deliveries/:deliveryId/redeliver": OWNERS,
};

/** What takes no token, whatever its role: it is about the login itself, or lets somebody in as an administrator. */
const SESSION_ONLY: readonly string[] = [
  ...["POST /auth/logout", "POST /auth/admin/password"],
  ...["POST /admins", "PATCH /admins/:id", "DELETE /removed-admins/:id"],
  ...Object.keys(MAY).filter((route) => /^\w+ \/auth\/(passkeys|totp)\b/.test(route)),
];

/** Who may call a route with a token; only administrators have one. */
function mayWithToken(route: string): readonly AdminRole[] {
  return SESSION_ONLY.includes(route) ? [] : ADMIN_ROLES.filter((role) => MAY[route]?.includes(role));
}

let app: TestApp;
let clients: Record<Caller, Client>;
let machines: Record<AdminRole, string>;

beforeAll(async () => {
  app = await createTestApp({ UAM_BASE_URL: PASSKEY_ORIGIN });
  for (const role of ADMIN_ROLES) await addAdmin(app.system, role, `${role}@example.org`, ADMIN_PASSWORD, role);
  clients = Object.fromEntries(
    await Promise.all(CALLERS.map(async (caller) => [caller, await clientOf(caller)])),
  ) as Record<Caller, Client>;
  const made = ADMIN_ROLES.map(async (role) => {
    const { token } = await createToken(app.system, { owner: role }, { name: role, role, days: 1, networks: [] });
    return [role, `Bearer ${token}`] as const;
  });
  machines = Object.fromEntries(await Promise.all(made)) as Record<AdminRole, string>;
});
afterAll(() => app.close());

async function clientOf(caller: Caller): Promise<Client> {
  if (caller === "nobody") return app.anonymous();
  if (caller === "user") {
    const { id, client } = await app.user("reader");
    // Of the external users, managers of a company may call every route for them.
    await makeManager(app, id);
    // And whose access is on request, those.
    await updateUser(app.system, id, { onRequest: { rule: "self", maxHours: 1 } });
    return client;
  }
  const client = app.anonymous();
  const answer = await client.call("POST", "/auth/admin/login", { username: caller, password: ADMIN_PASSWORD });
  expect(answer.body).toMatchObject({ data: { user_type: "admin", username: caller, role: caller } });
  return client;
}

/** Whether the caller gets past the guards. What is sent is never valid, so that nothing is done. */
async function passes(caller: Caller, route: string, by: "session" | "token" = "session"): Promise<boolean> {
  const [method = "", path = ""] = route.split(" ");
  const body = method === "GET" || method === "DELETE" ? undefined : "{broken";
  const client = clients[caller];
  const sender = app.anonymous();
  if (by === "session")
    sender.cookie = ENDING.includes(route) && caller !== "nobody" ? await spareCookie(caller) : client.cookie;
  const headers: Record<string, string> = by === "session" ? {} : { authorization: machines[caller as AdminRole] };
  const { status, body: answer } = await sender.call(method, `${path.replace(/:\w+/g, "x")}?page=x`, body, headers);
  expect([200, 400, 401, 403, 404]).toContain(status);
  if (by === "token" && SESSION_ONLY.includes(route)) expect(answer.error).toBe("A token cannot do this; log in");
  else if (status === 403 && caller !== "user" && MAY[route] !== USERS) {
    const roles = MAY[route]?.join(", ").replace(/, (\w+)$/, " or $1");
    expect(answer.error).toBe(`This needs the role ${roles}; yours is ${caller}`);
  }
  return status !== 401 && status !== 403;
}

/** The changes that need neither an id nor a body; they end the session that asks. */
const ENDING = ["POST /auth/logout", "POST /me/lock"];

/** Of another session, as this one is still needed. */
async function spareCookie(caller: Caller): Promise<string> {
  return caller === "user" ? (await app.user(`spare-${spares++}`)).client.cookie : (await clientOf(caller)).cookie;
}
let spares = 0;

describe("every route", () => {
  const routes = Object.keys(MAY);

  test("is in the table, and so in this test", () => {
    const registered = app.app.routes.map(({ method, path }) => `${method} ${path.slice(API_ROOT.length)}`);
    expect(registered.sort()).toEqual([...routes].sort());
  });

  test.each(routes)("%s lets through who may call it, and nobody else", async (route) => {
    const passed: Caller[] = [];
    for (const caller of CALLERS) if (await passes(caller, route)) passed.push(caller);
    expect(passed).toEqual(CALLERS.filter((caller) => MAY[route]?.includes(caller)));
  });

  test.each(routes)("%s lets tokens through of whoever may call it", async (route) => {
    const passed: AdminRole[] = [];
    for (const role of ADMIN_ROLES) if (await passes(role, route, "token")) passed.push(role);
    expect(passed).toEqual([...mayWithToken(route)]);
  });

  test.each(routes)(
    "%s refuses a token beside a session, and a wrong one, unless anyone may call it",
    async (route) => {
      const [method = "", path = ""] = route.split(" ");
      const body = method === "GET" || method === "DELETE" ? undefined : "{broken";
      const url = `${path.replace(/:\w+/g, "x")}?page=x`;
      const statusWith = async (client: Client, authorization: string) =>
        (await client.call(method, url, body, { authorization })).status;
      if (MAY[route] === ANYONE) {
        // 404: what is not set up.
        expect([200, 400, 404]).toContain(await statusWith(app.anonymous(), "Bearer uam_wrong"));
        return;
      }
      if (MAY[route] === AGENTS) {
        expect(await statusWith(clients.owner, machines.owner)).toBe(401);
        return;
      }
      for (const caller of ["user", "owner"] as const) {
        expect(await statusWith(clients[caller], machines.owner)).toBe(400);
        expect(await statusWith(clients[caller], "Bearer uam_wrong")).toBe(400);
      }
      expect(await statusWith(app.anonymous(), "Bearer uam_wrong")).toBe(401);
      expect(await statusWith(app.anonymous(), "Basic cm9vdDpyb290")).toBe(401);
    },
  );

  test.each(routes)("%s says in the document who may call it", (route) => {
    const [method = "", path = ""] = route.split(" ");
    const operation = apiDocument.paths[path.replace(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()];
    const roles = ADMIN_ROLES.filter((role) => MAY[route]?.includes(role));
    const isForAdmins = operation?.["x-permission"] === "admin";
    expect([...(operation?.["x-roles"] ?? [])]).toEqual(isForAdmins ? roles : []);
    if (isForAdmins) for (const role of roles) expect(operation?.description).toContain(role);
  });

  test("HEAD is reading, too", async () => {
    const head = async ({ cookie }: Client) => {
      const request = new Request(`http://127.0.0.1:8080${API_ROOT}/audit`, { method: "HEAD", headers: { cookie } });
      return (await app.app.fetch(request, "192.0.2.1")).status;
    };
    expect([await head(clients.auditor), await head(clients.reviewer)]).toEqual([200, 403]);
  });
});

describe("a role that is changed", () => {
  test("holds from the next request on, in sessions that are open", async () => {
    await addAdmin(app.system, "changing", "changing@example.org", ADMIN_PASSWORD, "auditor");
    const client = app.anonymous();
    await client.call("POST", "/auth/admin/login", { username: "changing", password: ADMIN_PASSWORD });
    const can = async (): Promise<string> => {
      const [me, users, admins, settings] = await Promise.all([
        client.call("GET", "/auth/me"),
        client.call("POST", "/users", { username: "not valid", email: "x" }),
        client.call("GET", "/admins"),
        client.call("DELETE", "/settings/x"),
      ]);
      return [me.body.data.role, users.status, admins.status, settings.status].join(" ");
    };
    const now = async (role: AdminRole) => updateAdmin(app.system, "changing", { role });
    expect(await can()).toBe("auditor 403 200 403");
    await now("operator");
    expect(await can()).toBe("operator 400 403 403");
    await now("owner");
    expect(await can()).toBe("owner 400 200 404");
    await now("reviewer");
    expect(await can()).toBe("reviewer 403 403 403");
  });

  test("/auth/me of a user says nothing of a role", async () => {
    const { client } = await app.user("plain");
    expect((await client.call("GET", "/auth/me")).body.data).not.toHaveProperty("role");
  });
});
