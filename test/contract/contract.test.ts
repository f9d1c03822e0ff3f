import { describe, expect, test } from "bun:test";
import { CONTRACT } from "../../src/contract/contract.ts";
import type { Route } from "../../src/contract/route.ts";
import { isSafe } from "../../src/server/api/http/routing.ts";

const routes: readonly (readonly [key: string, route: Route])[] = Object.entries(CONTRACT);
const methodOf = (key: string) => key.split(" ")[0] ?? "";
/** Routes by which a session changes something with what it sends. */
const takingBodies = routes.filter(
  ([key, { who, body }]) =>
    !isSafe(methodOf(key)) && body !== undefined && who.permission !== "public" && who.permission !== "agent",
);

describe("the contract", () => {
  test("names the action under which a refused body of a session is recorded, and of no other route", () => {
    expect(takingBodies.length).toBeGreaterThan(20);
    const recording = routes.filter(([, { records }]) => records !== undefined);
    expect(recording.map(([key]) => key)).toEqual(takingBodies.map(([key]) => key));
  });

  test("calls only changes by POST logins, and only public answers that are read cacheable", () => {
    const methods = (flag: "isLogin" | "isCacheable") =>
      new Set(
        routes
          .filter(([, route]) => route[flag] === true)
          .map(([key, { who }]) => `${methodOf(key)} ${who.permission}`),
      );
    expect([...methods("isLogin")]).toEqual(["POST public"]);
    expect([...methods("isCacheable")]).toEqual(["GET public"]);
  });
});
