/** Tokens for machines over the API: what they may do, when they end, and what is told of them. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { addAdmin } from "../../../src/domain/auth/administrators/add-admin.ts";
import { removeAdmin, updateAdmin } from "../../../src/domain/auth/administrators/admin-changes.ts";
import { createToken, MAX_TOKENS, purgeTokens, revokeToken } from "../../../src/domain/auth/tokens/tokens.ts";
import { remindOfTokens } from "../../../src/domain/lifecycle/token-reminders.ts";
import type { AdminRole } from "../../../src/shared/product/statuses.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../../src/shared/time/clock.ts";
import { admins, tokens } from "../../../src/store/schema-auth.ts";
import {
  ADMIN_PASSWORD,
  type Answer,
  type Client,
  confirming,
  createTestApp,
  type TestApp,
} from "../../support/app.ts";
import { untilWaiting } from "../../support/waiting.ts";

let app: TestApp;
let owner: Client;
const warnings: { readonly message: string; readonly fields: unknown }[] = [];

beforeAll(async () => {
  const warn = (message: string, fields?: unknown) => void warnings.push({ message, fields });
  app = await createTestApp({ UAM_SESSION_TTL: "30d", UAM_RATE_LIMIT: "on" }, { warn });
  owner = confirming(await app.admin());
});
afterAll(() => app.close());

let count = 0;

/** An administrator of that role, logged in. */
async function administrator(role: AdminRole): Promise<{ readonly name: string; readonly client: Client }> {
  const name = `${role}-${++count}`;
  await addAdmin(app.system, name, `${name}@example.org`, ADMIN_PASSWORD, role);
  app.clock.advance(HOUR);
  const client = confirming(app.anonymous());
  const answer = await client.call("POST", "/auth/admin/login", { username: name, password: ADMIN_PASSWORD });
  expect(answer.status).toBe(200);
  return { name, client };
}

async function make(client: Client, wanted: object = {}): Promise<{ readonly id: number; readonly token: string }> {
  const answer = await client.call("POST", "/tokens", { name: "nightly", role: "reviewer", days: 30, ...wanted });
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body.data;
}

/** A request by a machine with that token. */
function use(token: string, method: string, path: string, body?: unknown, peer = "192.0.2.1"): Promise<Answer> {
  return app.anonymous(peer).call(method, path, body, { authorization: `Bearer ${token}` });
}

const reasonOf = ({ status, headers }: Answer) => `${status} ${headers.get("uam-error")}`;

