import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import { runProgram } from "../../../../src/cli/program.ts";
import type { CliEnvironment } from "../../../../src/cli/terminal/environment.ts";
import { readConfig } from "../../../../src/config/config.ts";
import { anyone, type Route } from "../../../../src/contract/route.ts";
import { parsePublicKey } from "../../../../src/domain/keys/public-key.ts";
import { bunRuntime } from "../../../../src/runtime/bun.ts";
import { API_ROOT, describeApi } from "../../../../src/server/api/app.ts";
import { createOpenApiDocument } from "../../../../src/server/api/http/openapi.ts";
import type { JsonSchema } from "../../../../src/server/api/http/openapi-schema.ts";
import { KEY_TYPES } from "../../../../src/shared/product/ssh-key-types.ts";
import { type Client, createTestApp, type TestApp } from "../../../support/app.ts";
import { makeManager } from "../../../support/manager.ts";
import { apiDocument } from "../../../support/openapi.ts";
import { testSlow } from "../../../support/thorough.ts";

/** Every route of the interface and the statuses it can answer with; 408, 413 and 500 are every route's, what a token brings about every guarded one's. */
const STATUSES: Record<string, readonly number[]> = {
  "GET /healthz": [200],
  "GET /readyz": [200, 503],
  "GET /openapi.json": [200],
  "GET /auth/captcha": [200, 429],
  "POST /auth/otp/send": [200, 400, 403, 429],
  "POST /auth/otp/login": [200, 400, 401, 403, 429],
  "POST /auth/admin/login": [200, 400, 401, 403, 429],
  "POST /auth/admin/forgot": [200, 400, 403, 429],
  "POST /auth/admin/reset": [200, 400, 403, 429],
  "POST /auth/admin/password": [200, 400, 401, 403, 429],
  "POST /auth/logout": [200, 400, 401, 403],
  "GET /auth/me": [200, 401],
  "GET /auth/oidc/login": [303, 400, 404],
  "GET /auth/oidc/callback": [303, 404],
  "POST /auth/oidc/backchannel-logout": [200, 400, 403, 404, 429, 503],
  "GET /users": [200, 400, 401, 403],
  "GET /users/supervisors": [200, 400, 401, 403],
  "GET /users/export": [200, 400, 401, 403, 429],
  "POST /users": [201, 400, 401, 403, 409],
  "POST /users/import": [200, 400, 401, 403, 409, 429],
  "GET /users/{id}": [200, 400, 401, 403, 404],
  "GET /users/{id}/diagnosis": [200, 400, 401, 403, 404],
  "GET /users/{id}/hours": [200, 400, 401, 403, 404],
  "PATCH /users/{id}": [200, 400, 401, 403, 404, 409],
  "POST /users/{id}/disable": [200, 400, 401, 403, 404, 409],
  "POST /users/{id}/welcome": [200, 400, 401, 403, 404, 409],
  "POST /users/{id}/enable": [200, 400, 401, 403, 404, 409],
  "POST /users/{id}/extend": [200, 400, 401, 403, 404, 409],
  "DELETE /users/{id}": [200, 400, 401, 403, 404],
  "GET /users/{id}/keys": [200, 400, 401, 403, 404],
  "DELETE /users/{id}/keys/{keyId}": [200, 400, 401, 403, 404],
  "GET /users/{id}/sessions": [200, 400, 401, 403, 404],
  "DELETE /users/{id}/sessions/{sessionId}": [200, 400, 401, 403, 404],
  "DELETE /users/{id}/web-sessions": [200, 400, 401, 403, 404],
  "GET /me": [200, 401, 403],
  "GET /me/hours.ics": [200, 401, 403, 404],
  "GET /me/terms": [200, 401, 403, 404],
  "POST /me/terms": [200, 400, 401, 403, 404, 409],
  "POST /me/lock": [200, 400, 401, 403, 404, 409],
  "POST /me/access": [200, 202, 400, 401, 403, 404, 409],
  "DELETE /me/access": [200, 400, 401, 403, 404, 409],
  "DELETE /users/{id}/access": [200, 400, 401, 403, 404, 409],
  "POST /me/extension": [201, 400, 401, 403, 404, 409],
  "DELETE /me/extension": [200, 400, 401, 403, 404],
  "GET /me/company": [200, 401, 403, 404],
  "GET /me/company/users": [200, 400, 401, 403, 404],
  "POST /me/company/users/{id}/end": [200, 400, 401, 403, 404],
  "POST /me/company/applications": [201, 400, 401, 403, 404, 409],
  "GET /users/{id}/found-keys": [200, 400, 401, 403, 404],
  "POST /users/{id}/found-keys": [200, 400, 401, 403, 404, 409],
  "GET /me/keys": [200, 401, 403, 404],
  "POST /me/keys": [201, 400, 401, 403, 404, 409],
  "GET /me/keys/challenge": [200, 401, 403],
  "PATCH /me/keys/{id}": [200, 400, 401, 403, 404],
  "DELETE /me/keys/{id}": [200, 400, 401, 403, 404],
  "GET /me/audit": [200, 400, 401, 403],
  "POST /approvals": [201, 400, 403, 429],
  "GET /approvals": [200, 400, 401, 403],
  "POST /approvals/{id}/review": [200, 400, 401, 403, 404, 409],
  "GET /access": [200, 400, 401, 403, 429],
  "GET /audit": [200, 400, 401, 403],
  "GET /audit/export": [200, 400, 401, 403, 429],
  "GET /hosts": [200, 400, 401, 403],
  "GET /hosts/{id}": [200, 400, 401, 403, 404],
  "GET /hosts/{id}/users": [200, 400, 401, 403, 404],
  "GET /hosts/{id}/preview": [200, 400, 401, 403, 404, 409],
  "POST /hosts/tokens": [201, 400, 401, 403, 404, 409],
  "PATCH /hosts/{id}": [200, 400, 401, 403, 404, 409],
  "POST /hosts/{id}/lock": [200, 400, 401, 403, 404, 409],
  "POST /hosts/{id}/unlock": [200, 400, 401, 403, 404, 409],
  "DELETE /hosts/{id}": [200, 400, 401, 403, 404, 409],
  "POST /decisions/look": [200, 400, 403, 404, 409, 429],
  "POST /decisions": [200, 400, 403, 404, 409, 429],
  "GET /sponsors": [200, 400, 401, 403],
  "POST /sponsors/move": [200, 400, 401, 403],
  "GET /companies": [200, 400, 401, 403],
  "POST /companies": [201, 400, 401, 403, 409],
  "GET /companies/{id}": [200, 400, 401, 403, 404],
  "PATCH /companies/{id}": [200, 400, 401, 403, 404, 409],
  "DELETE /companies/{id}": [200, 400, 401, 403, 404, 409],
  "POST /companies/{id}/end": [200, 400, 401, 403, 404],
  "GET /companies/{id}/end": [200, 400, 401, 403, 404],
  "POST /companies/{id}/resume": [200, 400, 401, 403, 404, 409],
  "GET /reviews": [200, 400, 401, 403],
  "POST /reviews": [201, 400, 401, 403, 409],
  "GET /reviews/preview": [200, 400, 401, 403],
  "GET /reviews/{id}": [200, 400, 401, 403, 404],
  "GET /reviews/{id}/items": [200, 400, 401, 403, 404],
  "POST /reviews/{id}/items": [200, 400, 401, 403, 404, 409],
  "POST /reviews/{id}/items/{user}": [200, 400, 401, 403, 404, 409],
  "POST /reviews/{id}/close": [200, 400, 401, 403, 404, 409],
  "GET /reviews/{id}/report": [200, 400, 401, 403, 404],
  "GET /profiles": [200, 401, 403],
  "GET /profiles/{id}": [200, 400, 401, 403, 404],
  "POST /profiles": [201, 400, 401, 403, 409],
  "PATCH /profiles/{id}": [200, 400, 401, 403, 404, 409, 500],
  "DELETE /profiles/{id}": [200, 400, 401, 403, 404, 409],
  "GET /host-groups": [200, 401, 403],
  "GET /host-groups/{id}": [200, 400, 401, 403, 404],
  "POST /host-groups": [201, 400, 401, 403, 409],
  "PATCH /host-groups/{id}": [200, 400, 401, 403, 404, 409, 500],
  "DELETE /host-groups/{id}": [200, 400, 401, 403, 404, 409],
  "GET /users/{id}/hosts": [200, 400, 401, 403, 404],
  "PUT /users/{id}/hosts": [200, 400, 401, 403, 404, 409],
  "GET /me/hosts": [200, 401, 403],
  "GET /settings": [200, 401, 403],
  "PUT /settings": [200, 400, 401, 403],
  "DELETE /settings/{key}": [200, 400, 401, 403, 404],
  "GET /console/config": [200],
  "GET /admin/stats": [200, 401, 403],
  "GET /admin/problems": [200, 400, 401, 403],
  "GET /admin/attention": [200, 401, 403],
  "GET /admins": [200, 400, 401, 403],
  "POST /admins": [201, 400, 401, 403, 409],
  "PATCH /admins/{id}": [200, 400, 401, 403, 404, 409],
  "DELETE /admins/{id}": [200, 400, 401, 403, 404, 409],
  "GET /removed-admins": [200, 400, 401, 403],
  "DELETE /removed-admins/{id}": [200, 400, 401, 403, 404],
  "DELETE /admins/{id}/sessions": [200, 400, 401, 403, 404],
  "POST /auth/admin/second": [200, 400, 401, 403, 409, 429],
  "GET /auth/passkey/challenge": [200, 409, 429],
  "POST /auth/passkey/login": [200, 400, 401, 403, 409, 429],
  "GET /auth/passkeys": [200, 401, 403],
  "GET /auth/passkeys/challenge": [200, 401, 403, 409],
  "POST /auth/passkeys/begin": [200, 400, 401, 403, 409, 429],
  "POST /auth/passkeys": [201, 400, 401, 403, 409],
  "PATCH /auth/passkeys/{id}": [200, 400, 401, 403, 404],
  "DELETE /auth/passkeys/{id}": [200, 400, 401, 403, 404, 409],
  "GET /auth/totp": [200, 401, 403],
  "POST /auth/totp/begin": [200, 400, 401, 403, 409, 429],
  "POST /auth/totp": [201, 400, 401, 403, 409],
  "DELETE /auth/totp": [200, 400, 401, 403, 404, 409],
  "GET /tokens": [200, 400, 401, 403],
  "POST /tokens": [201, 400, 401, 403, 409],
  "DELETE /tokens/{id}": [200, 400, 401, 403, 404],
  "GET /webhooks": [200, 400, 401, 403],
  "POST /webhooks": [201, 400, 401, 403, 409],
  "PATCH /webhooks/{id}": [200, 400, 401, 403, 404],
  "DELETE /webhooks/{id}": [200, 400, 401, 403, 404],
  "POST /webhooks/{id}/ping": [200, 400, 401, 403, 404, 429],
  "GET /webhooks/{id}/deliveries": [200, 400, 401, 403, 404],
  "POST /webhooks/{id}/deliveries/{deliveryId}/redeliver": [200, 400, 401, 403, 404, 409, 429],
  "GET /admin/stats/series": [200, 400, 401, 403],
  "GET /agent/key": [200, 400, 429],
  "POST /agent/enrol": [201, 400, 401, 403, 409, 429],
  "GET /agent/state": [200, 400, 401, 409, 429, 503],
  "POST /agent/report": [200, 400, 401, 403, 409, 429],
  "POST /agent/rotate": [200, 400, 401, 403, 409, 429],
};

