/** Whatever a caller sends: never a 500, never a hang, never a partial change. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import fc from "fast-check";
import { DAY } from "../../../src/shared/time/clock.ts";
import { formatDuration, parseDuration } from "../../../src/shared/time/duration.ts";
import { parseTimestamp } from "../../../src/shared/time/timestamp.ts";
import { ADMIN_PASSWORD, type Answer, type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { PASSKEY_ORIGIN } from "../../support/authenticator.ts";
import { processorTime } from "../../support/hang.ts";
import { freshKey } from "../../support/keys.ts";
import { isThorough } from "../../support/thorough.ts";

let app: TestApp;
let admin: Client;
let user: Client;

beforeAll(async () => {
  app = await createTestApp({ UAM_SESSION_TTL: "30d", UAM_MAX_KEYS: "1000", UAM_BASE_URL: PASSKEY_ORIGIN });
  admin = await app.admin();
  user = (await app.user("fuzzed")).client;
  await user.call("POST", "/me/keys", { name: "first", public_key: freshKey() });
});
afterAll(() => app.close());

setDefaultTimeout(180_000);

const RUNS = { numRuns: isThorough ? 300 : 15 };

/** Strings of all sorts: any unit of UTF-16, lone surrogates and NUL too, and what parsers trip over. */
const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme" }),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) }),
  fc.constantFrom(
    "\0",
    "a\0b",
    "\ud800",
    "__proto__",
    "constructor",
    "null",
    "1e999",
    "-0",
    "'",
    "';--",
    "%00",
    "../..",
    " ",
  ),
);
const anyBody = fc.oneof(
  fc.jsonValue().map((value) => JSON.stringify(value)),
  fc.string({ unit: "binary" }),
);

/** Everything that a refused request must leave as it is. */
async function state(): Promise<string> {
  const [row] = await app.db.execute<{ all: unknown }>(sql`
    select jsonb_build_array((select jsonb_agg(u) from users u), (select jsonb_agg(k) from ssh_keys k),
      (select jsonb_agg(a) from approvals a), (select jsonb_agg(s) from settings s), (select jsonb_agg(a) from admins a),
        (select jsonb_agg(t) from tokens t), (select jsonb_agg(w) from webhooks w), (select jsonb_agg(h) from hosts h), (select jsonb_agg(g) from host_groups g),
        (select jsonb_agg(c) from companies c), (select jsonb_agg(r) from reviews r), (select jsonb_agg(i) from review_items i), (select jsonb_agg(m) from host_group_members m), (select jsonb_agg(g) from grants g), (select jsonb_agg(p) from passkeys p),
        (select jsonb_agg(t) from totp_secrets t), (select jsonb_agg(t) from used_tickets t), (select jsonb_agg(q) from questions q)) as all`);
  return JSON.stringify([row?.all, [...app.host.accounts]]);
}

/** Sends the request; whatever it is, the answer is well-formed, and a refusal changes nothing. */
async function harmless(send: () => Promise<Answer>): Promise<Answer> {
  const before = await state();
  const answer = await send();
  if (answer.status >= 500) throw new Error(`${answer.status} ${answer.text}`);
  if (answer.status >= 400) {
    expect(answer.body).toEqual({ error: expect.any(String) });
    expect(await state()).toBe(before);
  }
  return answer;
}