describe("POST /tokens", () => {
  test("shows the token once, and stores its hash", async () => {
    const answer = await owner.call("POST", "/tokens", {
      ...{ name: "  nightly report ", role: "operator", days: 30, networks: ["192.0.2.0/24", "2001:DB8::/32"] },
    });
    expect(answer.status).toBe(201);
    const { token, ...record } = answer.body.data;
    expect(token).toMatch(/^uam_[0-9A-Za-z]{49}$/);
    expect(record).toEqual({
      ...{
        id: expect.any(Number),
        name: "nightly report",
        role: "operator",
        prefix: token.slice(0, 12),
        owner: "admin",
        made_by: null,
      },
      ...{ networks: ["192.0.2.0/24", "2001:db8::/32"], status: "active", revoked_at: null },
      ...{ last_used_at: null, last_used_from: "", created_at: app.clock.now().toISOString() },
      expires_at: new Date(app.clock.now().getTime() + 30 * DAY).toISOString(),
    });
    const [listed] = (await owner.call("GET", "/tokens")).body.data.items;
    expect(listed).toEqual(record);
    const rows = JSON.stringify([await app.db.select().from(tokens), await app.auditRows(), await app.mails()]);
    expect(rows).not.toContain(token.slice(12));
  });

  test.each([
    [{ days: 0 }, 400, "days must be a whole number from 1 to 366"],
    [{ days: 367 }, 400, "days must be"],
    [{ days: 1.5 }, 400, "days must be"],
    [{ days: "30" }, 400, "days must be a number"],
    [{ days: undefined }, 400, "days is missing"],
    [{ name: " " }, 400, "The name must not be empty"],
    [{ name: "a\nb" }, 400, "control characters"],
    [{ name: "\u202eb" }, 400, "direction of writing"],
    [{ name: "x".repeat(65) }, 400, "longer than 64"],
    [{ role: "root" }, 400, "role must be one of"],
    [{ role: undefined }, 400, "role is missing"],
    [{ networks: ["192.0.2.1/24"] }, 400, "192.0.2.1/24"],
    [{ networks: ["192.0.2.0/33"] }, 400, "192.0.2.0/33"],
    [{ networks: Array(33).fill("192.0.2.0/24") }, 400, "networks must have at most 32 entries"],
    [{ networks: "192.0.2.0/24" }, 400, "networks"],
    [{ network: ["192.0.2.0/24"] }, 400, "network"],
  ])("%j is %d", async (wanted, status, sentence) => {
    const before = (await owner.call("GET", "/tokens")).body.data.total;
    const answer = await owner.call("POST", "/tokens", { name: "x", role: "owner", days: 1, ...wanted });
    expect(answer.status).toBe(status);
    expect(answer.body.error).toContain(sentence);
    expect((await owner.call("GET", "/tokens")).body.data.total).toBe(before);
    expect(await app.lastAudit("token.create")).toMatchObject({ result: "failed", actorType: "admin", actor: "admin" });
  });

  test.each([
    ["owner", "owner operator reviewer auditor"],
    ["operator", "operator reviewer"],
    ["reviewer", "reviewer"],
    ["auditor", "auditor"],
  ] as const)("an %s makes tokens with the roles %s", async (role, allowed) => {
    const { client, name } = await administrator(role);
    const made: string[] = [];
    for (const wanted of ["owner", "operator", "reviewer", "auditor"]) {
      const answer = await client.call("POST", "/tokens", { name: wanted, role: wanted, days: 1 });
      if (answer.status === 201) made.push(wanted);
      else expect(answer.body.error).toBe(`A token's role must be within yours, which is ${role}; ${wanted} is not`);
    }
    expect(made.join(" ")).toBe(allowed);
    expect((await app.mails(`${name}@example.org`)).map(({ subject }) => subject)).toEqual(
      made.map(() => "A token for 127.0.0.1 was made in your name"),
    );
  });

  test("there is a limit, which what was revoked does not count towards", async () => {
    const { name, client } = await administrator("reviewer");
    for (let n = 0; n < MAX_TOKENS - 1; n++) {
      await createToken(app.system, { owner: name }, { name: "x", role: "reviewer", days: 1, networks: [] });
    }
    const both = await Promise.all(
      [1, 2].map(() => client.call("POST", "/tokens", { name: "y", role: "reviewer", days: 1 })),
    );
    expect(both.map(reasonOf).sort()).toEqual(["201 null", "409 token.limit"]);
    const { id } = both.find(({ status }) => status === 201)?.body.data ?? {};
    await client.call("DELETE", `/tokens/${id}`);
    await make(client);
  });
});

