/** The OpenAPI 3.1 document, made from the contract: by what guards, parses and validates. */

import type * as v from "valibot";
import { readsInput, reasonsOf } from "../../../contract/reasons/reasons-of.ts";
import type { Need, ObjectSchema, Route } from "../../../contract/route.ts";
import type { Reason } from "../../../shared/product/reasons.ts";
import { namedRoles, rolesFor } from "../../../shared/product/roles.ts";
import type { AdminRole } from "../../../shared/product/statuses.ts";
import { data, Failure } from "./envelope.ts";
import { type Components, convertSchema, exampleOf, type JsonSchema } from "./openapi-schema.ts";
import { AGENT, CONTACT, FAILURES, HEADERS, INFO, REQUEST_ID, TAGS, TOKEN, UAM_ERROR, WHO } from "./openapi-texts.ts";
import type { RegisteredRoute } from "./routing.ts";
import { accessOf } from "./routing.ts";
import { SESSION_COOKIE } from "./session-cookie.ts";

/** A type and no interface, so that it is seen to be an object like any other in JSON. */
export type OpenApiDocument = {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string } & Readonly<Record<string, unknown>>;
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Components;
    readonly responses: Readonly<Record<string, ResponseObject>>;
  } & Readonly<Record<string, unknown>>;
};

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly "x-permission"?: Need["permission"];
  /** Of an administrator's session, which roles may call it. */
  readonly "x-roles"?: readonly AdminRole[];
  /** The names that `Uam-Error` can have, in alphabetical order. */
  readonly "x-reasons": readonly Reason[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, ResponseObject | Reference>>;
}

/** Points to one of the document's components. */
export interface Reference {
  readonly $ref: string;
  /** In place of the component's. */
  readonly description?: string;
}

export interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Content;
}

type Content = Readonly<Record<string, { readonly schema: JsonSchema; readonly example?: unknown }>>;

/** One part of the path or the query. */
export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
}

export interface DocumentOptions {
  /** Where the paths begin, e.g. "/api/v1". */
  readonly root: string;
  readonly baseUrl: string;
  readonly version: string;
  /** Whom to ask: an address or a sentence. */
  readonly contact: string | undefined;
}

/** The document of all these routes; each has all statuses it can answer with. */
export function createOpenApiDocument(routes: readonly RegisteredRoute[], options: DocumentOptions): OpenApiDocument {
  const components: Components = {};
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of routes) {
    const path = route.path
      .slice(options.root.length)
      .replace(/(.)\/$/, "$1")
      .replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeRoute(route, path, components) };
  }
  const responses = describeFailures(components);
  const used = new Set(Object.values(paths).flatMap((path) => Object.values(path).flatMap(({ tags }) => tags)));
  return {
    openapi: "3.1.1",
    info: {
      title: "User Access Management",
      summary: "Time-limited SSH accounts for external users",
      description: INFO,
      version: options.version,
      contact: contactOf(options),
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: options.baseUrl + options.root }],
    tags: Object.entries(TAGS).flatMap(([name, description]) => (used.has(name) ? [{ name, description }] : [])),
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1))),
      responses,
      headers: HEADERS,
      securitySchemes: {
        session: { type: "apiKey", in: "cookie", name: SESSION_COOKIE, description: "Set by the login routes" },
        token: { type: "http", scheme: "bearer", description: TOKEN },
        agent: { type: "apiKey", in: "header", name: "Authorization", description: AGENT },
      },
    },
  };
}

function contactOf({ contact, baseUrl: url }: DocumentOptions) {
  if (contact === undefined) return { name: CONTACT, url };
  return /^\S+@\S+$/.test(contact) ? { name: CONTACT, url, email: contact } : { name: contact, url };
}

function describeRoute({ method, contract }: RegisteredRoute, path: string, components: Components): Operation {
  const { operationId, summary, description, who, params, query, body, bodyAs } = contract;
  const need = who.permission === "public" ? undefined : who;
  const roles = need?.least === undefined ? undefined : rolesFor(need.least, accessOf(method));
  const named =
    roles === undefined ? WHO[who.permission] : `${WHO.admin.slice(0, -1)} with the role ${namedRoles(roles)}.`;
  const parameters = [
    ...describeParameters("path", params, components),
    ...describeParameters("query", query, components),
  ];
  const content = body === undefined ? undefined : contentOf(body, bodyAs, components);
  return {
    operationId: operationId ?? operationIdOf(method, path),
    tags: [tagOf(path)],
    summary,
    description: description === undefined ? named : `${description}\n\n${named}`,
    // A cookie has no scopes (OpenAPI 3.1, Security Requirement Object): whose session it must be is stated beside it.
    security: securityOf(need),
    ...(need === undefined ? {} : { "x-permission": need.permission }),
    ...(roles === undefined ? {} : { "x-roles": roles }),
    "x-reasons": reasonsOf(method, contract),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(content === undefined ? {} : { requestBody: { required: bodyAs !== "optional", content } }),
    responses: describeResponses(method, contract, components),
  };
}

