/** Names that look like known ones are refused; other unknown ones are ignored. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import * as v from "valibot";
import { refuseMisspelled } from "../../../../src/server/api/http/misspelled.ts";
import { nearMiss } from "../../../../src/shared/text/near-miss.ts";
import { type Client, createTestApp, type TestApp } from "../../../support/app.ts";
import { apiDocument } from "../../../support/openapi.ts";

let app: TestApp;
let callers: Record<"admin" | "user" | "nobody", Client>;

beforeAll(async () => {
  app = await createTestApp();
  callers = { admin: await app.admin(), user: (await app.user("speller")).client, nobody: app.anonymous() };
});
afterAll(() => app.close());

interface Named {
  readonly route: string;
  readonly kind: "field" | "parameter";
  readonly names: readonly string[];
  readonly caller: "admin" | "user" | "nobody";
  readonly takesBody: boolean;
}

/** Every route that takes names, with those that its document says it takes. */
const ROUTES: readonly Named[] = Object.entries(apiDocument.paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, operation]) => {
    const route = `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, "1")}`;
    // Nobody types those: programs of other versions send more than this one knows.
    if (path.startsWith("/agent/") && path !== "/agent/key") return [];
    const caller = operation.security.length === 0 ? "nobody" : path.startsWith("/me/") ? "user" : "admin";
    const schema = operation.requestBody?.content["application/json"]?.schema;
    const takesBody = schema !== undefined;
    const title = schema?.$ref?.split("/").at(-1) ?? "";
    const fields = Object.keys(apiDocument.components.schemas[title]?.properties ?? schema?.properties ?? {});
    const query = (operation.parameters ?? []).filter((one) => one.in === "query").map(({ name }) => name);
    return [
      ...(fields.length === 0 ? [] : [{ route, kind: "field", names: fields, caller, takesBody } as const]),
      ...(query.length === 0 ? [] : [{ route, kind: "parameter", names: query, caller, takesBody } as const]),
    ];
  }),
);

function send({ route, kind, caller, takesBody }: Named, name: string) {
  const [method = "", path = ""] = route.split(" ");
  return kind === "field"
    ? callers[caller].call(method, path, { [name]: "x" })
    : // A body comes before the query.
      callers[caller].call(
        method,
        `${path}?${encodeURIComponent(name)}=x`,
        takesBody ? {} : undefined,
        path.endsWith("/import") ? { "content-type": "text/csv" } : {},
      );
}

test("every route that takes names is covered", () => {
  expect(ROUTES.length).toBeGreaterThan(15);
  expect(ROUTES.filter(({ caller }) => caller === "nobody").length).toBeGreaterThan(5);
});

describe.each([...ROUTES])("$route, $kind", (route) => {
  test("refuses a misspelling of each, and names it", async () => {
    for (const name of route.names) {
      for (const misspelled of [name.toUpperCase(), `${name}x`, name.slice(1), name.replace(/_/g, "-")]) {
        const meant = nearMiss(misspelled, route.names);
        if (meant === undefined) {
          expect(route.names).toContain(misspelled);
          continue;
        }
        const answer = await send(route, misspelled);
        expect([answer.status, answer.body]).toEqual([
          400,
          { error: `There is no ${route.kind} "${misspelled}". Did you mean ${meant}?` },
        ]);
      }
    }
  });

  test("ignores names that look like none of them", async () => {
    const { body } = await send(route, "something_else_entirely");
    expect(body?.error ?? "").not.toMatch(/^There is no (field|parameter)/);
  });
});

describe("a misspelled name", () => {
  test("changes nothing", async () => {
    const { admin } = callers;
    const before = (await admin.call("GET", "/users")).body.data.total;
    const wrong = { username: "short-lived", email: "s@example.org", ttl: 5 };
    const answer = await admin.call("POST", "/users", wrong);
    expect([answer.status, answer.body]).toEqual([400, { error: 'There is no field "ttl". Did you mean ttl_days?' }]);
    expect((await admin.call("GET", "/users")).body.data.total).toBe(before);
    expect((await admin.call("GET", "/users?stauts=disabled")).body).toEqual({
      error: 'There is no parameter "stauts". Did you mean status?',
    });
  });

  test("is refused beside the right one, too", async () => {
    const body = { username: "twice", email: "t@example.org", ttl_days: 5, ttl: 7 };
    expect((await callers.admin.call("POST", "/users", body)).status).toBe(400);
    expect((await callers.admin.call("GET", "/users?status=active&Status=disabled")).status).toBe(400);
  });

  test("is not reported to a caller without permission", async () => {
    expect((await callers.nobody.call("GET", "/users?stauts=x")).status).toBe(401);
    expect((await callers.user.call("GET", "/users?stauts=x")).status).toBe(403);
    expect((await callers.nobody.call("POST", "/users", { ttl: 5 })).status).toBe(401);
  });

  test("is shown in part where it is long", async () => {
    const { body } = await callers.admin.call("POST", "/users", { [`email${"-".repeat(9000)}`]: "x" });
    expect(body.error.length).toBeLessThan(200);
  });
});

describe("refuseMisspelled()", () => {
  const schema = v.pipe(
    v.object({
      owner: v.optional(v.nullable(v.object({ username: v.string() }))),
      hosts: v.array(v.object({ address: v.string() })),
    }),
    v.title("Nested"),
  );

  test.each([
    [{ owner: { usrname: "x" } }, "username"],
    [{ hosts: [{ address: "x" }, { adress: "y" }] }, "address"],
  ])("looks into the objects and lists of %p", (value, meant) => {
    expect(() => refuseMisspelled(schema, value, "field")).toThrow(`Did you mean ${meant}?`);
  });

  test.each([
    [{ owner: null }],
    [{ other: { usrname: "x", owners: [{ hosts: 1 }] } }],
    [{ hosts: [null, 7, { purpose: { adress: "x" } }] }],
    ["owner"],
    [null],
  ])("takes %p: what is unknown is ignored, however deep", (value) => {
    expect(() => refuseMisspelled(schema, value, "field")).not.toThrow();
  });
});
