/** What a new password ends, however it was set. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { addAdmin } from "../../../src/domain/auth/administrators/add-admin.ts";
import { setAdminPassword } from "../../../src/domain/auth/administrators/admin-changes.ts";
import { createToken } from "../../../src/domain/auth/tokens/tokens.ts";
import { HOUR } from "../../../src/shared/time/clock.ts";
import { ADMIN_PASSWORD, type Answer, type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { newAgent } from "../../support/fleet.ts";

const NEW_PASSWORD = "eleven candles under warm sand";

let app: TestApp;
let count = 0;

beforeAll(async () => {
  app = await createTestApp();
  await addAdmin(app.system, "another", "another@example.org", ADMIN_PASSWORD);
});
afterAll(() => app.close());
beforeEach(() => app.clock.advance(HOUR));

interface Owner {
  readonly username: string;
  readonly client: Client;
}

async function owner(): Promise<Owner> {
  const username = `chief-${++count}`;
  await addAdmin(app.system, username, `${username}@example.org`, ADMIN_PASSWORD);
  const client = app.anonymous();
  const { status } = await client.call("POST", "/auth/admin/login", { username, password: ADMIN_PASSWORD });
  expect(status).toBe(200);
  return { username, client };
}

const reasonOf = ({ status, headers }: Answer) => `${status} ${headers.get("uam-error")}`;

describe("a new password", () => {
  const ways = {
    "by a mailed link": async ({ username }: Owner) => {
      await app.anonymous().call("POST", "/auth/admin/forgot", { username });
      const mail = (await app.mails(`${username}@example.org`)).at(-1);
      const token = /#([A-Za-z0-9_-]{43})$/m.exec(mail?.text ?? "")?.[1] ?? "";
      return (await app.anonymous().call("POST", "/auth/admin/reset", { token, new_password: NEW_PASSWORD })).status;
    },
    "at the shell": async ({ username }: Owner) => {
      expect(await setAdminPassword(app.system, username, NEW_PASSWORD)).toMatchObject({ tokens: 2 });
      return 200;
    },
  };

  test.each(Object.entries(ways))("%s voids their lines that join hosts, and nobody else's", async (_, set) => {
    const self = await owner();
    const wanted = { name: "m", role: "owner", days: 1, networks: [] } as const;
    await createToken(app.system, { owner: self.username }, wanted);
    const lines = [self, await owner()].map(async ({ client }) => {
      const { body } = await client.call("POST", "/hosts/tokens", { password: ADMIN_PASSWORD });
      return body.data.line.split(" ")[1];
    });
    const [left, kept] = await Promise.all(lines);
    await createToken(app.system, { owner: self.username }, wanted);
    expect(await set(self)).toBe(200);
    expect((await newAgent(app, `host-${++count}`).enrol(left)).status).toBe(401);
    expect((await newAgent(app, `host-${++count}`).enrol(kept)).status).toBe(201);
  });

  test.each(Object.entries(ways))("%s ends sessions and tokens, and each token is on record", async (_, set) => {
    const self = await owner();
    const wanted = { name: "m", role: "owner", days: 1, networks: [] } as const;
    const made = [
      await createToken(app.system, { owner: self.username }, wanted),
      await createToken(app.system, { owner: self.username }, wanted),
    ];
    const others = await createToken(app.system, { owner: "another" }, wanted);
    expect(await set(self)).toBe(200);
    const statusOf = async ({ token }: { readonly token: string }) =>
      reasonOf(await app.anonymous().call("GET", "/auth/me", undefined, { authorization: `Bearer ${token}` }));
    expect([await statusOf(made[0] as (typeof made)[0]), await statusOf(made[1] as (typeof made)[0])]).toEqual([
      "401 token.revoked",
      "401 token.revoked",
    ]);
    expect(await statusOf(others)).toBe("200 null");
    expect((await self.client.call("GET", "/auth/me")).status).toBe(401);
    const records = (await app.auditRows("token.revoke")).slice(-2);
    expect(records.map(({ resourceId, result }) => `${resourceId} ${result}`)).toEqual(
      made.map(({ entry }) => `${entry.id} success`),
    );
  });
});
