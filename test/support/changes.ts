/** A valid request for every route that changes something and asks for a session, each about something that is there. */

import { eq } from "drizzle-orm";
import { TOTP } from "otpauth";
import { addAdmin } from "../../src/domain/auth/administrators/add-admin.ts";
import { createToken } from "../../src/domain/auth/tokens/tokens.ts";
import { createCompany } from "../../src/domain/companies/companies.ts";
import { endCompany } from "../../src/domain/companies/ending.ts";
import { createWebhook } from "../../src/domain/events/webhooks.ts";
import { createGroup } from "../../src/domain/hosts/groups.ts";

import { createProfile } from "../../src/domain/profiles/profiles.ts";
import { allowAccess } from "../../src/domain/requests/allow.ts";
import { startReview } from "../../src/domain/reviews/start.ts";
import { importUsers } from "../../src/domain/users/import/import-users.ts";
import { updateUser } from "../../src/domain/users/update.ts";
import { disableUser } from "../../src/domain/users/users.ts";
import { users } from "../../src/store/schema.ts";
import { ssoIdentities } from "../../src/store/schema-sso.ts";
import { foundKey, noteAdopted } from "./adopter.ts";
import { ADMIN_PASSWORD, type Client, type TestApp } from "./app.ts";
import { addPasskeyTo, makePasskey } from "./authenticator.ts";
import { insertHost } from "./host-rows.ts";
import { freshKey } from "./keys.ts";
import { makeManager } from "./manager.ts";

/** What is sent. */
export interface Wanted {
  readonly path: string;
  readonly body?: unknown;
  /** The body's media type, if it is not JSON. */
  readonly type?: string;
}

/** Who asks, and a client of theirs for what has to come first. */
export interface Asking {
  readonly id: number;
  readonly username: string;
  readonly client: Client;
}

const TERMS = { version: "0".repeat(64), text: "Be kind." };

type Make = (by: Asking) => Promise<Wanted>;

const password = ADMIN_PASSWORD;

function csvOf(username: string): string {
  return `username,email\r\n${username},${username}@example.org\r\n`;
}

