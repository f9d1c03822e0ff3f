/** How requests are checked against their schemas; what that may cost is in costs.test.ts. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import * as v from "valibot";
import { listOf } from "../../../../src/contract/fields.ts";
import { parseObject } from "../../../../src/server/api/http/body.ts";
import { parseText } from "../../../../src/shared/text/text.ts";
import { type Client, createTestApp, type TestApp } from "../../../support/app.ts";
import { apiDocument } from "../../../support/openapi.ts";

let t: TestApp;
let admin: Client;

beforeAll(async () => {
  t = await createTestApp();
  admin = await t.admin();
});
afterAll(() => t.close());

describe("a list", () => {
  test("is refused for its length before any item is looked at", () => {
    let looked = 0;
    const item = v.check<string, string>(() => ++looked > 0, "never");
    const list = listOf(v.pipe(v.string(), item), 2);
    expect(v.safeParse(list, ["a", "b", "c"]).issues?.[0]?.message).toBe("must have at most 2 entries");
    expect(looked).toBe(0);
    expect(v.safeParse(list, ["a", "b"]).output).toEqual(["a", "b"]);
    expect(looked).toBe(2);
    expect(v.safeParse(list, "a").success).toBe(false);
  });

  test("of a request has a bound in the document, wherever it is", () => {
    const unbounded: string[] = [];
    const walk = (part: unknown, where: string) => {
      if (typeof part !== "object" || part === null) return;
      const { type, maxItems, $ref } = part as { type?: unknown; maxItems?: number; $ref?: string };
      if (type === "array" && maxItems === undefined) unbounded.push(where);
      if ($ref !== undefined) walk(apiDocument.components.schemas[$ref.split("/").at(-1) ?? ""], where);
      for (const [name, inner] of Object.entries(part)) if (name !== "enum") walk(inner, `${where}/${name}`);
    };
    for (const [path, operations] of Object.entries(apiDocument.paths))
      for (const [method, { requestBody }] of Object.entries(operations))
        walk(requestBody?.content, `${method} ${path}`);
    expect(unbounded).toEqual([]);
  });
});

describe("a fault", () => {
  test("is the first that there is, and its answer holds nothing of the rest", async () => {
    const source_networks = Array.from({ length: 30 }, (_, index) => ({ secret: `s${index}` }));
    const { status, body } = await admin.call("POST", "/users", { username: 7, email: "secret", source_networks });
    expect([status, body.error]).toEqual([400, "username must be a string"]);
    const other = await admin.call("POST", "/users", { username: "a", email: "a@example.org", source_networks });
    expect([other.status, other.body.error]).toEqual([400, "source_networks.0 must be a string"]);
  });

  test("in the path comes before one in the body", async () => {
    const said = async (path: string, body: unknown) => (await admin.call("PATCH", path, body)).body.error;
    expect(await said("/users/x", { email: 7 })).toStartWith("id must be");
    expect(await said("/users/1", { email: 7 })).toBe("email must be a string");
  });

  test("in a name that is far too long does not repeat it, nor record it", async () => {
    const { status, text } = await admin.call("POST", "/host-groups", { name: "web", hosts: ["x".repeat(60_000)] });
    expect(status).toBe(400);
    expect(text).not.toContain("xxxx");
    expect((await t.auditRows()).filter(({ detail }) => detail.includes("xxxx"))).toEqual([]);
  });
});

describe("a body", () => {
  const parse = (json: string) => parseObject(Buffer.from(json));
  const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

  test("of more than 8 levels is refused before anything is made of it", () => {
    expect(parse(nested(8))).toHaveProperty("a");
    expect(() => parse(nested(9))).toThrow("nested deeper than 8 levels");
    // It is no JSON either, which is found out later.
    expect(() => parse("[".repeat(100_000))).toThrow("nested deeper than 8 levels");
  });

  test("of more than 32768 values is refused likewise", () => {
    const wide = (values: number) => `{"a":[${Array(values).fill("1").join(",")}]}`;
    expect(parse(wide(32_765))).toHaveProperty("a");
    expect(() => parse(wide(40_000))).toThrow("more than 32768 values");
  });

  test("may hold brackets, commas, quotes and backslashes in its texts", () => {
    const hostile = `${"[{".repeat(40)}${",".repeat(40_000)}"\\`;
    expect(parse(JSON.stringify({ [hostile]: hostile }))).toEqual({ [hostile]: hostile });
    expect(() => parse('{"a":"')).toThrow("not valid JSON");
    expect(() => parse('{"a":"\\')).toThrow("not valid JSON");
  });
});

describe("a text", () => {
  test("that is certainly too long is refused before it is brought to NFC", () => {
    expect(() => parseText("purpose", "a".repeat(8001), 1000)).toThrow("longer than 1000 characters");
    // Four characters become one, as nowhere more do: exactly as long as it may be.
    expect(parseText("purpose", "\u03b1\u0313\u0301\u0345".repeat(1000), 1000)).toHaveLength(1000);
    expect(parseText("purpose", `${" ".repeat(50_000)}x`, 1000)).toBe("x");
  });
});