describe("a token", () => {
  test("acts for its owner, with its own role, from the first request on", async () => {
    const { id, token } = await make(owner, { role: "operator" });
    const me = await use(token, "GET", "/auth/me");
    expect(me.body.data).toEqual({
      ...{
        user_type: "admin",
        id: expect.any(Number),
        username: "admin",
        email: "admin@example.org",
        role: "operator",
      },
      token: { id, name: "nightly", expires_at: expect.any(String) },
    });
    const made = await use(token, "POST", "/users", { username: `made-${id}`, email: "m@example.org" });
    expect(made.status).toBe(201);
    const record = await app.lastAudit("user.create");
    expect(record).toMatchObject({ actorType: "token", actor: "nightly", ip: "192.0.2.1" });
    expect(record.detail).toMatchObject({ username: `made-${id}`, owner: "admin", token_id: id });
    const { items } = (await owner.call("GET", "/audit?actor=nightly&action=user.create")).body.data;
    expect(items[0]).toMatchObject({ actor_type: "token", actor: "nightly" });
    const { text } = await owner.call("GET", "/audit/export");
    expect(text.includes(',token,"nightly",user.create,')).toBe(true);
    expect(reasonOf(await use(token, "GET", "/settings"))).toBe("403 role.insufficient");
  });

  test("needs no origin, and takes any", async () => {
    const { token } = await make(owner, { role: "owner" });
    const headers = {
      authorization: `Bearer ${token}`,
      origin: "https://evil.example",
      "sec-fetch-site": "cross-site",
    };
    const client = app.anonymous();
    expect((await client.call("DELETE", "/tokens/999999", undefined, headers)).status).toBe(404);
    expect(reasonOf(await client.call("DELETE", "/tokens/999999", undefined, { ...headers, authorization: "" }))).toBe(
      "403 request.origin",
    );
  });

  test("is refused beside a session, its own owner's too", async () => {
    const { token } = await make(owner);
    const answer = await owner.call("GET", "/auth/me", undefined, { authorization: `Bearer ${token}` });
    expect(reasonOf(answer)).toBe("400 token.misplaced");
    // Another service's, as a proxy in front may send one.
    expect((await owner.call("GET", "/auth/me", undefined, { authorization: "Bearer eyJhbGciOi" })).status).toBe(200);
  });

  test("ends neither sessions nor changes passwords", async () => {
    const { token } = await make(owner, { role: "owner" });
    expect(reasonOf(await use(token, "POST", "/auth/logout"))).toBe("403 token.not_allowed");
    const change = { password: ADMIN_PASSWORD, new_password: "eleven candles under warm sand" };
    expect(reasonOf(await use(token, "POST", "/auth/admin/password", change))).toBe("403 token.not_allowed");
    expect(reasonOf(await use(token, "GET", "/me"))).toBe("403 session.wrong_kind");
    expect((await owner.call("GET", "/auth/me")).status).toBe(200);
  });

  test("is refused to the second of its end", async () => {
    const { token } = await make(owner, { days: 1 });
    app.clock.advance(DAY - SECOND);
    expect((await use(token, "GET", "/auth/me")).status).toBe(200);
    app.clock.advance(SECOND);
    expect(reasonOf(await use(token, "GET", "/auth/me"))).toBe("401 token.expired");
    expect((await owner.call("GET", "/tokens")).body.data.items[0]).toMatchObject({
      status: "expired",
      revoked_at: null,
    });
  });

  test("is refused from outside its networks, with a reason, and that is logged", async () => {
    const { id, token } = await make(owner, { networks: ["198.51.100.0/24", "2001:db8::/32"] });
    expect((await use(token, "GET", "/auth/me", undefined, "198.51.100.200")).status).toBe(200);
    expect((await use(token, "GET", "/auth/me", undefined, "2001:db8::7")).status).toBe(200);
    warnings.length = 0;
    const outside = await use(token, "GET", "/auth/me", undefined, "203.0.113.7");
    expect(reasonOf(outside)).toBe("401 token.network");
    expect(outside.body.error).toBe("The token may not be used from 203.0.113.7");
    expect(warnings).toContainEqual({
      message: "a token was used from outside its networks",
      fields: expect.objectContaining({ token: id, name: "nightly", owner: "admin", address: "203.0.113.7" }),
    });
    expect(JSON.stringify(warnings)).not.toContain(token.slice(12));
    const unix = app.anonymous(undefined);
    expect((await unix.call("GET", "/auth/me", undefined, { authorization: `Bearer ${token}` })).status).toBe(401);
    const [listed] = (await owner.call("GET", "/tokens")).body.data.items;
    expect(listed.last_used_from).toBe("198.51.100.200");
  });

  test("has its last use stored, at most once a minute", async () => {
    const { id, token } = await make(owner);
    const stored = async () => (await app.db.select().from(tokens).where(eq(tokens.id, id)))[0]?.lastUsedAt?.getTime();
    expect(await stored()).toBeUndefined();
    await Promise.all([1, 2, 3].map(() => use(token, "GET", "/auth/me")));
    const first = app.clock.now().getTime();
    expect(await stored()).toBe(first);
    app.clock.advance(MINUTE - SECOND);
    await use(token, "GET", "/auth/me");
    expect(await stored()).toBe(first);
    app.clock.advance(SECOND);
    await use(token, "GET", "/auth/me", undefined, "192.0.2.9");
    expect(await stored()).toBe(first + MINUTE);
    expect((await owner.call("GET", "/tokens")).body.data.items[0]).toMatchObject({ last_used_from: "192.0.2.9" });
  });

  test("works where its use cannot be stored", async () => {
    const { token } = await make(owner);
    await app.alter("create function no_use() returns trigger language plpgsql as $$ begin raise 'disk full'; end $$");
    await app.alter("create trigger no_use before update on tokens for each row execute function no_use()");
    warnings.length = 0;
    expect((await use(token, "GET", "/auth/me")).status).toBe(200);
    await app.alter("drop trigger no_use on tokens");
    expect(warnings.map(({ message }) => message)).toEqual(["the use of a token could not be stored"]);
  });
});