/** `helper` is an owner who makes what the requests are about. */
export function createChanges(app: TestApp, helper: Client, hookUrl: string) {
  let count = 0;
  const fresh = (what: string) => `${what}-${++count}`;

  async function made(path: string, body: object, by = helper): Promise<{ readonly id: number }> {
    const answer = await by.call("POST", path, body);
    if (answer.status !== 201) throw new Error(answer.text);
    return answer.body.data;
  }
  const user = async () => {
    const username = fresh("about");
    return { username, ...(await made("/users", { username, email: `${username}@example.org` })) };
  };
  const key = async (by: Asking) => (await made("/me/keys", { name: "Laptop", public_key: freshKey() }, by.client)).id;
  const admin = async () => (await addAdmin(app.system, fresh("other"), "other@example.org", password, "operator")).id;
  const group = async () => (await createGroup(app.system, { name: fresh("group") })).row.id;
  const company = async () => (await createCompany(app.system, { name: fresh("company") })).row.id;
  const review = async () =>
    (await startReview(app.system, { scope: "all", dueDays: 14, unanswered: "report" })).row.id;
  const hook = async () => (await createWebhook(app.system, { url: hookUrl, actions: ["audit.purge"] })).entry.id;
  const application = async () => {
    const username = fresh("applicant");
    return (await made("/approvals", { username, email: `${username}@example.org` }, app.anonymous())).id;
  };
  const onRequest = (id: number) => updateUser(app.system, id, { onRequest: { rule: "self", maxHours: 4 } });
  const passkey = async ({ client }: Asking) => (await addPasskeyTo(client, password)).recordId;
  const beginTotp = async ({ client }: Asking) => {
    const { secret, ticket } = (await client.call("POST", "/auth/totp/begin", { password })).body.data;
    return { ticket, code: new TOTP({ secret }).generate({ timestamp: app.clock.now().getTime() }) };
  };

  const profile = async () => (await createProfile(app.system, { name: fresh("profile"), kind: "shell" })).row.id;

  const MAKE: Readonly<Record<string, Make>> = {
    "POST /profiles": async () => ({ path: "/profiles", body: { name: fresh("mine"), kind: "shell" } }),
    "PATCH /profiles/{id}": async () => ({ path: `/profiles/${await profile()}`, body: { idle: "5m" } }),
    "DELETE /profiles/{id}": async () => ({ path: `/profiles/${await profile()}` }),
    "POST /auth/logout": async () => ({ path: "/auth/logout" }),
    "POST /auth/admin/password": async () => ({
      path: "/auth/admin/password",
      body: { password, new_password: "eight kettles under old bridges" },
    }),
    "POST /auth/passkeys/begin": async () => ({ path: "/auth/passkeys/begin", body: { password } }),
    "POST /auth/passkeys": async ({ client }) => {
      const begun = await client.call("POST", "/auth/passkeys/begin", { password });
      return { path: "/auth/passkeys", body: { name: "Phone", passkey: makePasskey(begun.body.data).answer } };
    },
    "PATCH /auth/passkeys/{id}": async (by) => ({
      path: `/auth/passkeys/${await passkey(by)}`,
      body: { name: "Renamed" },
    }),
    "DELETE /auth/passkeys/{id}": async (by) => ({ path: `/auth/passkeys/${await passkey(by)}`, body: { password } }),
    "POST /auth/totp/begin": async () => ({ path: "/auth/totp/begin", body: { password } }),
    "POST /auth/totp": async (by) => ({ path: "/auth/totp", body: await beginTotp(by) }),
    "DELETE /auth/totp": async (by) => {
      const answer = await by.client.call("POST", "/auth/totp", await beginTotp(by));
      if (answer.status !== 201) throw new Error(answer.text);
      return { path: "/auth/totp", body: { password } };
    },
    "POST /users": async () => ({ path: "/users", body: { username: fresh("late"), email: "late@example.org" } }),
    "POST /users/import": async () => ({ path: "/users/import", body: csvOf(fresh("imported")), type: "text/csv" }),
    "POST /users/{id}/welcome": async () => {
      const file = new TextEncoder().encode(csvOf(fresh("untold")));
      const { created } = await importUsers(app.system, file, { mail: false });
      return { path: `/users/${created[0]?.id}/welcome` };
    },
    "PATCH /users/{id}": async () => ({ path: `/users/${(await user()).id}`, body: { email: "mine@example.org" } }),
    "DELETE /users/{id}": async () => ({ path: `/users/${(await user()).id}` }),
    "POST /users/{id}/disable": async () => ({ path: `/users/${(await user()).id}/disable` }),
    "POST /users/{id}/enable": async () => {
      const { id } = await user();
      await disableUser(app.system, id);
      return { path: `/users/${id}/enable` };
    },
    "POST /users/{id}/extend": async () => ({ path: `/users/${(await user()).id}/extend`, body: { days: 3650 } }),
    "DELETE /users/{id}/keys/{keyId}": async () => {
      const owner = await app.user(fresh("keyed"));
      return { path: `/users/${owner.id}/keys/${await key({ username: "", ...owner })}` };
    },
    "POST /users/{id}/found-keys": async () => {
      const { id } = await user();
      const found = foundKey("Laptop");
      await noteAdopted(app, id, [found]);
      return { path: `/users/${id}/found-keys`, body: { answer: "confirm", fingerprints: [found.fingerprint] } };
    },
    "DELETE /users/{id}/sessions/{sessionId}": async () => {
      const { id, username } = await user();
      const session = { id: String(++count), from: "192.0.2.9", since: app.clock.now() };
      app.host.sessionsOpen.push({ ...session, account: `ext_${username}` } as (typeof app.host.sessionsOpen)[number]);
      return { path: `/users/${id}/sessions/${session.id}` };
    },
    "DELETE /users/{id}/web-sessions": async () => ({
      path: `/users/${(await app.user(fresh("signed-in"))).id}/web-sessions`,
    }),
    "PUT /users/{id}/hosts": async () => {
      const { row } = await createGroup(app.system, { name: fresh("given") });
      return { path: `/users/${(await user()).id}/hosts`, body: { hosts: [], groups: [row.name] } };
    },
    "POST /me/keys": async () => ({ path: "/me/keys", body: { name: "Late", public_key: freshKey() } }),
    "PATCH /me/keys/{id}": async (by) => ({ path: `/me/keys/${await key(by)}`, body: { name: "Renamed" } }),
    "DELETE /me/keys/{id}": async (by) => ({ path: `/me/keys/${await key(by)}` }),
    "POST /me/terms": async () => ({ path: "/me/terms", body: { version: TERMS.version } }),
    "POST /me/lock": async () => ({ path: "/me/lock" }),
    "POST /me/access": async (by) => {
      await onRequest(by.id);
      return { path: "/me/access", body: { hours: 1, reason: "Deploy" } };
    },
    "DELETE /me/access": async (by) => {
      await onRequest(by.id);
      await allowAccess(app.system, by.id, { hours: 1, hosts: null });
      return { path: "/me/access" };
    },
    "DELETE /users/{id}/access": async () => {
      const { id } = await user();
      await onRequest(id);
      await allowAccess(app.system, id, { hours: 1, hosts: null });
      return { path: `/users/${id}/access` };
    },
    "POST /me/extension": async () => ({ path: "/me/extension", body: { days: 30, reason: "Still testing" } }),
    "DELETE /me/extension": async ({ client }) => {
      await made("/me/extension", { days: 30, reason: "Still testing" }, client);
      return { path: "/me/extension" };
    },
    "POST /me/company/users/{id}/end": async (by) => {
      const { id } = await user();
      await app.db
        .update(users)
        .set({ companyId: await makeManager(app, by.id) })
        .where(eq(users.id, id));
      return { path: `/me/company/users/${id}/end` };
    },
    "POST /me/company/applications": async (by) => {
      await makeManager(app, by.id);
      const username = fresh("colleague");
      const body = { username, email: `${username}@example.org`, purpose: "Tests" };
      return { path: "/me/company/applications", body };
    },
    "POST /approvals/{id}/review": async () => ({
      path: `/approvals/${await application()}/review`,
      body: { approve: true },
    }),
    "PUT /settings": async () => ({
      path: "/settings",
      body: { key: "policy.default_ttl", value: `${90 + ++count}d` },
    }),
    "DELETE /settings/{key}": async () => {
      await helper.call("PUT", "/settings", { key: "policy.default_ttl", value: `${90 + ++count}d` });
      return { path: "/settings/policy.default_ttl" };
    },
    "POST /admins": async () => ({
      path: "/admins",
      body: { username: fresh("new"), email: "new@example.org", password },
    }),
    "PATCH /admins/{id}": async () => ({ path: `/admins/${await admin()}`, body: { role: "owner", password } }),
    "DELETE /admins/{id}": async () => ({ path: `/admins/${await admin()}` }),
    "DELETE /admins/{id}/sessions": async () => ({ path: `/admins/${await admin()}/sessions` }),
    "DELETE /removed-admins/{id}": async () => {
      const removed = { issuer: "https://id.example.org", subject: fresh("subject"), username: fresh("removed") };
      const row = { ...removed, createdAt: app.clock.now() };
      const [stored] = await app.db.insert(ssoIdentities).values(row).returning();
      return { path: `/removed-admins/${stored?.id}`, body: { password } };
    },
    "POST /tokens": async () => ({
      path: "/tokens",
      body: { name: "Late", role: "auditor", days: 366, password },
    }),
    "DELETE /tokens/{id}": async ({ username }) => {
      const wanted = { name: "mine", role: "auditor", days: 1, networks: [] } as const;
      return { path: `/tokens/${(await createToken(app.system, { owner: username }, wanted)).entry.id}` };
    },
    "POST /webhooks": async () => ({ path: "/webhooks", body: { url: hookUrl, actions: ["audit.purge"], password } }),
    "PATCH /webhooks/{id}": async () => ({
      path: `/webhooks/${await hook()}`,
      body: { url: `${hookUrl}/other`, password },
    }),
    "DELETE /webhooks/{id}": async () => ({ path: `/webhooks/${await hook()}` }),
    "POST /webhooks/{id}/ping": async () => ({ path: `/webhooks/${await hook()}/ping` }),
    "POST /webhooks/{id}/deliveries/{deliveryId}/redeliver": async () => {
      const id = await hook();
      const { body } = await helper.call("POST", `/webhooks/${id}/ping`);
      return { path: `/webhooks/${id}/deliveries/${body.data.id}/redeliver` };
    },
    "POST /hosts/tokens": async () => ({ path: "/hosts/tokens", body: { name: fresh("joining"), password } }),
    "PATCH /hosts/{id}": async () => ({
      path: `/hosts/${(await insertHost(app, fresh("host"))).id}`,
      body: { lease: "none" },
    }),
    "POST /hosts/{id}/lock": async () => ({ path: `/hosts/${(await insertHost(app, fresh("host"))).id}/lock` }),
    "POST /hosts/{id}/unlock": async () => ({
      path: `/hosts/${(await insertHost(app, fresh("host"), { status: "locked" })).id}/unlock`,
    }),
    "DELETE /hosts/{id}": async () => ({ path: `/hosts/${(await insertHost(app, fresh("host"))).id}` }),
    "POST /sponsors/move": async () => {
      const from = `${fresh("sponsor")}@example.com`;
      await made("/users", { username: fresh("sponsored"), email: "sponsored@example.org", sponsor_email: from });
      return { path: "/sponsors/move", body: { from, to: "next@example.com" } };
    },
    "POST /companies": async () => ({ path: "/companies", body: { name: fresh("company") } }),
    "PATCH /companies/{id}": async () => ({ path: `/companies/${await company()}`, body: { max_users: 3 } }),
    "DELETE /companies/{id}": async () => ({ path: `/companies/${await company()}` }),
    "POST /companies/{id}/end": async () => ({ path: `/companies/${await company()}/end` }),
    "POST /reviews": async () => {
      await user();
      return { path: "/reviews", body: { scope: "all", due_days: 14 } };
    },
    "POST /reviews/{id}/items": async () => {
      const { id } = await user();
      return { path: `/reviews/${await review()}/items`, body: { users: [id], answer: "keep" } };
    },
    "POST /reviews/{id}/items/{user}": async () => {
      const { id } = await user();
      return { path: `/reviews/${await review()}/items/${id}`, body: { answer: "keep" } };
    },
    "POST /reviews/{id}/close": async () => {
      await user();
      return { path: `/reviews/${await review()}/close`, body: { unanswered: "report" } };
    },
    "POST /companies/{id}/resume": async () => {
      const id = await company();
      await endCompany(app.system, id);
      return { path: `/companies/${id}/resume` };
    },
    "POST /host-groups": async () => ({ path: "/host-groups", body: { name: fresh("new-group") } }),
    "PATCH /host-groups/{id}": async () => ({ path: `/host-groups/${await group()}`, body: { lease: "none" } }),
    "DELETE /host-groups/{id}": async () => ({ path: `/host-groups/${await group()}` }),
  };

  return {
    routes: Object.keys(MAKE),
    /** Makes what the route's request is about, and the request. */
    ask: async (route: string, by: Asking): Promise<Wanted> => {
      const make = MAKE[route];
      if (make === undefined) throw new Error(`there is no request for ${route}`);
      // With terms in force nobody's first key is stored before they are accepted.
      const inForce = route === "POST /me/terms" ? TERMS : undefined;
      Object.assign(app.services.policy, { terms: () => inForce });
      return await make(by);
    },
  };
}
