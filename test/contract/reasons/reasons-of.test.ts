import { describe, expect, test } from "bun:test";
import { CONTRACT } from "../../../src/contract/contract.ts";
import { IMPLIED, reasonsOf } from "../../../src/contract/reasons/reasons-of.ts";
import type { Route } from "../../../src/contract/route.ts";
import { REASONS, type Reason } from "../../../src/shared/product/reasons.ts";
import { readSource } from "../../structure/source.ts";
import { reasonsGiven } from "../../support/given-reasons.ts";
import { apiDocument } from "../../support/openapi.ts";

const routes: readonly (readonly [key: string, route: Route])[] = Object.entries(CONTRACT);
const methodOf = (key: string) => key.split(" ")[0] ?? "";

/** Reasons that no route of the contract has. */
const ELSEWHERE: Readonly<Partial<Record<Reason, string>>> = {
  "route.unknown": "there is no route",
  "route.method": "there is no route of that method",
  "permission.missing": "the command line gives it",
  "resource.missing": "the command line gives it",
  "sso.expired": "single sign-on leads to the login page instead, which says it",
  "sso.refused": "the same",
  "sso.role": "the same",
  "sso.email": "the same",
  "sso.removed": "the same",
};

describe("reasonsOf()", () => {
  test("gives every documented reason to a route, but those that none can have", () => {
    const given = new Set(routes.flatMap(([key, route]) => reasonsOf(methodOf(key), route)));
    const missing = Object.keys(REASONS).filter((reason) => !given.has(reason as Reason));
    expect(missing.sort()).toEqual(Object.keys(ELSEWHERE).sort());
  });

  test("names in an entry what does not follow from it, each once", () => {
    const needless = routes.flatMap(([key, route]) => {
      const implied = IMPLIED.flatMap(({ holds, reasons }) => (holds(methodOf(key), route) ? reasons : []));
      const named = route.reasons ?? [];
      const again = named.filter((reason, index) => implied.includes(reason) || named.indexOf(reason) !== index);
      return again.map((reason) => `${key}: ${reason}`);
    });
    expect(needless).toEqual([]);
  });

  test("has nothing that an entry names and nothing behind its handler gives", () => {
    const given = reasonsGiven(readSource());
    expect([...given.keys()].sort()).toEqual(routes.map(([key]) => key).sort());
    const dead = routes.flatMap(([key, { reasons = [] }]) =>
      reasons.filter((reason) => !given.get(key)?.has(reason)).map((reason) => `${key}: ${reason}`),
    );
    expect(dead).toEqual([]);
    // It tells them apart: not every route reaches everything.
    expect(given.get("GET /users/:id")?.has("key.missing")).toBe(false);
    expect(given.get("DELETE /users/:id/keys/:keyId")?.has("key.missing")).toBe(true);
  });

  test("has, for what is only read but recorded, that the record can fail", () => {
    const given = reasonsGiven(readSource());
    const recorded = routes.filter(([key]) => methodOf(key) === "GET" && given.get(key)?.has("audit.unrecorded"));
    const silent = recorded.filter(([, { reasons = [] }]) => !reasons.includes("audit.unrecorded"));
    expect(recorded.map(([key]) => key)).toContain("GET /audit/export");
    // Where a browser is sent back to the login page, that says it.
    expect(silent.map(([key]) => key)).toEqual(["GET /auth/oidc/login", "GET /auth/oidc/callback"]);
  });

  test("is in the OpenAPI document, sorted", () => {
    const reasons = apiDocument.paths["/users/{id}"]?.get?.["x-reasons"] ?? [];
    expect(reasons).toContain("user.missing");
    expect(reasons).toContain("session.missing");
    expect(reasons).not.toContain("key.missing");
    expect(reasons).not.toContain("request.origin");
    expect([...reasons].sort()).toEqual([...reasons]);
  });
});