describe("path ids", () => {
  /** Some ask who one is before they look at the id. */
  const CONFIRMED = ["DELETE /auth/passkeys/:id", "DELETE /removed-admins/:id"];
  const bodyOf = (route: string) => (CONFIRMED.includes(route) ? { password: ADMIN_PASSWORD } : undefined);
  const ROUTES = [
    ...["GET /users/:id", "DELETE /users/:id", "POST /users/:id/disable", "GET /users/:id/keys"],
    "DELETE /admins/:id",
    ...["DELETE /admins/:id/sessions", "DELETE /tokens/:id", "DELETE /auth/passkeys/:id"],
    "DELETE /removed-admins/:id",
    ...["DELETE /webhooks/:id", "POST /webhooks/:id/ping", "GET /webhooks/:id/deliveries"],
    ...["POST /webhooks/:id/deliveries/1/redeliver", "POST /webhooks/1/deliveries/:id/redeliver"],
    ...[
      "GET /hosts/:id",
      "DELETE /hosts/:id",
      "POST /hosts/:id/lock",
      "POST /hosts/:id/unlock",
      "GET /users/:id/hosts",
    ],
    ...["GET /host-groups/:id", "DELETE /host-groups/:id", "GET /companies/:id", "DELETE /companies/:id"],
    ...["GET /reviews/:id", "GET /reviews/:id/items", "GET /reviews/:id/report"],
    ...["POST /reviews/:id/close", "POST /reviews/:id/items", "POST /reviews/:id/items/1", "POST /reviews/1/items/:id"],
    ...["GET /users/:id/sessions", "DELETE /users/:id/keys/1", "DELETE /users/1/keys/:id"],
    "DELETE /users/:id/web-sessions",
    ...["DELETE /users/:id/sessions/1", "DELETE /users/1/sessions/:id"],
  ];

  test("of any text are 400, 404, or another path", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...ROUTES), anyText, async (route, id) => {
        const [method = "", path = ""] = route.split(" ");
        const encoded = encodeURIComponent(id.toWellFormed());
        const { status } = await harmless(() => admin.call(method, path.replace(":id", encoded), bodyOf(route)));
        // "." and ".." are folded away before the request is sent, and lead to other paths.
        if (/^\.{0,2}$/.test(id)) return;
        expect(status).toBe(/^\d+$/.test(id) ? 404 : 400);
      }),
      RUNS,
    );
  });

  test("of any number of digits are found or not", async () => {
    await fc.assert(
      fc.asyncProperty(fc.bigInt({ min: 100n, max: 10n ** 60n }), async (id) => {
        expect((await harmless(() => admin.call("GET", `/users/${id}`))).status).toBe(404);
      }),
      RUNS,
    );
  });

  test("with any percent-encoding do no harm", async () => {
    const raw = fc.string({ unit: fc.constantFrom("%", "2", "f", "0", "c", "8", "/", ".", "?", "#", ";") });
    await fc.assert(
      fc.asyncProperty(raw, async (path) => {
        await harmless(() => admin.call("GET", `/users/${path}`));
      }),
      RUNS,
    );
  });
});

describe("queries", () => {
  const NAMES = [
    "page",
    "page_size",
    "status",
    "kind",
    "supervisor",
    "q",
    "sort",
    "actor",
    "action",
    "resource_type",
    "resource_id",
    "user_id",
    "format",
    "since",
    "until",
  ];
  const LISTS = [
    "/users",
    "/audit",
    "/approvals",
    "/audit/export",
    "/users/export",
    "/admins",
    "/removed-admins",
    "/tokens",
    "/webhooks",
    "/hosts",
  ];

  test("of any names and values are 200 or 400", async () => {
    const pairs = fc.array(fc.tuple(fc.oneof(fc.constantFrom(...NAMES), anyText), anyText), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...LISTS), pairs, async (path, query) => {
        const text = query
          .map((pair) => pair.map((part) => encodeURIComponent(part.toWellFormed())).join("="))
          .join("&");
        const { status } = await harmless(() => admin.call("GET", `${path}?${text}`));
        expect([200, 400]).toContain(status);
      }),
      RUNS,
    );
  });

  test("of any bytes are 200 or 400", async () => {
    const raw = fc.string({
      unit: fc.constantFrom("%", "0", "f", "&", "=", "page", "[", "]", "+", "since", "e2", ";"),
    });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...LISTS), raw, async (path, query) => {
        const { status } = await harmless(() => admin.call("GET", `${path}?${query}`));
        expect([200, 400]).toContain(status);
      }),
      RUNS,
    );
  });

  test("of any page and page size are judged by the limits", async () => {
    const number = fc.oneof(fc.integer(), fc.double(), fc.bigInt(), fc.integer({ min: 0, max: 501 })).map(String);
    await fc.assert(
      fc.asyncProperty(number, number, async (page, size) => {
        const { status } = await harmless(() => admin.call("GET", `/users?page=${page}&page_size=${size}`));
        const fits = (text: string, most: number) => /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= most;
        expect(status).toBe(fits(page, Number.POSITIVE_INFINITY) && fits(size, 500) ? 200 : 400);
      }),
      RUNS,
    );
  });
});

