import { describe, expect, test } from "bun:test";
import { toJsonSchema } from "@valibot/to-json-schema";
import type * as v from "valibot";
import { webOptionsOf } from "../../../src/cli/web-options.ts";
import { readConfig } from "../../../src/config/config.ts";
import { API_ROOT, describeRoutes } from "../../../src/server/api/app.ts";
import { CONTRACT, type RouteKey } from "../../../src/server/api/contract.ts";
import { trimPath } from "../../../src/server/api/routing.ts";
import type { RegisteredRoute } from "../../../src/server/api/web.ts";

const options = webOptionsOf(readConfig({}, { isRoot: false, currentDirectory: "/" }), { version: "0", runtime: "t" });
const routes: ReadonlyMap<string, RegisteredRoute> = new Map(
  describeRoutes(options).map((route) => [`${route.method} ${trimPath(route.path.slice(API_ROOT.length))}`, route]),
);

/** Without examples, and with every whole number as a number: they are one type to a client. */
function shape(schema: v.GenericSchema | undefined): unknown {
  if (schema === undefined) return undefined;
  const json = toJsonSchema(schema, { errorMode: "ignore", typeMode: "input" });
  return JSON.parse(
    JSON.stringify(json, (key, value) =>
      ["examples", "description", "minimum", "title"].includes(key)
        ? undefined
        : value === "integer"
          ? "number"
          : value,
    ),
  );
}

function answerOf(route: RegisteredRoute): v.GenericSchema | undefined {
  const answer = (route.hooks.response?.[200] ?? route.hooks.response?.[201]) as
    | { readonly entries?: { readonly data?: v.GenericSchema } }
    | undefined;
  return answer?.entries?.data;
}

describe("CONTRACT", () => {
  test("names exactly the registered routes", () => {
    expect(Object.keys(CONTRACT).sort()).toEqual([...routes.keys()].sort());
  });

  test.each(Object.keys(CONTRACT) as RouteKey[])("%s has the schemas that the route is checked by", (name) => {
    const route = routes.get(name);
    if (route === undefined) throw new Error(`${name} is not registered`);
    const entry: { summary?: string; query?: v.GenericSchema; body?: v.GenericSchema; answer?: v.GenericSchema } =
      CONTRACT[name];
    expect(shape(entry.query)).toEqual(shape(route.hooks.query));
    expect(shape(entry.body)).toEqual(shape(route.hooks.body));
    if (entry.answer !== undefined) expect(shape(entry.answer)).toEqual(shape(answerOf(route)));
  });
});
