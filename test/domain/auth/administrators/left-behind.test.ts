/** What an administrator leaves behind who is removed, or loses a role: nothing that lets anybody in. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { addAdmin } from "../../../../src/domain/auth/administrators/add-admin.ts";
import { removeAdmin, updateAdmin } from "../../../../src/domain/auth/administrators/admin-changes.ts";
import { listRemoved } from "../../../../src/domain/auth/sso/removed.ts";
import { createToken } from "../../../../src/domain/auth/tokens/tokens.ts";
import { ADMIN_ROLES, type AdminRole } from "../../../../src/shared/product/statuses.ts";
import { HOUR } from "../../../../src/shared/time/clock.ts";
import { admins, resetTokens, tokens } from "../../../../src/store/schema-auth.ts";
import { webhooks } from "../../../../src/store/schema-events.ts";
import { joinTokens } from "../../../../src/store/schema-fleet.ts";
import { ssoIdentities } from "../../../../src/store/schema-sso.ts";
import { ADMIN_PASSWORD, createTestApp, type TestApp } from "../../../support/app.ts";
import { newAgent } from "../../../support/fleet.ts";

let app: TestApp;
let count = 0;

beforeAll(async () => {
  app = await createTestApp({ UAM_SESSION_TTL: "30d" });
  await addAdmin(app.system, "stays", "stays@example.org", ADMIN_PASSWORD);
});
afterAll(() => app.close());
beforeEach(() => app.clock.advance(HOUR));

async function owner() {
  const name = `owner-${++count}`;
  const { id } = await addAdmin(app.system, name, `${name}@example.org`, ADMIN_PASSWORD);
  const client = app.anonymous();
  await client.call("POST", "/auth/admin/login", { username: name, password: ADMIN_PASSWORD });
  return { id, name, client };
}

type Owner = Awaited<ReturnType<typeof owner>>;

/** By the session, or by a token of the owner's. */
async function post({ client, name }: Owner, path: string, body: object, by: "session" | "token") {
  if (by === "session") return await client.call("POST", path, { ...body, password: ADMIN_PASSWORD });
  const wanted = { name: "machine", role: "owner", days: 1, networks: [] } as const;
  const { token } = await createToken(app.system, { owner: name }, wanted);
  return await app.anonymous().call("POST", path, body, { authorization: `Bearer ${token}` });
}

async function invite(by: Owner) {
  const username = `guest-${++count}`;
  const email = `${username}@example.net`;
  const wanted = { username, email, role: "owner", password: ADMIN_PASSWORD };
  expect((await by.client.call("POST", "/admins", wanted)).status).toBe(201);
  return { username, email, link: await linkTo(email) };
}

async function linkTo(email: string): Promise<string> {
  const text = (await app.mails(email)).at(-1)?.text ?? "";
  return /(?<![\w-])[\w-]{43}(?![\w-])/.exec(text)?.[0] ?? "";
}

const accept = (token: string) =>
  app.anonymous().call("POST", "/auth/admin/reset", { token, new_password: "eight kettles under old bridges" });

async function joinLine(by: Owner, way: "session" | "token" = "session"): Promise<string> {
  const answer = await post(by, "/hosts/tokens", {}, way);
  expect(answer.status).toBe(201);
  return answer.body.data.line.split(" ")[1];
}

const join = (token: string) => newAgent(app, `host-${++count}`).enrol(token);
const stored = async (username: string) => (await app.db.select().from(admins).where(eq(admins.username, username)))[0];

const ENDS: Readonly<Record<string, (by: Owner) => Promise<unknown>>> = {
  removed: ({ name }) => removeAdmin(app.system, name),
  "removed by another owner over the API": async ({ id }) => {
    const other = await owner();
    expect((await other.client.call("DELETE", `/admins/${id}`)).status).toBe(200);
  },
  "made an operator": ({ name }) => updateAdmin(app.system, name, { role: "operator" }),
  "made an auditor": ({ name }) => updateAdmin(app.system, name, { role: "auditor" }),
};