const operations = Object.entries(apiDocument.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    path,
    method: method.toUpperCase(),
    operation,
  })),
);

let app: TestApp;
let callers: Record<"admin" | "user", Client>;

beforeAll(async () => {
  app = await createTestApp();
  const reader = await app.user("reader");
  await makeManager(app, reader.id);
  callers = { admin: await app.admin(), user: reader.client };
});
afterAll(() => app.close());

describe("createOpenApiDocument()", () => {
  test("describes every registered route, and no other", () => {
    const registered = app.app.routes.map(
      ({ method, path }) => `${method} ${path.slice(API_ROOT.length).replace(/:(\w+)/g, "{$1}")}`,
    );
    expect(operations.map(({ name }) => name).sort()).toEqual(registered.sort());
  });

  test.each(operations.map(({ name, operation }) => [name, operation] as const))(
    "%s has its statuses, a name, a summary and examples",
    (name, operation) => {
      const statuses = Object.keys(operation.responses).map(Number);
      const byToken = operation.security.length > 0 ? [400, 429] : [];
      expect(statuses).toEqual([...new Set([...(STATUSES[name] ?? []), ...byToken, 408, 413, 500])].sort());
      expect(operation.summary).toMatch(/^[A-Z]/);
      for (const part of [operation.requestBody, ...Object.values(operation.responses)]) {
        if (part === undefined || "$ref" in part) continue;
        const json = part.content?.["application/json"];
        if (json !== undefined) expect(json.example).toBeDefined();
      }
    },
  );

  test("names each operation once, and makes up a name where the route has none", () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => /^(get|post|put|patch|delete)[A-Z]\w+Id\b/.test(id))).toEqual([]);
    expect(documentOf({}).operationId).toBe("postThingsIdPaint");
  });

  test.each(operations)("$name asks for the session that the route asks for", async ({ method, path, operation }) => {
    const [needed] = operation.security;
    const url = `${path.replace(/\{\w+\}/g, "x")}?page=x`;
    const body = method === "GET" || method === "DELETE" ? undefined : "{broken";
    const nobody = await app.anonymous().call(method, url, body);
    expect(nobody.status === 401).toBe(needed !== undefined);
    const { "x-permission": permission } = operation;
    expect(permission === undefined).toBe(needed === undefined);
    if (permission === undefined || permission === "session") return;
    // No session is of use there.
    if (permission === "agent") return expect((await callers.admin.call(method, url, body)).status).toBe(401);
    for (const kind of ["admin", "user"] as const) {
      // It ends the sessions of who calls it.
      const caller = path === "/me/lock" && kind === "user" ? (await app.user("locker")).client : callers[kind];
      expect((await caller.call(method, url, body)).status === 403).toBe(kind !== permission);
    }
  });

  test.each(operations)("$name takes the body and the page that the route takes", async (entry) => {
    const { method, path, operation } = entry;
    const caller = operation["x-permission"] === "user" ? callers.user : callers.admin;
    const endsSessions = ["POST /auth/logout", "POST /me/lock"];
    // See agent.test.ts: nothing of theirs is read that is not signed.
    if (operation["x-permission"] === "agent") return;
    if (endsSessions.includes(entry.name)) return expect(operation.requestBody).toBeUndefined();
    if (method !== "GET" && method !== "DELETE") {
      const url = path.replace(/\{\w+\}/g, "999999");
      const { text } = await caller.call(method, url, "x", { "content-type": "text/plain" });
      expect(/must be (?:JSON|a form|a CSV file)/.test(text)).toBe(operation.requestBody !== undefined);
    } else if (
      !path.includes("{") &&
      method === "GET" &&
      operation.parameters?.some(({ required }) => required) !== true
    ) {
      const { status } = await caller.call(method, `${path}?page=x`);
      expect(status === 400).toBe(operation.parameters?.some(({ name }) => name === "page") === true);
    }
  });

  test("takes a token where an administrator's session is taken, but for what is about logins, one's own and new ones", () => {
    for (const { name, operation } of operations) {
      const takes = operation.security.some((scheme) => "token" in scheme);
      const isForAdmins = ["admin", "session"].includes(operation["x-permission"] ?? "");
      expect([name, takes]).toEqual([
        name,
        isForAdmins &&
          !/\/auth\/(logout$|admin\/password$|passkeys|totp)/.test(name) &&
          !["POST /admins", "PATCH /admins/{id}", "DELETE /removed-admins/{id}"].includes(name),
      ]);
    }
    expect(apiDocument.components).toHaveProperty("securitySchemes.token.scheme", "bearer");
  });

  test("has no scopes on a cookie, which has none", () => {
    const scopes = operations.flatMap(({ operation }) => operation.security.flatMap(Object.values).flat());
    expect(scopes).toEqual([]);
  });

  test("makes nothing required that a client may leave out, and gives it no default", () => {
    const { NewUser, ApplicationReview, Extension } = apiDocument.components.schemas;
    expect(NewUser?.required).toEqual(["username", "email"]);
    expect(ApplicationReview?.required).toEqual(["approve"]);
    expect(Extension?.required ?? []).toEqual([]);
    const bodies = operations.flatMap(({ operation }) => Object.values(operation.requestBody?.content ?? {}));
    // Generators take a field with a default for one that is always there.
    expect(JSON.stringify([bodies, NewUser, ApplicationReview, Extension])).not.toContain('"default"');
    const required = operations.filter(({ operation }) => operation.requestBody?.required === false);
    expect(required.map(({ name }) => name).sort()).toEqual([
      ...["DELETE /auth/passkeys/{id}", "DELETE /auth/totp", "DELETE /removed-admins/{id}"],
      ...["POST /hosts/tokens", "POST /reviews/{id}/close"],
      ...["POST /users/{id}/disable", "POST /users/{id}/enable", "POST /users/{id}/extend"],
    ]);
  });

  test("says which failures are final, and what each 429 and 500 means", () => {
    const say = (path: string, method: string, status: number) =>
      apiDocument.paths[path]?.[method]?.responses[status]?.description ?? "";
    expect(apiDocument.info.description).toContain("final");
    for (const [path, method, status] of [
      ["/users/{id}/extend", "post", 500],
      ["/users/{id}", "delete", 500],
      ["/users/{id}/disable", "post", 409],
      ["/users/{id}/enable", "post", 409],
      ["/me/keys", "post", 500],
      ["/me/keys/{id}", "delete", 500],
      ["/me/lock", "post", 409],
      ["/me/extension", "post", 409],
    ] as const) {
      expect([path, say(path, method, status)]).toEqual([path, expect.stringMatching(/\bfinal\b/i)]);
    }
    expect(say("/audit/export", "get", 429)).toContain("Retry-After");
    for (const name of ["TooMany", "Internal", "Unavailable"]) {
      expect(apiDocument.components.responses[name]?.content?.["application/json"]).toHaveProperty("example.error");
    }
  });

  test.each([
    [undefined, { name: "The administrators of this service", url: "http://127.0.0.1:8080" }],
    ["it@example.org", { name: "The administrators of this service", email: "it@example.org" }],
    ["the desk, room 7", { name: "the desk, room 7" }],
  ])("names whom to ask: %p", (contact, named) => {
    const options = readConfig({ UAM_DATA_DIR: "/nonexistent" }, { isRoot: false, currentDirectory: "/" });
    const { info } = describeApi({ ...options, contact, version: "1", runtime: "t" });
    expect(info.contact).toMatchObject(named);
  });

  test("leaves no schema empty", () => {
    for (const { operation } of operations) {
      for (const { schema } of operation.parameters ?? []) requireFull(schema);
      for (const { schema } of Object.values(operation.requestBody?.content ?? {})) requireFull(schema);
      for (const response of Object.values(operation.responses)) {
        if ("content" in response) for (const { schema } of Object.values(response.content ?? {})) requireFull(schema);
      }
    }
    for (const schema of Object.values(apiDocument.components.schemas)) requireFull(schema);
  });

  test("keeps a schema with a check that JSON Schema cannot say", () => {
    const body = v.object({
      colour: v.pipe(
        v.string(),
        v.maxLength(9),
        v.check((text) => text !== "mauve"),
      ),
    });
    const schema: unknown = documentOf({ body }).requestBody?.content["application/json"]?.schema;
    const properties = { colour: { type: "string", maxLength: 9 } };
    expect(schema).toEqual({ type: "object", properties, required: ["colour"] });
  });

  test("shows numbers of paths and queries as numbers with their bounds", () => {
    const { parameters } = apiDocument.paths["/users"]?.get ?? {};
    const schemas = Object.fromEntries((parameters ?? []).map(({ name, schema }) => [name, schema]));
    expect(schemas.page).toMatchObject({ type: "integer", minimum: 1, default: 1 });
    expect(schemas.page_size).toMatchObject({ type: "integer", minimum: 1, maximum: 500, default: 20 });
    expect(apiDocument.paths["/users/{id}"]?.get?.parameters?.[0]).toMatchObject({
      name: "id",
      in: "path",
      required: true,
      schema: { type: "integer", minimum: 0 },
    });
  });

  test("lets a response of the route's own win over what its schema says", () => {
    const text = {
      description: "A file",
      content: { "text/csv": { schema: { type: "string" } } },
      headers: { "Content-Disposition": {} },
    } as const;
    const { responses } = documentOf({ answer: v.object({}), success: text });
    expect(responses[200]).toMatchObject(text);
    expect(responses[200]).toHaveProperty(["headers", "X-Request-Id"]);
    expect(responses[200]).not.toHaveProperty(["content", "application/json"]);
  });

  test("refuses two different schemas under one title", () => {
    const answer = v.pipe(v.object({ a: v.string() }), v.title("Error"));
    expect(() => documentOf({ answer })).toThrow("Two different schemas have the title Error");
  });

  test("gives as an example a public key that the service accepts", () => {
    const { properties } = apiDocument.components.schemas.NewSshKey ?? {};
    const { properties: stored } = apiDocument.components.schemas.SshKey ?? {};
    const key = parsePublicKey(String(properties?.public_key?.examples?.[0]), KEY_TYPES);
    expect([key.fingerprint]).toEqual([...(stored?.fingerprint?.examples ?? [])] as string[]);
  });

  testSlow(
    "passes the linter",
    async () => {
      const directory = mkdtempSync(join(tmpdir(), "uam-openapi-"));
      const file = join(directory, "openapi.json");
      writeFileSync(file, JSON.stringify(apiDocument));
      const root = join(import.meta.dir, "../../../..");
      const linter = Bun.spawn(
        [process.execPath, "--bun", join(root, "node_modules/.bin/redocly"), "lint", file, "--format=json"],
        {
          cwd: root,
          stderr: "pipe",
          env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
        },
      );
      const report = JSON.parse(await linter.stdout.text());
      rmSync(directory, { recursive: true });
      expect(report.problems).toEqual([]);
      expect(report.totals).toEqual({ errors: 0, warnings: 0, ignored: 0 });
    },
    180_000,
  );
});

