import { describe, expect, test } from "bun:test";
import { API_ROOT } from "../../src/server/api/app.ts";
import { exampleOf } from "../../src/server/api/http/openapi-schema.ts";
import { apiDocument, checkAnswer } from "./openapi.ts";

describe("checkAnswer()", () => {
  const data = exampleOf({ $ref: "#/components/schemas/User" }, apiDocument.components.schemas) as object;

  test("accepts what is documented", () => {
    expect(() => check("GET", "/users/7", { status: 200, body: { data } })).not.toThrow();
    expect(() => check("GET", "/users/7", { status: 404, body: { error: "x" }, reason: "user.missing" })).not.toThrow();
    expect(() => check("GET", "/nothing", { status: 404, body: { error: "x" } })).not.toThrow();
  });

  test.each([
    ["a status", "GET", "/users/7", { status: 409, body: { error: "x" } }],
    ["a missing field", "GET", "/users/7", { status: 200, body: { data: { ...data, email: undefined } } }],
    ["a field of another type", "GET", "/users/7", { status: 200, body: { data: { ...data, id: "7" } } }],
    ["a field too many", "GET", "/users/7", { status: 200, body: { data: { ...data, password: "x" } } }],
    [
      "a time without an offset",
      "GET",
      "/users/7",
      { status: 200, body: { data: { ...data, expire_at: "2026-11-20" } } },
    ],
    ["a field beside the error", "GET", "/users/7", { status: 404, body: { error: "x", stack: "y" } }],
    ["a reason", "GET", "/nothing", { status: 404, body: { error: "x" }, reason: "no.such" }],
    ["a reason, for that route,", "GET", "/users/7", { status: 404, body: { error: "x" }, reason: "key.missing" }],
    ["a content type", "GET", "/users/7", { status: 200, body: { data }, type: "text/html" }],
    ["a 429 without Retry-After", "POST", "/auth/admin/login", { status: 429, body: { error: "x" } }],
    ["a success without a session", "GET", "/users/7", { status: 200, body: { data }, cookie: "" }],
    ["a success at an unknown path", "GET", "/nothing", { status: 200, body: {} }],
    ["a success with another method", "PUT", "/users/7", { status: 200, body: {} }],
    ["a page that was taken", "GET", "/users?page=0", { status: 200, body: { data: { total: 0, items: [] } } }],
    ["a body that was taken", "PATCH", "/users/7", { status: 200, body: { data }, sent: { email: null } }],
  ])("refuses %s that is not documented", (_, method, path, answer) => {
    expect(() => check(method, path, answer)).toThrow();
  });
});

interface GivenAnswer {
  readonly reason?: string;
  readonly status: number;
  readonly body: unknown;
  readonly type?: string;
  readonly cookie?: string;
  readonly sent?: unknown;
}

function check(
  method: string,
  path: string,
  { status, body, type, cookie = "x", sent, reason = "request.invalid" }: GivenAnswer,
): void {
  const request = new Request(`http://127.0.0.1:8080${API_ROOT}${path}`, {
    method,
    headers: cookie === "" ? {} : { cookie },
  });
  const headers = new Headers({ "x-request-id": "x", "content-type": type ?? "application/json" });
  if (status >= 400) headers.set("uam-error", reason);
  checkAnswer({ request, sent, response: { status, headers }, text: JSON.stringify(body) });
}