describe.each(Object.entries(ENDS))("an owner who is %s", (_, end) => {
  test.each(["session", "token"] as const)("leaves no token for joining a host, made by a %s", async (way) => {
    const [by, other] = [await owner(), await owner()];
    const [left, kept] = [await joinLine(by, way), await joinLine(other)];
    await end(by);
    expect((await join(left)).status).toBe(401);
    expect((await join(kept)).status).toBe(201);
  });

  test("leaves no invitation, nor a way to another one", async () => {
    const [by, other] = [await owner(), await owner()];
    const [left, kept] = [await invite(by), await invite(other)];
    await end(by);
    expect((await accept(left.link)).status).toBe(400);
    const mails = (await app.mails(left.email)).length;
    await app.anonymous().call("POST", "/auth/admin/forgot", { username: left.username });
    expect(await app.mails(left.email)).toHaveLength(mails);
    expect(await stored(left.username)).toBeUndefined();
    expect(await app.lastAudit("admin.remove")).toBeDefined();
    const removals = await app.auditRows("admin.remove");
    expect(removals.find(({ detail }) => JSON.parse(detail).username === left.username)).toMatchObject({
      ...{ result: "success", resourceType: "admin" },
      detail: expect.stringContaining(`"invited_by":"${by.name}"`),
    });
    expect((await accept(kept.link)).status).toBe(200);
  });

  test("leaves those in who had accepted", async () => {
    const by = await owner();
    const { username, link } = await invite(by);
    expect((await accept(link)).status).toBe(200);
    await end(by);
    expect(await stored(username)).toMatchObject({ role: "owner" });
  });
});

describe.each(Object.entries(ENDS))("what an owner who is %s gave beside", (_, end) => {
  test("leave to come in again is taken back unless it was used, and on record", async () => {
    const [by, other] = [await owner(), await owner()];
    const removedOf = async (subject: string) => {
      const row = { issuer: "https://id.example.org", subject, username: subject, createdAt: app.clock.now() };
      return (await app.db.insert(ssoIdentities).values(row).returning())[0]?.id;
    };
    const name = `left-${++count}`;
    const [left, kept] = [await removedOf(name), await removedOf(`kept-${++count}`)];
    const sure = { password: ADMIN_PASSWORD };
    expect((await by.client.call("DELETE", `/removed-admins/${left}`, sure)).status).toBe(200);
    expect((await other.client.call("DELETE", `/removed-admins/${kept}`, sure)).status).toBe(200);
    const shown = async () => (await listRemoved(app.system)).map(({ id }) => id);
    expect(await shown()).not.toContain(left as number);
    const before = (await app.auditRows()).length;
    await end(by);
    expect(await shown()).toContain(left as number);
    expect(await shown()).not.toContain(kept as number);
    const named = (await app.auditRows()).slice(before).map(({ detail }) => JSON.parse(detail).readmissions);
    expect(named).toContain(name);
  });

  test("a webhook goes on, is on record, and is shown with them as removed, if they are", async () => {
    const [by, other] = [await owner(), await owner()];
    const made = await by.client.call("POST", "/webhooks", {
      url: "https://hooks.example.org/x",
      password: ADMIN_PASSWORD,
    });
    expect(made.body.data).toMatchObject({ made_by: by.name, maker_removed: false, status: "active" });
    const before = (await app.auditRows()).length;
    await end(by);
    const { id } = made.body.data;
    const { items } = (await other.client.call("GET", "/webhooks?page_size=500")).body.data;
    const isRemoved = (await stored(by.name)) === undefined;
    expect(items.find((item: { readonly id: number }) => item.id === id)).toMatchObject({
      ...{ made_by: by.name, maker_removed: isRemoved, status: "active" },
    });
    const named = (await app.auditRows()).slice(before).map(({ detail }) => JSON.parse(detail).webhooks);
    expect(named).toContain(`${id} (https://hooks.example.org)`);
    await app.db.delete(webhooks);
  });
});

test("somebody of the same name is not who made a webhook", async () => {
  const by = await owner();
  await by.client.call("POST", "/webhooks", { url: "https://hooks.example.org/x", password: ADMIN_PASSWORD });
  await removeAdmin(app.system, by.name);
  await addAdmin(app.system, by.name, "new@example.org", ADMIN_PASSWORD);
  const { items } = (await (await owner()).client.call("GET", "/webhooks")).body.data;
  expect(items).toMatchObject([{ made_by: by.name, maker_removed: true }]);
  await app.db.delete(webhooks);
});