describe("GET /openapi.json", () => {
  test("answers with the document, for caches to keep", async () => {
    const answer = await app.anonymous().call("GET", "/openapi.json");
    expect(answer.body).toEqual(JSON.parse(JSON.stringify(apiDocument)));
    expect(answer.headers.get("cache-control")).toBe("public, max-age=300");
  });

  test("is what `uam openapi` prints, with the server's own address", async () => {
    let printed = "";
    const environment: CliEnvironment = {
      variables: { UAM_BASE_URL: "https://access.example.org", UAM_DATA_DIR: "/nonexistent" },
      currentDirectory: "/",
      isRoot: false,
      invocation: "uam",
      operator: "operator",
      isTerminal: false,
      columns: undefined,
      runtime: { ...bunRuntime, name: "test 1", serve: () => Promise.reject(new Error("not here")) },
      out: (text) => {
        printed += text;
      },
      outStream: () => Promise.resolve(),
      err: () => {},
      readStandardInput: () => Promise.resolve(""),
      ask: undefined,
      untilStopped: () => Promise.resolve(),
    };
    expect(await runProgram(["openapi"], environment)).toBe(0);
    const document = JSON.parse(printed);
    expect(document.servers).toEqual([{ url: "https://access.example.org/api/v1" }]);
    expect(document.paths).toEqual(JSON.parse(JSON.stringify(apiDocument.paths)));
  });
});

/** The one operation of a document of one route. */
function documentOf(said: Partial<Route>) {
  const contract: Route = { summary: "Paint a thing", who: anyone, ...said };
  const routes = [{ method: "POST", path: "/root/things/:id/paint", contract }];
  const document = createOpenApiDocument(routes, {
    root: "/root",
    baseUrl: "http://127.0.0.1",
    version: "1",
    contact: undefined,
  });
  const operation = document.paths["/things/{id}/paint"]?.post;
  if (operation === undefined) throw new Error("The route was dropped");
  return operation;
}

/** Throws for a schema that says nothing, at any depth. */
function requireFull(schema: JsonSchema): void {
  expect(schema.$ref ?? schema.type ?? schema.const ?? schema.enum ?? schema.anyOf).toBeDefined();
  if (schema.type === "object") {
    expect(Object.keys(schema.properties ?? {}).length > 0 || schema.additionalProperties === true).toBe(true);
  }
  if (schema.type === "array") expect(schema.items).toBeDefined();
  for (const inner of [...Object.values(schema.properties ?? {}), ...(schema.anyOf ?? [])]) requireFull(inner);
  if (schema.items !== undefined) requireFull(schema.items);
}
