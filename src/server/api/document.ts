/** /openapi.json: the description of the interface. */

import { Elysia } from "elysia";
import * as v from "valibot";
import type { OpenApiDocument } from "./openapi.ts";
import { responses } from "./schemas.ts";

const Document = v.pipe(
  v.looseObject({
    openapi: v.string(),
    info: v.looseObject({ title: v.string(), version: v.string() }),
    paths: v.looseObject({}),
  }),
  v.metadata({
    description: "An OpenAPI 3.1 document",
    examples: [{ openapi: "3.1.1", info: { title: "User Access Management", version: "1.0.0" }, paths: {} }],
  }),
);

/** `describe` makes the document; it is called once, when all routes are registered. */
export function documentRoutes(describe: () => OpenApiDocument) {
  let document: OpenApiDocument | undefined;
  return new Elysia().get(
    "/openapi.json",
    ({ set }) => {
      document ??= describe();
      set.headers["cache-control"] = "public, max-age=300";
      return document;
    },
    {
      response: responses(Document),
      detail: {
        operationId: "getOpenApi",
        summary: "This document",
        description: "The one success that is not wrapped in `data`.",
      },
    },
  );
}