describe("a wrong token", () => {
  test("counts against its address, and shuts out no right one", async () => {
    app.clock.advance(2 * HOUR);
    const { token } = await make(owner);
    const wrong = [
      `uam_${"0".repeat(49)}`,
      "uam_",
      `${token.slice(0, -1)}${token.endsWith("0") ? "1" : "0"}`,
      `${token} x`,
    ];
    const peer = "203.0.113.99";
    warnings.length = 0;
    for (let n = 0; n < 60; n++) {
      expect(reasonOf(await use(wrong[n % wrong.length] ?? "", "GET", "/auth/me", undefined, peer))).toBe(
        "401 token.wrong",
      );
    }
    const limited = await use("uam_", "GET", "/auth/me", undefined, peer);
    expect(reasonOf(limited)).toBe("429 rate.limited");
    expect(limited.headers.get("retry-after")).toBe("3600");
    expect((await use(token, "GET", "/auth/me", undefined, peer)).status).toBe(200);
    const elsewhere = await use("uam_", "GET", "/auth/me", undefined, "203.0.113.98");
    expect([elsewhere.status, elsewhere.body]).toEqual([401, { error: "Invalid token" }]);
    expect(warnings).toHaveLength(62);
    expect(warnings[0]).toMatchObject({ message: "a token was refused", fields: { status: 401, address: peer } });
    expect(JSON.stringify(warnings)).not.toContain(token.slice(12));
    // A login from there is another matter.
    const login = await app.anonymous(peer).call("POST", "/auth/admin/login", { username: "admin", password: "x" });
    expect(login.status).toBe(401);
  });

  test("takes the scheme in any case, and nothing beside the token", async () => {
    const { token } = await make(owner);
    const status = async (authorization: string) =>
      (await app.anonymous().call("GET", "/auth/me", undefined, { authorization })).status;
    expect(await status(`bearer ${token}`)).toBe(200);
    expect(await status(`BEARER  ${token}`)).toBe(200);
    for (const wrong of [`Bearer ${token}, Bearer ${token}`, `Bearer ${token}.`, `Token ${token}`, token, "Bearer"]) {
      expect(await status(wrong)).toBe(401);
    }
  });
});

