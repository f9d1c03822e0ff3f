/** The OpenAPI 3.1 document, made from the routes as registered: their guards, and the very schemas that validate. */

import type * as v from "valibot";
import type { Need, ObjectSchema, Who } from "../../contract/route.ts";
import { namedRoles, rolesFor } from "../../shared/roles.ts";
import type { AdminRole } from "../../shared/statuses.ts";
import { isBodyOptional, isForm, needOf } from "./elysia.ts";
import { type Components, convertSchema, exampleOf, type JsonSchema } from "./openapi-schema.ts";
import { AGENT, CONTACT, FAILURES, HEADERS, INFO, REQUEST_ID, TAGS, TOKEN, UAM_ERROR, WHO } from "./openapi-texts.ts";
import { accessOf, SESSION_COOKIE } from "./request.ts";
import { Failure } from "./schemas.ts";
import type { RegisteredRoute } from "./web.ts";

export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: Readonly<Record<string, unknown>>;
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Components;
    readonly responses: Readonly<Record<string, ResponseObject>>;
  } & Readonly<Record<string, unknown>>;
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly "x-permission"?: Need["permission"];
  /** Of an administrator's session, which roles may call it. */
  readonly "x-roles"?: readonly AdminRole[];
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

/** What a route says about itself; a response given here adds to, and wins over, what its schema says. */
interface RouteDetail {
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly responses?: Readonly<Record<string, Partial<ResponseObject>>>;
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

function describeRoute(route: RegisteredRoute, path: string, components: Components): Operation {
  const { body, query, params } = route.hooks;
  const detail = detailOf(route);
  const need = needOf(route.hooks);
  const permission = need?.permission ?? "public";
  const roles = need?.least === undefined ? undefined : rolesFor(need.least, accessOf(route.method));
  const who = roles === undefined ? WHO[permission] : `${WHO.admin.slice(0, -1)} with the role ${namedRoles(roles)}.`;
  const parameters = [
    ...describeParameters("path", params, components),
    ...describeParameters("query", query, components),
  ];
  return {
    operationId: detail.operationId ?? operationIdOf(route.method, path),
    tags: [tagOf(path)],
    ...(detail.summary === undefined ? {} : { summary: detail.summary }),
    description: detail.description === undefined ? who : `${detail.description}\n\n${who}`,
    // A cookie has no scopes (OpenAPI 3.1, Security Requirement Object): whose session it must be is stated beside it.
    security: securityOf(need),
    ...(permission === "public" ? {} : { "x-permission": permission }),
    ...(roles === undefined ? {} : { "x-roles": roles }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: !isBodyOptional(route.hooks),
            content: bodyContent(convertSchema(body, "input", components), components, isForm(route.hooks)),
          },
        }),
    responses: describeResponses(route, permission, components),
  };
}

function securityOf(need: Need | undefined): Operation["security"] {
  if (need === undefined) return [];
  if (need.permission === "agent") return [{ agent: [] }];
  return [{ session: [] }, ...(takesToken(need) ? [{ token: [] }] : [])];
}

/** Tokens belong to administrators. */
function takesToken(need: Need | undefined): boolean {
  return need !== undefined && need.permission !== "user" && need.sessionOnly !== true;
}

function detailOf({ hooks }: RegisteredRoute): RouteDetail {
  return (hooks.detail ?? {}) as RouteDetail;
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
  route: RegisteredRoute,
  permission: Who["permission"],
  components: Components,
): Record<string, ResponseObject | Reference> {
  const { response = {} } = route.hooks;
  const own = detailOf(route).responses ?? {};
  const statuses = new Set([
    ...Object.keys(response),
    ...Object.keys(own),
    ...impliedFailures(route.method, route.hooks, permission),
  ]);
  const described: Record<string, ResponseObject | Reference> = {};
  for (const status of [...statuses].sort()) {
    described[status] = isFailure(status)
      ? describeFailure(status, own[status]?.description)
      : describeSuccess(status, { schema: response[status], own: own[status], components });
  }
  return described;
}

/** The failures that come from guards, the origin check and the reading of parameters and bodies, not of the route itself. */
function impliedFailures(
  method: string,
  hooks: RegisteredRoute["hooks"],
  permission: Who["permission"],
): readonly string[] {
  const reads = hooks.body ?? hooks.query ?? hooks.params;
  return [
    // A token beside a cookie is 400, and too many wrong ones are 429.
    ...(reads === undefined && permission === "public" ? [] : ["400"]),
    ...(permission === "public" ? [] : ["401", "429"]),
    ...(permission === "admin" || permission === "user" || method !== "GET" ? ["403"] : []),
    "408",
    "413",
    "500",
  ];
}

function isFailure(status: string): status is `${keyof typeof FAILURES}` {
  return status in FAILURES;
}

function describeFailure(status: `${keyof typeof FAILURES}`, description: string | undefined): Reference {
  const $ref = `#/components/responses/${FAILURES[status].name}`;
  return description === undefined ? { $ref } : { $ref, description };
}

interface Success {
  readonly schema: v.GenericSchema | undefined;
  readonly own: Partial<ResponseObject> | undefined;
  readonly components: Components;
}

function describeSuccess(status: string, { schema, own, components }: Success): ResponseObject {
  return {
    description: status === "201" ? "Created" : "Done",
    ...(schema === undefined ? {} : { content: jsonContent(convertSchema(schema, "output", components), components) }),
    ...own,
    headers: { ...REQUEST_ID, ...own?.headers },
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

function bodyContent(schema: JsonSchema, components: Components, asForm: boolean): Content {
  const content = jsonContent(schema, components);
  return asForm ? { "application/x-www-form-urlencoded": Object.values(content)[0] ?? { schema } } : content;
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
