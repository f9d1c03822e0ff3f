/** The specification's table of endpoint-specific rules, row by row, each provoked for real. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { DAY, MINUTE } from "../../../src/shared/time/clock.ts";
import { type Answer, type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { freshKey } from "../../support/keys.ts";

let app: TestApp;
let admin: Client;
let count = 0;

beforeAll(async () => {
  app = await createTestApp({ UAM_SESSION_TTL: "30d" });
  admin = await app.admin();
});
afterAll(() => app.close());

const MISSING = 999_999;

/** A new user with a session. */
async function person() {
  app.clock.advance(MINUTE);
  const { id, client } = await app.user(`row-${++count}`);
  return { id, client, account: `ext_row-${count}`, username: `row-${count}` };
}

async function personWithKey() {
  const made = await person();
  const { body } = await made.client.call("POST", "/me/keys", { name: "laptop", public_key: freshKey() });
  return { ...made, key: body.data.id as number };
}

async function expiredPerson() {
  const made = await person();
  await app.db.execute(
    sql`update users set status = 'expired', expire_at = now() - interval '1 day' where id = ${made.id}`,
  );
  return made;
}

/** Takes a column away while `work` runs: every query that names it fails, but nothing in the session lookup does. */
async function without<T>(table: string, column: string, work: () => Promise<T>): Promise<T> {
  const rename = (from: string, to: string) => app.alter(`alter table ${table} rename column ${from} to ${to}`);
  await rename(column, `${column}_gone`);
  try {
    return await work();
  } finally {
    await rename(`${column}_gone`, column);
  }
}

const noUsers = <T>(work: () => Promise<T>) => without("users", "purpose", work);
const noKeys = <T>(work: () => Promise<T>) => without("ssh_keys", "bits", work);
const noAudit = <T>(work: () => Promise<T>) => without("audit", "ip", work);

/** Removes the account from the host, or puts somebody else's in its place. */
function displace(account: string, presence: "missing" | "foreign"): void {
  const found = app.host.accounts.get(account);
  if (found === undefined) throw new Error(`${account} is not on the host`);
  if (presence === "missing") app.host.accounts.delete(account);
  else app.host.accounts.set(account, { ...found, uid: 1 });
}

async function hostRefusing<T>(action: Parameters<TestApp["host"]["failing"]["add"]>[0], work: () => Promise<T>) {
  app.host.failing.add(action);
  try {
    return await work();
  } finally {
    app.host.failing.clear();
  }
}

type Row = readonly [endpoint: string, condition: string, status: number, provoke: () => Promise<Answer>];

const NEW_USER = () => ({ username: `made-${++count}`, email: "m@example.org" });