describe("a token and tokens", () => {
  test("makes none of a higher role, and for no other networks", async () => {
    const networks = ["192.0.2.0/24"];
    const { token } = await make(owner, { role: "operator", networks });
    const ask = (wanted: object) =>
      use(token, "POST", "/tokens", { name: "child", role: "reviewer", days: 1, ...wanted });
    expect(reasonOf(await ask({ role: "owner" }))).toBe("403 role.insufficient");
    expect(reasonOf(await ask({ role: "auditor" }))).toBe("403 role.insufficient");
    expect(reasonOf(await ask({ networks: ["192.0.0.0/16"] }))).toBe("403 token.not_allowed");
    expect((await ask({})).body.data.networks).toEqual(networks);
    const child = await ask({ role: "operator", networks: ["192.0.2.128/25"] });
    expect(child.body.data).toMatchObject({ owner: "admin", networks: ["192.0.2.128/25"] });
    expect((await app.lastAudit("token.create")).detail).toMatchObject({ owner: "admin", administrator: "admin" });
    const [mail] = (await app.mails("admin@example.org")).slice(-1);
    expect(mail?.text).toContain("nightly, a token of admin");
  });

  test("lists its owner's, and an owner's all", async () => {
    const { name, client } = await administrator("reviewer");
    const { token } = await make(client);
    const owners = async (answer: Promise<Answer>) =>
      new Set((await answer).body.data.items.map((item: { readonly owner: string }) => item.owner));
    expect(await owners(client.call("GET", "/tokens"))).toEqual(new Set([name]));
    expect(await owners(use(token, "GET", "/tokens"))).toEqual(new Set([name]));
    const all = await make(owner, { role: "owner" });
    expect((await owners(owner.call("GET", "/tokens?page_size=500"))).size).toBeGreaterThan(1);
    expect((await owners(use(all.token, "GET", "/tokens?page_size=500"))).size).toBeGreaterThan(1);
    const few = await make(owner, { role: "operator" });
    expect(await owners(use(few.token, "GET", "/tokens?page_size=500"))).toEqual(new Set(["admin"]));
    expect((await client.call("GET", "/tokens?page=2")).body.data).toEqual({ total: 1, items: [] });
  });

  test("revokes itself and what may do no more, of its owner", async () => {
    const strong = await make(owner, { role: "owner" });
    const weak = await make(owner, { role: "reviewer" });
    expect(reasonOf(await use(weak.token, "DELETE", `/tokens/${strong.id}`))).toBe("403 role.insufficient");
    const { client } = await administrator("reviewer");
    const other = await make(client);
    expect(reasonOf(await use(weak.token, "DELETE", `/tokens/${other.id}`))).toBe("404 token.missing");
    expect(reasonOf(await client.call("DELETE", `/tokens/${weak.id}`))).toBe("404 token.missing");
    expect((await use(weak.token, "DELETE", `/tokens/${weak.id}`)).body.data).toMatchObject({ status: "revoked" });
    expect(reasonOf(await use(weak.token, "GET", "/auth/me"))).toBe("401 token.revoked");
    expect((await use(strong.token, "DELETE", `/tokens/${other.id}`)).status).toBe(200);
  });
});

describe("a token that a token made", () => {
  type Token = { readonly id: number; readonly token: string };
  async function child(parent: Token, days = 30): Promise<Token & { readonly expires_at: string }> {
    const made = await use(parent.token, "POST", "/tokens", { name: "child", role: "reviewer", days });
    expect(made.status).toBe(201);
    expect(made.body.data.made_by).toBe(parent.id);
    return made.body.data;
  }
  const answers = async (...asking: readonly Token[]) =>
    await Promise.all(asking.map(async ({ token }) => reasonOf(await use(token, "GET", "/auth/me"))));
  const revoked = "401 token.revoked";

  test("ends with it at the latest", async () => {
    const parent = await make(owner, { role: "operator", days: 3 });
    const until = new Date(app.clock.now().getTime() + 3 * DAY).toISOString();
    expect((await child(parent)).expires_at).toBe(until);
    const short = await child(parent, 2);
    expect(short.expires_at).toBe(new Date(app.clock.now().getTime() + 2 * DAY).toISOString());
    expect(parent).toMatchObject({ made_by: null });
  });

  test("is revoked with it, in all generations, each on record, and no other is", async () => {
    const parent = await make(owner, { role: "operator" });
    const first = await child(parent);
    const second = await child(first);
    const third = await child(second);
    const sibling = await child(parent);
    expect((await owner.call("DELETE", `/tokens/${first.id}`)).body.data.status).toBe("revoked");
    expect(await answers(first, second, third)).toEqual([revoked, revoked, revoked]);
    expect(await answers(parent, sibling)).toEqual(["200 null", "200 null"]);
    const records = (await app.auditRows("token.revoke")).slice(-3);
    expect(new Set(records.map(({ resourceId }) => resourceId))).toEqual(
      new Set([first, second, third].map(({ id }) => String(id))),
    );
    expect(JSON.parse(records.find(({ resourceId }) => resourceId === String(third.id))?.detail ?? "")).toMatchObject({
      made_by: second.id,
    });
  });

  test("is revoked though what made it was before", async () => {
    const parent = await make(owner, { role: "operator" });
    const first = await child(parent);
    await app.alter(`update tokens set revoked_at = now() where id = ${parent.id}`);
    expect(await answers(first)).toEqual(["200 null"]);
    expect((await owner.call("DELETE", `/tokens/${parent.id}`)).status).toBe(200);
    expect(await answers(first)).toEqual([revoked]);
  });

  test("goes with the role that what made it had", async () => {
    const { name, client } = await administrator("owner");
    const parent = await make(client, { role: "owner" });
    const first = await child(parent);
    await updateAdmin(app.system, name, { role: "operator" });
    expect(await answers(first)).toEqual([revoked]);
  });

  test("is not left by what is revoked at the same instant", async () => {
    for (let round = 0; round < 10; round++) {
      const parent = await make(owner, { role: "operator" });
      const making = use(parent.token, "POST", "/tokens", { name: "child", role: "reviewer", days: 1 });
      const [made] = await Promise.all([making, owner.call("DELETE", `/tokens/${parent.id}`)]);
      if (made.status === 201) expect(await answers(made.body.data)).toEqual([revoked]);
      else expect(reasonOf(made)).toBe(revoked);
    }
  });
});