describe("timestamps", () => {
  const two = (min: number, max: number) => fc.integer({ min, max }).map((n) => String(n).padStart(2, "0"));
  const year = fc.integer({ min: 0, max: 9999 }).map((n) => String(n).padStart(4, "0"));
  const fraction = fc.oneof(fc.constant(""), fc.stringMatching(/^\.\d{1,12}$/));
  const zone = fc.oneof(
    fc.constantFrom("Z", "z"),
    fc.tuple(fc.constantFrom("+", "-"), two(0, 23), two(0, 59)).map(([s, h, m]) => `${s}${h}:${m}`),
  );
  const time = fc.tuple(fc.constantFrom("T", "t"), two(0, 23), two(0, 59), two(0, 60), fraction, zone);
  const valid = fc
    .tuple(year, two(1, 12), two(1, 28), time)
    .map(([y, m, d, [t, hour, minute, second, f, z]]) => `${y}-${m}-${d}${t}${hour}:${minute}:${second}${f}${z}`);

  test("of the whole grammar are accepted, at the ends of time too", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom("/audit", "/audit/export"), valid, valid, async (path, since, until) => {
        const query = new URLSearchParams({ since, until });
        expect((await harmless(() => admin.call("GET", `${path}?${query}`))).status).toBe(200);
      }),
      RUNS,
    );
  });

  test("are read as the platform reads them, where it can", () => {
    fc.assert(
      fc.property(valid, (text) => {
        const [, upToSecond = "", rest = ""] = /^(.{17}..)(.*)$/.exec(text.toUpperCase()) ?? [];
        const fraction = /^\.\d+/.exec(rest)?.[0] ?? "";
        const platform = new Date(
          `${upToSecond.replace(/:60$/, ":59")}${fraction.slice(0, 4)}${rest.slice(fraction.length)}`,
        );
        const leap = upToSecond.endsWith(":60") ? 1000 : 0;
        expect(parseTimestamp(text).getTime()).toBe(platform.getTime() + leap);
      }),
      { numRuns: 2000 },
    );
  });

  test("with one character changed are accepted or refused, never misread", () => {
    fc.assert(
      fc.property(valid, fc.nat(30), fc.string({ unit: "binary", minLength: 0, maxLength: 2 }), (text, at, piece) => {
        const changed = text.slice(0, at) + piece + text.slice(at + 1);
        try {
          expect(Number.isFinite(parseTimestamp(changed).getTime())).toBe(true);
          expect(changed).toMatch(/^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/);
        } catch (error) {
          expect(error).toMatchObject({ code: "invalid" });
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe("durations", () => {
  const valid = fc
    .tuple(
      ...["w", "d", "h", "m", "s"].map((unit) =>
        fc.option(fc.nat(500), { nil: undefined }).map((n) => (n === undefined ? "" : `${n}${unit}`)),
      ),
    )
    .map((parts) => parts.join(""));

  test("come out as the shortest text of the same length", () => {
    fc.assert(
      fc.property(valid, (text) => {
        fc.pre(/[1-9]/.test(text));
        const length = parseDuration(text);
        const shown = formatDuration(length);
        expect(parseDuration(shown)).toBe(length);
        expect(shown).toMatch(/^(\d+d)?(\d+h)?(\d+m)?(\d+s)?$/);
        expect(formatDuration(parseDuration(shown))).toBe(shown);
      }),
      { numRuns: 2000 },
    );
  });

  test("of any text are accepted or refused", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(valid, anyText, fc.string({ unit: fc.constantFrom("1", "9", "d", "h", "s", "-", ".", " ") })),
        async (value) => {
          const { status, body } = await harmless(() =>
            admin.call("PUT", "/settings", { key: "policy.default_ttl", value }),
          );
          expect([200, 400]).toContain(status);
          if (status === 200) expect(parseDuration(body.data.value)).toBeLessThanOrEqual(3650 * DAY);
        },
      ),
      RUNS,
    );
    await admin.call("DELETE", "/settings/policy.default_ttl");
  });
});

describe("names, addresses and texts", () => {
  const nameLike = fc.string({
    unit: fc.constantFrom("a", "z", "0", "-", "_", "A", ".", "ext_", "é", "\n"),
    maxLength: 32,
  });

  test("a username is accepted by its grammar alone", async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(nameLike, anyText), async (username) => {
        const { status } = await harmless(() => admin.call("POST", "/users", { username, email: "p@example.org" }));
        const isValid = /^[a-z0-9]([a-z0-9_-]{0,26}[a-z0-9])?$/.test(username) && !username.startsWith("ext_");
        expect(status === 400).toBe(!isValid);
        expect(app.host.accounts.has(`ext_${username}`)).toBe(isValid);
      }),
      RUNS,
    );
  });

  test("an e-mail address, a supervisor and a purpose are stored in NFC and trimmed, or refused", async () => {
    const made = await admin.call("POST", "/users", { username: "texts", email: "t@example.org" });
    const addressLike = fc.string({ unit: fc.constantFrom("a", "@", ".", "-", "+", " ", "<", ">", "\r\n", "é", ",") });
    const email = fc.oneof(fc.emailAddress(), addressLike, anyText);
    await fc.assert(
      fc.asyncProperty(email, anyText, anyText, async (address, supervisor, purpose) => {
        const changes = { email: address, supervisor, purpose };
        const { status, body } = await harmless(() => admin.call("PATCH", `/users/${made.body.data.id}`, changes));
        expect([200, 400]).toContain(status);
        if (status !== 200) return;
        const [storedSupervisor, storedPurpose] = [supervisor, purpose].map((text) => text.normalize("NFC").trim());
        expect(body.data).toMatchObject({ email: address, supervisor: storedSupervisor, purpose: storedPurpose });
        if (status === 200) expect(address).toMatch(/^[^\s@<>,]+@[^\s@<>,]+$/);
      }),
      RUNS,
    );
  });

  test("names that log in may be any text", async () => {
    const LOGINS = ["/auth/otp/login", "/auth/otp/send", "/auth/admin/forgot"];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...LOGINS), anyText, anyText, async (path, username, secret) => {
        const body = { username, code: secret, captcha_id: secret, captcha_code: secret };
        const { status } = await harmless(() => app.anonymous().call("POST", path, body));
        expect([200, 400, 401, 429]).toContain(status);
      }),
      RUNS,
    );
  });
});