function securityOf(need: Need | undefined): Operation["security"] {
  if (need === undefined) return [];
  if (need.permission === "agent") return [{ agent: [] }];
  // Tokens belong to administrators.
  const takesToken = need.permission !== "user" && need.sessionOnly !== true;
  return [{ session: [] }, ...(takesToken ? [{ token: [] }] : [])];
}

function describeParameters(
  place: "path" | "query",
  schema: ObjectSchema | undefined,
  components: Components,
): readonly Parameter[] {
  return Object.entries(schema?.entries ?? {}).map(([name, entry]) => {
    const { description, ...converted } = convertSchema(entry, "input", components);
    // The validator's fallback is text, as all of a query is.
    const isNumber = converted.type === "integer" && typeof converted.default === "string";
    return {
      name,
      in: place,
      required: place === "path" || entry.type !== "optional",
      ...(description === undefined ? {} : { description }),
      schema: isNumber ? { ...converted, default: Number(converted.default) } : converted,
    };
  });
}

function describeResponses(
  method: string,
  route: Route,
  components: Components,
): Record<string, ResponseObject | Reference> {
  const successes = [String(route.status ?? 200), ...(route.mayWait === true ? ["202"] : [])];
  const refusals: Readonly<Record<string, string | true>> = route.refusals ?? {};
  const described: Record<string, ResponseObject | Reference> = {};
  for (const status of [
    ...new Set([...successes, ...Object.keys(refusals), ...impliedFailures(method, route)]),
  ].sort()) {
    if (isFailure(status)) described[status] = describeFailure(status, refusals[status]);
    else described[status] = describeSuccess(route, status, components);
  }
  return described;
}

/** The failures that come from guards, limits, the origin check and the reading of parameters and bodies, not of the route itself. */
function impliedFailures(method: string, route: Route): readonly string[] {
  const { who } = route;
  const isPublic = who.permission === "public";
  return [
    // A token beside a cookie is 400, and too many wrong ones are 429.
    ...(isPublic && !readsInput(route) ? [] : ["400"]),
    ...(isPublic ? [] : ["401"]),
    ...(isPublic && who.limit === undefined ? [] : ["429"]),
    ...(who.permission === "admin" || who.permission === "user" || method !== "GET" ? ["403"] : []),
    "408",
    "413",
    "500",
  ];
}

function isFailure(status: string): status is `${keyof typeof FAILURES}` {
  return status in FAILURES;
}

function describeFailure(status: `${keyof typeof FAILURES}`, meaning: string | true = true): Reference {
  const $ref = `#/components/responses/${FAILURES[status].name}`;
  return meaning === true ? { $ref } : { $ref, description: meaning };
}

function describeSuccess(
  { answer, isBare, success, alsoAs = [] }: Route,
  status: string,
  components: Components,
): ResponseObject {
  const schema = answer === undefined || isBare === true ? answer : data(answer);
  const others = Object.fromEntries(alsoAs.map((type) => [type, { schema: { type: "string" } }]));
  return {
    description: status === "201" ? "Created" : "Done",
    ...(schema === undefined
      ? {}
      : { content: { ...jsonContent(convertSchema(schema, "output", components), components), ...others } }),
    ...success,
    ...(status === "202" ? { description: "It waits for somebody's decision" } : {}),
    headers: { ...REQUEST_ID, ...success?.headers },
  };
}

function describeFailures(components: Components): Record<string, ResponseObject> {
  const schema = convertSchema(Failure, "output", components);
  const entries = Object.entries(FAILURES).map(([status, { name, meaning, example }]) => {
    const retry = status === "429" ? { "Retry-After": { $ref: "#/components/headers/Retry-After" } } : {};
    const content = { "application/json": { schema, example: { error: example } } };
    return [name, { description: meaning, headers: { ...REQUEST_ID, ...UAM_ERROR, ...retry }, content }] as const;
  });
  return Object.fromEntries(entries);
}

function jsonContent(schema: JsonSchema, components: Components): Content {
  const example = exampleOf(schema, components);
  return { "application/json": { schema, ...(example === undefined ? {} : { example }) } };
}

/** A file is no JSON, so no schema that checks it says what it is. */
const CSV: Content = {
  "text/csv": { schema: { type: "string" }, example: "username,email\r\nalice,alice@example.org\r\n" },
};

/** How the body of a request comes. */
function contentOf(body: v.GenericSchema, bodyAs: Route["bodyAs"], components: Components): Content {
  if (bodyAs === "csv") return CSV;
  const content = jsonContent(convertSchema(body, "input", components), components);
  return bodyAs === "form" ? asForm(content) : content;
}

function asForm(content: Content): Content {
  return Object.fromEntries(Object.values(content).map((form) => ["application/x-www-form-urlencoded", form]));
}

function tagOf(path: string): keyof typeof TAGS {
  const first = path.split("/")[1] ?? "";
  return first in TAGS ? (first as keyof typeof TAGS) : "service";
}

/** E.g. `postUsersIdDisable`, for a route that has no better name. */
function operationIdOf(method: string, path: string): string {
  const words = path.match(/\w+/g) ?? [];
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}