describe("tokens that tokens make", () => {
  const ask = (token: string) => use(token, "POST", "/tokens", { name: "child", role: "auditor", days: 1 });
  const mailed = async (name: string) => (await app.mails(`${name}@example.org`)).length;

  test("are 30 an hour for one owner, whichever makes them and however many are revoked meanwhile", async () => {
    const { name, client } = await administrator("auditor");
    const makers = [await make(client, { role: "auditor" }), await make(client, { role: "auditor" })];
    const before = await mailed(name);
    for (let n = 0; n < 30; n++) {
      const { token = "" } = makers[n % 2] ?? {};
      const made = await ask(token);
      expect(made.status).toBe(201);
      if (n === 0) makers.push(made.body.data);
      else expect((await use(token, "DELETE", `/tokens/${made.body.data.id}`)).status).toBe(200);
      app.clock.advance(MINUTE);
    }
    for (const { token } of makers) {
      const { status, headers } = await ask(token);
      expect([status, headers.get("uam-error"), headers.get("retry-after")]).toEqual([429, "token.made", "1800"]);
    }
    expect(await mailed(name)).toBe(before + 30);
    // Neither their owner nor anybody else's tokens are held up.
    expect((await make(client, { role: "auditor" })).id).toBeGreaterThan(0);
    expect((await ask((await make(owner, { role: "auditor" })).token)).status).toBe(201);
    app.clock.advance(HOUR / 2);
    expect((await ask(makers[0]?.token ?? "")).status).toBe(201);
  });

  test("are no more than that at the same instant", async () => {
    const { client } = await administrator("auditor");
    const { token } = await make(client, { role: "auditor" });
    const answers = await Promise.all(Array.from({ length: 40 }, () => ask(token)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(30);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(10);
  });
});

describe("DELETE /tokens/:id", () => {
  test("answers the record, at once and once", async () => {
    const { id, token } = await make(owner);
    const answers = await Promise.all([1, 2, 3].map(() => owner.call("DELETE", `/tokens/${id}`)));
    for (const { status, body } of answers) {
      expect([status, body.data.status, body.data.revoked_at]).toEqual([200, "revoked", app.clock.now().toISOString()]);
      expect(body.data).not.toHaveProperty("token");
    }
    expect((await app.auditRows("token.revoke")).filter(({ resourceId }) => resourceId === String(id))).toHaveLength(1);
    expect(reasonOf(await use(token, "GET", "/auth/me"))).toBe("401 token.revoked");
  });
});

describe("while a request is under way", () => {
  /** A request whose body ends only after `meanwhile`; the guard has seen the token by then. */
  async function slowly(
    token: string,
    path: string,
    body: object,
    meanwhile: () => Promise<unknown>,
  ): Promise<Response> {
    const bytes = new TextEncoder().encode(JSON.stringify(body));
    let isBegun = false;
    // Nothing is asked for before the guard has let the request in.
    const stream = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          if (isBegun) {
            await meanwhile();
            controller.enqueue(bytes.slice(5));
            controller.close();
          } else controller.enqueue(bytes.slice(0, 5));
          isBegun = true;
        },
      },
      { highWaterMark: 0 },
    );
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const init: RequestInit = { method: "POST", headers, body: stream };
    return await app.app.fetch(new Request(`http://127.0.0.1:8080/api/v1${path}`, init), "192.0.2.1");
  }

  test("a revocation wins over what the token has not begun", async () => {
    const { id, token } = await make(owner, { role: "owner" });
    const body = { username: "too-late", email: "late@example.org" };
    const answer = await slowly(token, "/users", body, () => revokeToken(app.system, undefined, id));
    expect([answer.status, answer.headers.get("uam-error")]).toEqual([401, "token.revoked"]);
    expect(app.host.accounts.has("ext_too-late")).toBe(false);
    expect(await app.lastAudit("user.create")).toMatchObject({
      result: "failed",
      actorType: "token",
      actor: "nightly",
    });
  });

  test("so does the removal of its owner", async () => {
    const { name, client } = await administrator("owner");
    const { token } = await make(client, { role: "owner" });
    const body = { username: "too-late-again", email: "late@example.org" };
    const answer = await slowly(token, "/users", body, () => removeAdmin(app.system, name));
    expect(answer.status).toBe(401);
    expect(app.host.accounts.has("ext_too-late-again")).toBe(false);
  });

  test("and the owner's demotion, where administrators are concerned", async () => {
    const { name, client } = await administrator("owner");
    const { token } = await make(client, { role: "owner" });
    const { name: victim } = await administrator("operator");
    const [{ id } = { id: 0 }] = await app.db.select().from(admins).where(eq(admins.username, victim));
    // The role is taken away after the guard has let the request through: the rows are locked until then.
    const pending = await app.db.transaction(async (tx) => {
      await tx.select().from(admins).orderBy(admins.id).for("update");
      const request = use(token, "DELETE", `/admins/${id}`);
      await untilWaiting(app.db);
      await tx.update(admins).set({ role: "auditor" }).where(eq(admins.username, name));
      return { request };
    });
    expect(reasonOf(await pending.request)).toBe("403 role.insufficient");
    expect(await app.db.select().from(admins).where(eq(admins.username, victim))).toHaveLength(1);
    const made = { name: "child", role: "owner", days: 1 };
    expect((await slowly((await make(owner, { role: "owner" })).token, "/tokens", made, async () => {})).status).toBe(
      201,
    );
  });
});

