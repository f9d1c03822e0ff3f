/** Attacks that have a name, on the whole application: what is listed in docs/security.md and is shown nowhere else. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { parseUsername } from "../../../src/domain/accounts/username.ts";
import { SESSION_COOKIE } from "../../../src/server/api/http/session-cookie.ts";
import { ADMIN_PASSWORD, type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { processorTime } from "../../support/hang.ts";

let app: TestApp;
let admin: Client;
let userId: number;

beforeAll(async () => {
  app = await createTestApp({ UAM_RATE_LIMIT: "off" });
  admin = await app.admin();
  ({ id: userId } = await app.user("victim"));
});
afterAll(() => app.close());

const LOGIN = { username: "admin", password: ADMIN_PASSWORD };

describe("session fixation", () => {
  test("a login never takes the session that it is given, living or invented", async () => {
    for (const planted of ["A".repeat(43), admin.cookie.split("=")[1] ?? ""]) {
      const victim = app.anonymous();
      const { headers } = await victim.call("POST", "/auth/admin/login", LOGIN, {
        cookie: `${SESSION_COOKIE}=${planted}`,
      });
      const given = /=([^;]+)/.exec(headers.get("set-cookie") ?? "")?.[1];
      expect(given).toMatch(/^[\w-]{43}$/);
      expect(given).not.toBe(planted);
      const attacker = await app
        .anonymous()
        .call("GET", "/auth/me", undefined, { cookie: `${SESSION_COOKIE}=${planted}` });
      expect(attacker.status).toBe(401);
    }
    admin = await app.admin();
  });

  test("no address, form or header but the cookie carries a session", async () => {
    const token = admin.cookie.split("=")[1] ?? "";
    const ways: readonly (readonly [string, Record<string, string>])[] = [
      [`/users?session=${token}&${SESSION_COOKIE}=${token}`, {}],
      ["/users", { authorization: `Bearer ${token}` }],
      ["/users", { "x-session": token, [SESSION_COOKIE]: token }],
      ["/users", { cookie: `uam_session=${token}; ${SESSION_COOKIE.toLowerCase()}=${token}` }],
    ];
    for (const [path, headers] of ways) {
      expect([path, (await app.anonymous().call("GET", path, undefined, headers)).status]).toEqual([path, 401]);
    }
  });
});

describe("cookie tossing", () => {
  test("the name is one that no subdomain and no plain connection may set (RFC 6265bis, __Host-)", async () => {
    const { headers } = await app.anonymous().call("POST", "/auth/admin/login", LOGIN);
    const cookie = headers.get("set-cookie") ?? "";
    expect(cookie).toStartWith("__Host-");
    for (const attribute of [/; Path=\/(?:;|$)/i, /; Secure/i, /; HttpOnly/i, /; SameSite=/i])
      expect(cookie).toMatch(attribute);
    expect(cookie).not.toMatch(/domain=/i);
  });

  test("a second cookie of another name or spelling does not take its place", async () => {
    for (const other of [
      "X",
      "__Secure-uam_session=X",
      `x${SESSION_COOKIE}=X`,
      `${SESSION_COOKIE}x=X`,
      `"${SESSION_COOKIE}=X"`,
    ]) {
      for (const cookie of [`${other}; ${admin.cookie}`, `${admin.cookie}; ${other}`]) {
        const { status } = await app.anonymous().call("GET", "/users", undefined, { cookie });
        expect([cookie.replace(admin.cookie, "…"), status]).toEqual([cookie.replace(admin.cookie, "…"), 200]);
      }
    }
  });
});

describe("path confusion", () => {
  test("no spelling of a path reaches a route past its guard", async () => {
    const nobody = app.anonymous();
    const { client: user } = await app.user("prowler");
    const spellings = [
      ...[
        "//users",
        "/./users",
        "/me/../users",
        "/me/..%2fusers",
        "/%75sers",
        "/users/",
        "/users//",
        "/USERS",
        "/users;x=1",
      ],
      ...[
        "/users%00",
        "/users%20",
        "/users.json",
        "/users%3f",
        "/healthz/../users",
        "/healthz/%2e%2e/users",
        "/healthz/..;/users",
      ],
      ...[
        "/\\users",
        "/healthz\\..\\users",
        "/users%252f1",
        `/users%2f${userId}`,
        `/users/${userId}%2f`,
        "/users/%31",
        "/users/1%0a",
      ],
    ];
    for (const path of spellings) {
      for (const [who, client, refusals] of [
        ["nobody", nobody, [400, 401, 404]],
        ["a user", user, [400, 403, 404]],
      ] as const) {
        const { status, text } = await client.call("GET", path);
        expect([who, path, refusals.includes(status as never)]).toEqual([who, path, true]);
        expect(text).not.toContain("victim");
      }
    }
  });
});

describe("JSON", () => {
  test("names that reach for a prototype change no object, and nothing that is stored", async () => {
    const before = (await admin.call("GET", `/users/${userId}`)).body.data;
    for (const body of [
      '{"__proto__":{"purpose":"polluted","isAdmin":true}}',
      '{"constructor":{"prototype":{"purpose":"polluted"}}}',
      '{"purpose":"kept","__proto__":{"supervisor":"polluted"}}',
    ]) {
      expect([200, 400]).toContain((await admin.call("PATCH", `/users/${userId}`, body)).status);
      expect("purpose" in {} || "isAdmin" in {} || "supervisor" in {}).toBe(false);
      expect((await admin.call("GET", `/users/${userId}`)).body.data.supervisor).toBe(before.supervisor);
    }
    expect((await admin.call("GET", "/users?__proto__[role]=x&constructor.prototype.y=1")).status).toBeLessThan(500);
    expect("role" in {}).toBe(false);
  });

  test("of a name that is there twice one value counts, and it is the one that is checked", async () => {
    const { status, body } = await admin.call("PATCH", `/users/${userId}`, '{"purpose":"first","purpose":"second"}');
    expect([status, body.data.purpose]).toEqual([200, "second"]);
    expect((await admin.call("PATCH", `/users/${userId}`, '{"purpose":"well","purpose":7}')).status).toBe(400);
  });

  test.each([
    "1e400",
    "-1e400",
    "1e-400",
    "99999999999999999999999",
    "-0",
    "1.5",
    "0x10",
    "01",
    "NaN",
    "Infinity",
    "1e3",
  ])("the number %s is 400, or a whole number within bounds", async (number) => {
    const { status } = await admin.call("POST", `/users/${userId}/extend`, `{"days":${number}}`);
    // Those that are 0 mean the default.
    expect([number, status]).toEqual([number, ["1e3", "1e-400", "-0"].includes(number) ? 200 : 400]);
  });

  test("a bomb of brackets, names or escapes does no harm, and takes no time", async () => {
    const names = Array.from({ length: 5000 }, (_, index) => `"k${index}":0`).join(",");
    const bombs = [
      ["[".repeat(30_000), 400],
      [`{"purpose":${'{"a":'.repeat(5000)}1${"}".repeat(5000)}}`, 400],
      // Names that nobody asked for are ignored.
      [`{${names}}`, 200],
      [`{"purpose":"${"\\u0041".repeat(10_000)}"}`, 400],
      [`{"purpose":"${"\\ud800".repeat(100)}"}`, 400],
      [`{"purpose":${"9".repeat(60_000)}}`, 400],
    ] as const;
    for (const [bomb, expected] of bombs) {
      const spent = await processorTime(async () => {
        const { status } = await admin.call("PATCH", `/users/${userId}`, bomb);
        expect([bomb.slice(0, 20), status]).toEqual([bomb.slice(0, 20), expected]);
      });
      // Far from what 18 kB of brackets once cost, 3 s.
      expect(spent).toBeLessThan(1500);
    }
  });
});

describe("injection into headers", () => {
  test("nothing that a request holds is in a header of its answer", async () => {
    const mark = "injected-7f3a";
    for (const path of [
      `/users/${mark}`,
      `/audit/export?since=${mark}%0d%0aset-cookie:x=1`,
      `/${mark}%0d%0aLocation:x`,
      `/users?q=${mark}`,
    ]) {
      const { headers } = await admin.call("GET", path, undefined, {
        "x-request-id": mark,
        "x-forwarded-host": mark,
        host: mark,
      });
      expect([path, JSON.stringify([...headers]).includes(mark)]).toEqual([path, false]);
    }
  });
});

describe("look-alike names", () => {
  // Cyrillic, full width, a dotless i, a ligature, a letter with a mark, one that is not drawn, digits of another script.
  test.each(["аlice", "ａlice", "alıce", "ﬁona", "alicé", "al\u200bice", "alice\u0301", "١lice", "ALICE​", "alice "])(
    "%j is no username, or the very name that is shown",
    (name) => {
      let parsed = "";
      try {
        parsed = parseUsername(name);
      } catch {
        return;
      }
      expect(parsed).toMatch(/^[a-z0-9_-]+$/);
      expect(parsed).toBe(name.trim());
    },
  );
});