describe("keys", () => {
  test("a key's name is stored trimmed or refused", async () => {
    const [key] = (await user.call("GET", "/me/keys")).body.data.items;
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(anyText, fc.string({ unit: "grapheme", minLength: 60, maxLength: 68 })),
        async (name) => {
          const { status, body } = await harmless(() => user.call("PATCH", `/me/keys/${key.id}`, { name }));
          const trimmed = name.normalize("NFC").trim();
          const isPlain = /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]{1,64}$/u.test(trimmed);
          const isSeen = /[^\s\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u.test(trimmed);
          const isValid = isPlain && isSeen && trimmed.isWellFormed();
          expect(status).toBe(isValid ? 200 : 400);
          if (status === 200) expect(body.data.name).toBe(trimmed);
        },
      ),
      RUNS,
    );
  });

  test("any key text is taken whole or refused", async () => {
    const changed = fc
      .tuple(
        fc.constant(null).map(() => freshKey()),
        fc.nat(110),
        fc.string({ unit: "binary", maxLength: 3 }),
        fc.nat(2),
      )
      .map(([key, at, piece, drop]) => key.slice(0, at) + piece + key.slice(at + drop));
    await fc.assert(
      fc.asyncProperty(fc.oneof(changed, anyText), async (text) => {
        const { status, body } = await harmless(() => user.call("POST", "/me/keys", { name: "k", public_key: text }));
        expect([201, 400, 409]).toContain(status);
        if (status === 201) expect(text).toContain(body.data.public_key.split(" ")[1]);
      }),
      RUNS,
    );
    const account = app.host.accounts.get("ext_fuzzed");
    const { items } = (await user.call("GET", "/me/keys")).body.data;
    expect(account?.file).toEqual(items.map((item: { fingerprint: string }) => item.fingerprint));
  });
});

describe("passkeys", () => {
  test("answers of any text and any bytes are refused, to a challenge that is right, too", async () => {
    const challenge = (await app.anonymous().call("GET", "/auth/passkey/challenge")).body.data.challenge as string;
    const said = fc
      .record({
        type: fc.constantFrom("webauthn.get", "webauthn.create"),
        origin: fc.constant("http://localhost:8080"),
      })
      .map((parts) => Buffer.from(JSON.stringify({ ...parts, challenge })).toString("base64url"));
    const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array).toString("base64url"));
    const part = fc.oneof(said, bytes, anyText);
    const answer = fc.record({
      ...{ id: part, rawId: part, type: fc.constant("public-key") },
      response: fc.record({ clientDataJSON: part, authenticatorData: part, signature: part, attestationObject: part }),
    });
    await fc.assert(
      fc.asyncProperty(answer, fc.boolean(), async (passkey, isSame) => {
        const sent = isSame ? { ...passkey, rawId: passkey.id } : passkey;
        const login = await harmless(() => app.anonymous().call("POST", "/auth/passkey/login", { passkey: sent }));
        expect([400, 401]).toContain(login.status);
        const confirmed = await harmless(() => admin.call("POST", "/auth/passkeys/begin", { passkey: sent }));
        expect([400, 401]).toContain(confirmed.status);
        const added = await harmless(() => admin.call("POST", "/auth/passkeys", { name: "k", passkey: sent }));
        expect(added.status).toBe(400);
      }),
      RUNS,
    );
  });
});