describe("a token's owner", () => {
  const may = async (token: string) => {
    const paths = ["/settings", "/users", "/approvals", "/audit"];
    const reads = await Promise.all(paths.map((path) => use(token, "GET", path)));
    const changes = await Promise.all([
      use(token, "DELETE", "/settings/x"),
      use(token, "DELETE", "/users/999999"),
      use(token, "POST", "/approvals/999999/review", { approve: true }),
    ]);
    const role = (await use(token, "GET", "/auth/me")).body?.data?.role;
    const allowed = [...reads, ...changes].map(({ status }) => (status === 403 ? "-" : "+")).join("");
    return `${role} ${allowed}`;
  };

  test("who has another role by now lends at most that, and what is above it ends for good", async () => {
    const { name, client } = await administrator("owner");
    const all = await make(client, { role: "owner" });
    const daily = await make(client, { role: "operator" });
    const reads = await make(client, { role: "auditor" });
    const now = (role: AdminRole) => updateAdmin(app.system, name, { role });
    const each = async () => [await may(all.token), await may(daily.token), await may(reads.token)];
    const ENDED = "undefined +++++++";
    expect(await each()).toEqual(["owner +++++++", "operator -++--++", "auditor ++++---"]);
    await now("operator");
    // An auditor's token of an operator: what both may.
    expect(await each()).toEqual([ENDED, "operator -++--++", "auditor -++----"]);
    expect(reasonOf(await use(all.token, "GET", "/auth/me"))).toBe("401 token.revoked");
    expect(reasonOf(await use(reads.token, "POST", "/tokens", { name: "x", role: "auditor", days: 1 }))).toBe(
      "403 role.insufficient",
    );
    // Neither an auditor nor an operator is above the other.
    await now("auditor");
    expect(await each()).toEqual([ENDED, "operator -++----", "auditor ++++---"]);
    await now("owner");
    expect(await each()).toEqual([ENDED, "operator -++--++", "auditor ++++---"]);
    await now("reviewer");
    expect(await each()).toEqual([ENDED, ENDED, "auditor --+----"]);
  });

  test("who is removed leaves no token behind, nor does one of the same name get them back", async () => {
    const { name, client } = await administrator("operator");
    const made = [await make(client), await make(client, { role: "operator" })];
    await removeAdmin(app.system, name);
    for (const { token } of made) expect(reasonOf(await use(token, "GET", "/auth/me"))).toBe("401 token.revoked");
    const records = (await app.auditRows("token.revoke")).filter(({ resourceId }) =>
      made.some(({ id }) => String(id) === resourceId),
    );
    expect(records.map(({ actorType, result }) => [actorType, result])).toEqual([
      ["cli", "success"],
      ["cli", "success"],
    ]);
    await addAdmin(app.system, name, "again@example.org", ADMIN_PASSWORD, "owner");
    expect(reasonOf(await use(made[0]?.token ?? "", "GET", "/auth/me"))).toBe("401 token.revoked");
    const listed = (await owner.call("GET", "/tokens?page_size=500")).body.data.items;
    expect(listed.filter((item: { readonly owner: string }) => item.owner === name)).toHaveLength(2);
  });

  test("makes a token and is removed at the same instant: none is left in use", async () => {
    const { name, client } = await administrator("operator");
    const [made] = await Promise.all([
      client.call("POST", "/tokens", { name: "race", role: "operator", days: 1 }),
      removeAdmin(app.system, name),
    ]);
    expect([201, 401]).toContain(made.status);
    if (made.status === 201)
      expect(reasonOf(await use(made.body.data.token, "GET", "/users"))).toBe("401 token.revoked");
  });
});