describe("who made an invitation", () => {
  test("is who mailed the link last: another address is another invitation", async () => {
    const [first, second] = [await owner(), await owner()];
    const { username } = await invite(first);
    const guest = await stored(username);
    await second.client.call("PATCH", `/admins/${guest?.id}`, {
      email: "elsewhere@example.net",
      password: ADMIN_PASSWORD,
    });
    const link = await linkTo("elsewhere@example.net");
    await removeAdmin(app.system, first.name);
    expect(await stored(username)).toBeDefined();
    await removeAdmin(app.system, second.name);
    expect(await stored(username)).toBeUndefined();
    expect((await accept(link)).status).toBe(400);
    expect(await app.db.$count(resetTokens, eq(resetTokens.adminId, guest?.id ?? 0))).toBe(0);
  });

  test("is invited at the same instant as being removed: nothing is left", async () => {
    for (let round = 0; round < 5; round++) {
      const by = await owner();
      const username = `guest-${++count}`;
      const email = `${username}@example.net`;
      const [invited, line] = await Promise.all([
        by.client.call("POST", "/admins", { username, email, password: ADMIN_PASSWORD }),
        by.client.call("POST", "/hosts/tokens", { password: ADMIN_PASSWORD }),
        removeAdmin(app.system, by.name),
      ]);
      expect([201, 401, 403]).toContain(invited.status);
      expect([201, 401]).toContain(line.status);
      expect(await stored(username)).toBeUndefined();
      expect(await app.db.select().from(joinTokens).where(eq(joinTokens.madeBy, by.id))).toEqual([]);
    }
  });
});

describe("a role that is lost", () => {
  const rolesLeft = async (name: string) => {
    const rows = await app.db.select().from(tokens).where(eq(tokens.owner, name));
    return rows.filter(({ revokedAt }) => revokedAt === null).map(({ role }) => role);
  };

  test.each([
    ["operator", ["operator", "reviewer", "auditor"]],
    ["reviewer", ["reviewer", "auditor"]],
    ["auditor", ["operator", "reviewer", "auditor"]],
    ["owner", ["owner", "operator", "reviewer", "auditor"]],
  ] as const)("takes the tokens above it along, for good: %s", async (role: AdminRole, left) => {
    const { name } = await owner();
    for (const own of ADMIN_ROLES) {
      await createToken(app.system, { owner: name }, { name: own, role: own, days: 1, networks: [] });
    }
    await updateAdmin(app.system, name, { role });
    expect(await rolesLeft(name)).toEqual([...left]);
    await updateAdmin(app.system, name, { role: "owner" });
    expect(await rolesLeft(name)).toEqual([...left]);
    const records = (await app.auditRows("token.revoke")).filter(
      ({ detail }) => JSON.parse(detail).administrator === name,
    );
    expect(records.map(({ detail }) => JSON.parse(detail).role)).toEqual(
      ADMIN_ROLES.filter((own) => !left.includes(own as never)),
    );
  });
});

describe("a line that joins a host", () => {
  async function lineOf(by: Owner, maker: Awaited<ReturnType<typeof createToken>>) {
    const sent = { authorization: `Bearer ${maker.token}` };
    const made = await app.anonymous().call("POST", "/hosts/tokens", {}, sent);
    expect(made.status, by.name).toBe(201);
    return made.body.data.line.split(" ")[1] as string;
  }
  const machine = async (by: Owner, name: string) =>
    await createToken(app.system, { owner: by.name }, { name, role: "owner", days: 1, networks: [] });

  test("ends with the token that made it, and with what made that one; no other does", async () => {
    const by = await owner();
    const [first, other] = [await machine(by, "first"), await machine(by, "other")];
    const sent = { authorization: `Bearer ${first.token}` };
    const asked = { name: "child", role: "owner", days: 1 };
    const child = (await app.anonymous().call("POST", "/tokens", asked, sent)).body.data;
    const left = [await lineOf(by, first), await lineOf(by, child)];
    const kept = [await lineOf(by, other), await joinLine(by)];
    expect((await by.client.call("DELETE", `/tokens/${first.entry.id}`)).status).toBe(200);
    for (const line of left) expect((await join(line)).status).toBe(401);
    for (const line of kept) expect((await join(line)).status).toBe(201);
    const own = (await app.auditRows("token.revoke")).filter(({ resourceId }) => resourceId === String(first.entry.id));
    expect(JSON.parse(own.at(-1)?.detail ?? "")).toMatchObject({ join_tokens: 2 });
  });

  test("is not left by a token that is revoked at the same instant", async () => {
    const by = await owner();
    for (let round = 0; round < 10; round++) {
      const maker = await machine(by, `racing-${round}`);
      const sent = { authorization: `Bearer ${maker.token}` };
      const [made] = await Promise.all([
        app.anonymous().call("POST", "/hosts/tokens", {}, sent),
        by.client.call("DELETE", `/tokens/${maker.entry.id}`),
      ]);
      if (made.status === 201) expect((await join(made.body.data.line.split(" ")[1])).status).toBe(401);
      else expect(made.status).toBe(401);
    }
  });
});