const TABLE: readonly Row[] = [
  // any :id route, any route with a body
  ...[
    ["GET", "/users/:id"],
    ["PATCH", "/users/:id"],
    ["DELETE", "/users/:id"],
    ["POST", "/users/:id/disable"],
    ["POST", "/users/:id/enable"],
    ["POST", "/users/:id/extend"],
    ["GET", "/users/:id/keys"],
    ["DELETE", "/users/:id/keys/1"],
    ["DELETE", "/users/1/keys/:id"],
    ["GET", "/users/:id/sessions"],
    ["DELETE", "/users/:id/sessions/10000001"],
    ["DELETE", "/users/1/sessions/:id"],
    ["POST", "/approvals/:id/review"],
  ].flatMap(([method = "", path = ""]) =>
    ["x", "-1", "1.5", "1e3", "0x1", "%20", "+1"].map(
      (id): Row => [
        `${method} ${path}`,
        `path id ${id} not an unsigned integer`,
        400,
        () =>
          admin.call(
            method,
            path.replace(":id", id),
            method === "GET" || method === "DELETE" ? undefined : { approve: true },
          ),
      ],
    ),
  ),
  ...["PATCH", "DELETE"].map(
    (method): Row => [
      `${method} /me/keys/:id`,
      "path id not an unsigned integer",
      400,
      async () => (await person()).client.call(method, "/me/keys/x", method === "PATCH" ? { name: "n" } : undefined),
    ],
  ),
  ...[
    ["POST", "/users", {}],
    ["POST", "/users", { username: "only-a-name" }],
    ["POST", "/auth/otp/send", { username: "x" }],
    ["POST", "/auth/otp/login", { username: "x" }],
    ["POST", "/auth/admin/login", { username: "x" }],
    ["POST", "/auth/admin/forgot", {}],
    ["POST", "/auth/admin/reset", { token: "x" }],
    ["POST", "/approvals", { username: "x" }],
    ["POST", "/approvals/1/review", {}],
    ["PUT", "/settings", { key: "policy.default_ttl" }],
    ["POST", "/admins", { username: "x" }],
    ["POST", "/auth/admin/password", { password: "x" }],
  ].flatMap(([method, path, body]): Row[] => [
    [`${method} ${path}`, "a required field is missing", 400, () => admin.call(String(method), String(path), body)],
    [`${method} ${path}`, "body not valid JSON", 400, () => admin.call(String(method), String(path), '{"a":')],
    [`${method} ${path}`, "no body", 400, () => admin.call(String(method), String(path))],
  ]),
  ...["PATCH /users/1", "POST /users/1/extend"].map(
    (route): Row => [
      route,
      "body not valid JSON",
      400,
      () => admin.call(route.split(" ")[0] ?? "", route.split(" ")[1] ?? "", "{"),
    ],
  ),
  [
    "POST /me/keys",
    "a required field is missing",
    400,
    async () => (await person()).client.call("POST", "/me/keys", { name: "n" }),
  ],
  [
    "PATCH /me/keys/:id",
    "a required field is missing",
    400,
    async () => {
      const { client, key } = await personWithKey();
      return client.call("PATCH", `/me/keys/${key}`, {});
    },
  ],

  [
    "POST /users",
    "username already exists",
    409,
    async () => {
      const { username } = await person();
      return admin.call("POST", "/users", { username, email: "a@example.org" });
    },
  ],
  [
    "POST /users",
    "host account of that name exists",
    409,
    async () => {
      const user = NEW_USER();
      app.host.accounts.set(`ext_${user.username}`, { uid: 1, open: true, expireAt: new Date(), file: [] });
      return admin.call("POST", "/users", user);
    },
  ],
  [
    "POST /users",
    "the host refuses",
    400,
    () => hostRefusing("createAccount", () => admin.call("POST", "/users", NEW_USER())),
  ],
  ["POST /users", "the database fails", 400, () => noUsers(() => admin.call("POST", "/users", NEW_USER()))],
  ["POST /users", "the record cannot be written", 400, () => noAudit(() => admin.call("POST", "/users", NEW_USER()))],
  ["GET /users", "listing failure", 500, () => noUsers(() => admin.call("GET", "/users"))],
  ["GET /users/:id", "no such user", 404, () => admin.call("GET", `/users/${MISSING}`)],
  [
    "GET /users/:id",
    "any other failure to load",
    404,
    async () => {
      const { id } = await person();
      return noUsers(() => admin.call("GET", `/users/${id}`));
    },
  ],
  ["PATCH /users/:id", "user not found", 404, () => admin.call("PATCH", `/users/${MISSING}`, { purpose: "x" })],
  [
    "PATCH /users/:id",
    "invalid e-mail",
    400,
    async () => admin.call("PATCH", `/users/${(await person()).id}`, { email: "x" }),
  ],
  [
    "PATCH /users/:id",
    "the database fails",
    400,
    async () => {
      const { id } = await person();
      return noUsers(() => admin.call("PATCH", `/users/${id}`, { purpose: "x" }));
    },
  ],

  ...["disable", "enable"].flatMap((verb): Row[] => {
    const route = `POST /users/:id/${verb}`;
    const call = (id: number) => admin.call("POST", `/users/${id}/${verb}`);
    return [
      [route, "user not found", 404, () => call(MISSING)],
      [route, "user expired", 409, async () => call((await expiredPerson()).id)],
      [
        route,
        "user whose time is up, before the job ran",
        409,
        async () => {
          const { id } = await person();
          await app.db.execute(
            sql`update users set expire_at = ${app.clock.now().toISOString()}::timestamptz where id = ${id}`,
          );
          return call(id);
        },
      ],
      [
        route,
        "host system account missing",
        409,
        async () => {
          const { id, account } = await person();
          app.host.accounts.delete(account);
          return call(id);
        },
      ],
      [
        route,
        "the host refuses",
        500,
        async () => {
          const { id } = await person();
          return hostRefusing(verb === "disable" ? "shutAccount" : "openAccount", () => call(id));
        },
      ],
      [
        route,
        "the database fails",
        500,
        async () => {
          const { id } = await person();
          return noKeys(() => noUsers(() => call(id)));
        },
      ],
    ];
  }),

  ["POST /users/:id/extend", "user not found", 404, () => admin.call("POST", `/users/${MISSING}/extend`, { days: 1 })],
  [
    "POST /users/:id/extend",
    "past the recycle period",
    500,
    async () => {
      const { id } = await person();
      const long = new Date(app.clock.now().getTime() - 31 * DAY).toISOString();
      await app.db.execute(sql`update users set status = 'expired', expire_at = ${long}::timestamptz where id = ${id}`);
      return admin.call("POST", `/users/${id}/extend`, { days: 1 });
    },
  ],
  [
    "POST /users/:id/extend",
    "the host refuses",
    500,
    async () => {
      const { id } = await person();
      return hostRefusing("openAccount", () => admin.call("POST", `/users/${id}/extend`, { days: 1 }));
    },
  ],
  [
    "POST /users/:id/extend",
    "the database fails",
    500,
    async () => {
      const { id } = await person();
      return noUsers(() => admin.call("POST", `/users/${id}/extend`, { days: 1 }));
    },
  ],
  [
    "POST /users/:id/extend",
    "days out of range",
    400,
    async () => admin.call("POST", `/users/${(await person()).id}/extend`, { days: -1 }),
  ],
  ["DELETE /users/:id", "user not found", 404, () => admin.call("DELETE", `/users/${MISSING}`)],
  [
    "DELETE /users/:id",
    "the host refuses",
    500,
    async () => {
      const { id } = await person();
      return hostRefusing("removeAccount", () => admin.call("DELETE", `/users/${id}`));
    },
  ],
  [
    "DELETE /users/:id",
    "the database fails",
    500,
    async () => {
      const { id } = await person();
      return noUsers(() => admin.call("DELETE", `/users/${id}`));
    },
  ],

  ...[
    ["invalid format", "not a key"],
    ["a rejected type", "ssh-dss AAAAB3NzaC1kc3MAAAAA"],
    ["several lines", `${freshKey()}\n${freshKey()}`],
  ].map(
    ([condition, key]): Row => [
      "POST /me/keys",
      `invalid key: ${condition}`,
      400,
      async () => (await person()).client.call("POST", "/me/keys", { name: "n", public_key: key }),
    ],
  ),
  [
    "POST /me/keys",
    "duplicate fingerprint",
    409,
    async () => {
      const { client } = await person();
      const key = { name: "n", public_key: freshKey() };
      await client.call("POST", "/me/keys", key);
      return client.call("POST", "/me/keys", key);
    },
  ],
  [
    "POST /me/keys",
    "user not found",
    404,
    async () => {
      const { id, client } = await person();
      await admin.call("DELETE", `/users/${id}`);
      return client.call("POST", "/me/keys", { name: "n", public_key: freshKey() });
    },
  ],
  [
    "POST /me/keys",
    "user disabled",
    409,
    async () => {
      const { id, client } = await person();
      await admin.call("POST", `/users/${id}/disable`);
      return client.call("POST", "/me/keys", { name: "n", public_key: freshKey() });
    },
  ],
  [
    "POST /me/keys",
    "user expired",
    409,
    async () => (await expiredPerson()).client.call("POST", "/me/keys", { name: "n", public_key: freshKey() }),
  ],
  [
    "POST /me/keys",
    "the host refuses",
    500,
    async () => {
      const { client } = await person();
      return hostRefusing("writeKeys", () => client.call("POST", "/me/keys", { name: "n", public_key: freshKey() }));
    },
  ],
  [
    "POST /me/keys",
    "the database fails",
    500,
    async () => {
      const { client } = await person();
      return noKeys(() => client.call("POST", "/me/keys", { name: "n", public_key: freshKey() }));
    },
  ],

  [
    "PATCH /me/keys/:id",
    "key not found",
    404,
    async () => (await person()).client.call("PATCH", `/me/keys/${MISSING}`, { name: "n" }),
  ],
  [
    "PATCH /me/keys/:id",
    "another user's key",
    404,
    async () => {
      const { key } = await personWithKey();
      return (await person()).client.call("PATCH", `/me/keys/${key}`, { name: "n" });
    },
  ],
  [
    "PATCH /me/keys/:id",
    "the user is deleted",
    404,
    async () => {
      const { id, client, key } = await personWithKey();
      await admin.call("DELETE", `/users/${id}`);
      return client.call("PATCH", `/me/keys/${key}`, { name: "n" });
    },
  ],
  ...["", "  ", "x".repeat(65), "a\u0007b"].map(
    (name): Row => [
      "PATCH /me/keys/:id",
      `invalid name ${JSON.stringify(name)}`,
      400,
      async () => {
        const { client, key } = await personWithKey();
        return client.call("PATCH", `/me/keys/${key}`, { name });
      },
    ],
  ),
  [
    "PATCH /me/keys/:id",
    "the database fails",
    500,
    async () => {
      const { client, key } = await personWithKey();
      return noKeys(() => client.call("PATCH", `/me/keys/${key}`, { name: "n" }));
    },
  ],
  [
    "DELETE /me/keys/:id",
    "key not found",
    404,
    async () => (await person()).client.call("DELETE", `/me/keys/${MISSING}`),
  ],
  [
    "DELETE /me/keys/:id",
    "already revoked",
    404,
    async () => {
      const { client, key } = await personWithKey();
      await client.call("DELETE", `/me/keys/${key}`);
      return client.call("DELETE", `/me/keys/${key}`);
    },
  ],
  [
    "DELETE /me/keys/:id",
    "the host refuses",
    500,
    async () => {
      const { client, key } = await personWithKey();
      return hostRefusing("takeKey", () => client.call("DELETE", `/me/keys/${key}`));
    },
  ],
  [
    "DELETE /me/keys/:id",
    "the database fails",
    500,
    async () => {
      const { client, key } = await personWithKey();
      return noKeys(() => client.call("DELETE", `/me/keys/${key}`));
    },
  ],
  ["GET /users/:id/keys", "user not found", 404, () => admin.call("GET", `/users/${MISSING}/keys`)],
  [
    "GET /users/:id/keys",
    "the database fails",
    500,
    async () => {
      const { id } = await person();
      return noKeys(() => admin.call("GET", `/users/${id}/keys`));
    },
  ],
  [
    "GET /me/keys",
    "the user is deleted",
    404,
    async () => {
      const { id, client } = await person();
      await admin.call("DELETE", `/users/${id}`);
      return client.call("GET", "/me/keys");
    },
  ],

  // A missing or foreign account is also what the table calls another failure; but see enable and disable.
  ...(["missing", "foreign"] as const).flatMap((presence): readonly Row[] => [
    [
      "POST /me/keys",
      `other failure, the account is ${presence}`,
      500,
      async () => {
        const { client, account } = await person();
        displace(account, presence);
        return client.call("POST", "/me/keys", { name: "laptop", public_key: freshKey() });
      },
    ],
    [
      "DELETE /me/keys/:id",
      `other failure, the account is ${presence}`,
      500,
      async () => {
        const { client, account, key } = await personWithKey();
        displace(account, presence);
        return client.call("DELETE", `/me/keys/${key}`);
      },
    ],
  ]),
  [
    "DELETE /users/:id",
    "other failure, the account is foreign",
    500,
    async () => {
      const { id, account } = await person();
      displace(account, "foreign");
      return admin.call("DELETE", `/users/${id}`);
    },
  ],

  ...["/audit", "/audit/export"].flatMap((path) =>
    ["since", "until"].flatMap((name) =>
      ["yesterday", "2026-01-01", "2026-01-01T00:00:00", "2026-02-30T00:00:00Z", "1700000000", "%20"].map(
        (value): Row => [
          `GET ${path}`,
          `${name}=${value} not RFC 3339`,
          400,
          () => admin.call("GET", `${path}?${name}=${value}`),
        ],
      ),
    ),
  ),
  ["GET /audit", "query failure", 500, () => noAudit(() => admin.call("GET", "/audit"))],
  ["GET /audit/export", "query failure before the body", 500, () => noAudit(() => admin.call("GET", "/audit/export"))],
  ["GET /me", "no session", 401, () => app.anonymous().call("GET", "/me")],
  ["GET /me/audit", "no session", 401, () => app.anonymous().call("GET", "/me/audit")],
  [
    "GET /me/audit",
    "query failure",
    500,
    async () => {
      const { client } = await person();
      return noAudit(() => client.call("GET", "/me/audit"));
    },
  ],

  [
    "GET /approvals",
    "query failure",
    500,
    () => without("approvals", "purpose", () => admin.call("GET", "/approvals")),
  ],
  [
    "POST /approvals",
    "the database fails",
    500,
    () => without("approvals", "purpose", () => app.anonymous().call("POST", "/approvals", NEW_USER())),
  ],
  ["GET /settings", "query failure", 500, () => without("settings", "value", () => admin.call("GET", "/settings"))],
  [
    "PUT /settings",
    "the database fails",
    500,
    () =>
      without("settings", "value", () => admin.call("PUT", "/settings", { key: "policy.default_ttl", value: "1d" })),
  ],
  ["GET /admin/stats", "query failure", 500, () => noUsers(() => admin.call("GET", "/admin/stats"))],
  [
    "POST /auth/admin/forgot",
    "the database fails",
    500,
    () => without("outbox", "subject", () => app.anonymous().call("POST", "/auth/admin/forgot", { username: "x" })),
  ],
];