describe("bodies", () => {
  const ROUTES = [
    "POST /users",
    "PATCH /users/1",
    "POST /users/1/extend",
    "POST /approvals",
    "POST /approvals/1/review",
    "POST /decisions",
    "POST /decisions/look",
    "POST /sponsors/move",
    ...["POST /reviews/1/items", "POST /reviews/999999/items/1"],
    "PUT /settings",
    "POST /admins",
    "PATCH /admins/999999",
    ...["POST /webhooks", "PATCH /webhooks/999999"],
    "POST /auth/admin/password",
    ...["POST /auth/admin/login", "POST /auth/admin/second", "POST /auth/passkey/login"],
    ...["POST /auth/passkeys/begin", "POST /auth/passkeys", "PATCH /auth/passkeys/1"],
    ...["POST /auth/totp/begin", "POST /auth/totp", "DELETE /auth/totp", "DELETE /auth/passkeys/999999"],
    ...["POST /tokens", "DELETE /removed-admins/999999"],
    "POST /auth/otp/send",
    "POST /auth/otp/login",
    "POST /auth/admin/forgot",
    "POST /auth/admin/reset",
  ];
  const FIELDS = [
    "username",
    "email",
    "supervisor",
    "ttl_days",
    "days",
    "approve",
    "reason",
    "kind",
    "create_user",
    "key",
    "value",
    "token",
    "new_password",
    "code",
    "role",
    "password",
    "passkey",
    "ticket",
    "name",
    "url",
    "actions",
    "status",
  ];

  test("of any JSON, and of anything else, do no harm", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...ROUTES), anyBody, async (route, body) => {
        const [method = "", path = ""] = route.split(" ");
        await harmless(() => admin.call(method, path, body));
      }),
      RUNS,
    );
  });

  test("with any reason and number of days for more time are judged by the limits", async () => {
    const days = fc.oneof(fc.integer({ min: -1, max: 367 }), fc.double(), fc.jsonValue());
    await fc.assert(
      fc.asyncProperty(days, anyText, async (count, reason) => {
        const { status, body } = await harmless(() => user.call("POST", "/me/extension", { days: count, reason }));
        const isCount = typeof count === "number" && Number.isInteger(count) && count >= 1 && count <= 365;
        if (!isCount) expect(status).toBe(400);
        expect([201, 400]).toContain(status);
        if (status === 201) {
          expect(body.data).toMatchObject({ days: count, purpose: reason.normalize("NFC").trim() });
          await app.db.execute(sql`delete from approvals where kind = 'extension'`);
        }
      }),
      RUNS,
    );
  });

  test("with any value in any field do no harm", async () => {
    const object = fc.dictionary(
      fc.constantFrom(...FIELDS),
      fc.oneof(anyText, fc.jsonValue(), fc.integer(), fc.boolean()),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...ROUTES), object, async (route, body) => {
        const [method = "", path = ""] = route.split(" ");
        await harmless(() => admin.call(method, path, body));
      }),
      RUNS,
    );
  });

  test("nested as deep as the limit allows do no harm", async () => {
    for (const body of [
      "[".repeat(60_000),
      `${"[".repeat(30_000)}${"]".repeat(30_000)}`,
      `{"username":${"[".repeat(9_000)}${"]".repeat(9_000)}}`,
    ]) {
      const spent = await processorTime(async () => {
        expect((await harmless(() => admin.call("POST", "/users", body))).status).toBe(400);
      });
      expect(spent).toBeLessThan(500);
    }
  });

  test("with any number of days are judged by the limits", async () => {
    const days = fc.oneof(fc.integer(), fc.double(), fc.integer({ min: -1, max: 3651 }));
    const made = await admin.call("POST", "/users", { username: "days", email: "d@example.org" });
    await fc.assert(
      fc.asyncProperty(days, async (count) => {
        const path = `/users/${made.body.data.id}`;
        const { status } = await harmless(() => admin.call("POST", `${path}/extend`, { days: count }));
        const isValid = Number.isInteger(count) && count >= 0 && count <= 3650;
        expect(status).toBe(isValid ? 200 : 400);
        if (isValid) await app.db.execute(sql`update users set expire_at = now() where username = 'days'`);
      }),
      RUNS,
    );
  });
});