describe("remindOfTokens()", () => {
  test("mails a week before the end, once, and not for what was revoked or just made", async () => {
    const { name, client } = await administrator("reviewer");
    const subjects = async () =>
      (await app.mails(`${name}@example.org`)).map(({ subject }) => subject).filter((text) => text.includes("soon"));
    await make(client, { name: "monthly", days: 30 });
    await make(client, { name: "weekly", days: 7 });
    const { id } = await make(client, { name: "gone", days: 30 });
    await client.call("DELETE", `/tokens/${id}`);
    await remindOfTokens(app.services);
    app.clock.advance(23 * DAY - SECOND);
    await remindOfTokens(app.services);
    expect(await subjects()).toEqual([]);
    app.clock.advance(SECOND);
    await Promise.all([remindOfTokens(app.services), remindOfTokens(app.services)]);
    app.clock.advance(DAY);
    await remindOfTokens(app.services);
    expect(await subjects()).toEqual(["The token monthly for 127.0.0.1 ends soon"]);
  });
});

describe("purgeTokens()", () => {
  test("forgets what ended long ago", async () => {
    const { id } = await make(owner, { days: 1 });
    app.clock.advance(400 * DAY);
    await purgeTokens(app.services);
    expect((await app.db.select().from(tokens).where(eq(tokens.id, id))).length).toBe(1);
    app.clock.advance(DAY);
    await purgeTokens(app.services);
    expect((await app.db.select().from(tokens).where(eq(tokens.id, id))).length).toBe(0);
  });
});