test.each(TABLE)("%s, %s: %i", async (_endpoint, _condition, status, provoke) => {
  const answer = await provoke();
  expect(answer.status).toBe(status);
  expect(answer.headers.get("content-type")).toContain("application/json");
  expect(answer.body).toEqual({ error: expect.stringMatching(/^.{10,300}$/) });
  // No text of the database or the code.
  expect(answer.text).not.toMatch(/select |insert |column|relation|constraint|\.ts:|Error:|undefined/);
});

test("a fault that the table hides behind a status below 500 is logged all the same", async () => {
  const faults: unknown[] = [];
  const loud = await createTestApp({}, { error: (_message, fields) => faults.push(fields?.error) });
  const client = await loud.admin();
  await loud.alter("alter table users rename column purpose to purpose_gone");
  expect((await client.call("POST", "/users", NEW_USER())).status).toBe(400);
  expect(faults).toHaveLength(1);
  await client.call("POST", "/users", { username: "not valid", email: "x" });
  expect(faults).toHaveLength(1);
  await loud.close();
});

test("DELETE /users/:id of a user whose account is missing is 200: nothing is left to remove", async () => {
  const { id, account } = await person();
  displace(account, "missing");
  expect((await admin.call("DELETE", `/users/${id}`)).status).toBe(200);
  expect((await admin.call("GET", `/users/${id}`)).status).toBe(404);
});
