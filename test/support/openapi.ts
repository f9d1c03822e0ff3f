/** Checks every answer that a test gets against the OpenAPI document, so that the document stays true. */

import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { readConfig } from "../../src/config/config.ts";
import { API_ROOT, describeApi } from "../../src/server/api/app.ts";
import type { Operation, ResponseObject } from "../../src/server/api/http/openapi.ts";
import { REASONS } from "../../src/shared/product/reasons.ts";

export const apiDocument = describeApi({
  ...readConfig({ UAM_DATA_DIR: "/nonexistent" }, { isRoot: false, currentDirectory: "/" }),
  version: "0.0.0-test",
  runtime: "test 1",
});

/** One request and what came back; `sent` is the body before it was made JSON, `text` the body that came. */
export interface Exchange {
  readonly request: Pick<Request, "method" | "url" | "headers">;
  readonly sent?: unknown;
  readonly response: Pick<Response, "status" | "headers">;
  readonly text: string;
}

/** Fields that the document does not name are faults in an answer, and ignored in a request. */
const answers = createValidator(closeObjects(apiDocument));
const requests = createValidator(apiDocument).addFormat("date-time", rfc3339());
const compiled = new Map<string, ValidateFunction>();

/** Throws unless the document allows this answer to this request. */
export function checkAnswer(exchange: Exchange): void {
  const { request, response } = exchange;
  checkReason(response, request.url);
  if (request.url.includes("#") && response.status === 400) return;
  const path = new URL(request.url).pathname.slice(API_ROOT.length).replace(/(.)\/$/, "$1");
  const template = findTemplate(path);
  const method = request.method === "HEAD" ? "get" : request.method.toLowerCase();
  const operation = template === undefined ? undefined : apiDocument.paths[template]?.[method];
  const where = `${request.method} ${path}: ${response.status}`;
  if (template === undefined || operation === undefined) {
    // Refused before the route is looked up: another origin (403). OPTIONS may be a preflight (204).
    const allowed = [template === undefined ? 404 : 405, 403, ...(method === "options" ? [204] : [])];
    if (!allowed.includes(response.status)) throw new Error(`${where} for what is not a route`);
    return;
  }
  requireDeclared(exchange, operation, where);
  const place = `/paths/${escapePointer(template)}/${method}`;
  checkResponse(exchange, operation, { where, place });
  if (response.status < 300) checkRequest(exchange, operation, { where, place });
}

/** Every error names a documented reason, and nothing else names one. */
function checkReason({ status, headers }: Exchange["response"], where: string): void {
  const reason = headers.get("uam-error");
  if (status < 400 && reason !== null) throw new Error(`${where} is no error, and has the reason ${reason}`);
  if (status >= 400 && !Object.hasOwn(REASONS, reason ?? "")) {
    throw new Error(`${where} has the reason ${reason}, which is not documented`);
  }
}

/** The route's entry in the contract says which reasons its refusals have. */
function requireDeclared({ response }: Exchange, operation: Operation, where: string): void {
  const reason = response.headers.get("uam-error");
  const declared: readonly string[] = operation["x-reasons"];
  if (reason !== null && !declared.includes(reason)) {
    throw new Error(`${where} has the reason ${reason}, which is not among those of ${operation.operationId}`);
  }
}

interface Spot {
  /** For messages. */
  readonly where: string;
  /** JSON pointer of the operation. */
  readonly place: string;
}

function checkResponse({ request, response, text }: Exchange, operation: Operation, { where, place }: Spot): void {
  const found = operation.responses[response.status];
  if (found === undefined) throw new Error(`${where} is not documented for ${operation.operationId}`);
  const pointer = "$ref" in found ? found.$ref.slice(1) : `${place}/responses/${response.status}`;
  const documented = "$ref" in found ? resolveResponse(found.$ref) : found;
  for (const header of Object.keys(documented.headers ?? {})) {
    if (!response.headers.has(header)) throw new Error(`${where} lacks the documented header ${header}`);
  }
  if (request.method === "HEAD") return;
  const type = (response.headers.get("content-type") ?? "").split(";")[0] ?? "";
  if (documented.content === undefined) {
    if (text !== "") throw new Error(`${where} has a body, and none is documented`);
  } else if (documented.content[type] === undefined) {
    throw new Error(`${where} is ${type}, documented is ${Object.keys(documented.content).join(", ")}`);
  } else if (type === "application/json") {
    const schema = `${pointer}/content/${escapePointer(type)}/schema`;
    requireValid(answers, schema, JSON.parse(text), where);
  }
}

/** An accepted request must be one that the document accepts, from a caller that it allows. */
function checkRequest({ request, sent }: Exchange, operation: Operation, { where, place }: Spot): void {
  const has = { session: request.headers.has("cookie"), token: request.headers.has("authorization") };
  const isAllowed = operation.security.some(
    (scheme) => ("session" in scheme && has.session) || ("token" in scheme && has.token),
  );
  if (operation.security.length > 0 && !isAllowed) throw new Error(`${where} without a session`);
  if (
    operation.requestBody?.required === true ||
    (operation.requestBody !== undefined && sent !== undefined && sent !== "")
  ) {
    const type = Object.keys(operation.requestBody?.content ?? {})[0] ?? "";
    const body = typeof sent === "string" && type !== "text/csv" ? JSON.parse(sent) : sent;
    requireValid(requests, `${place}/requestBody/content/${escapePointer(type)}/schema`, body, `${where}, request`);
  }
  const query = new URL(request.url).searchParams;
  for (const [index, parameter] of (operation.parameters ?? []).entries()) {
    // An empty parameter counts as absent.
    const text = parameter.in === "query" ? query.getAll(parameter.name).find((given) => given !== "") : undefined;
    if (text === undefined) continue;
    const value = parameter.schema.type === "integer" ? Number(text) : text;
    requireValid(requests, `${place}/parameters/${index}/schema`, value, `${where}, ${parameter.name}`);
  }
}

function requireValid(ajv: Ajv2020, pointer: string, value: unknown, where: string): void {
  const key = `${ajv === answers ? "answer" : "request"} ${pointer}`;
  const validate = compiled.get(key) ?? ajv.compile({ $ref: `document#${encodeURI(pointer)}` });
  compiled.set(key, validate);
  if (!validate(value)) throw new Error(`${where} is not as documented: ${ajv.errorsText(validate.errors)}`);
}

function createValidator(document: object): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addFormat("email", mailbox());
  ajv.addSchema(document, "document");
  return ajv;
}

/** A mailbox of RFC 5321, section 4.1.2, unquoted and at a domain: one label is enough, where the package asks for two. */
function mailbox(): RegExp {
  const atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
  const label = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?";
  return new RegExp(`^${atom}(?:\\.${atom})*@${label}(?:\\.${label})*$`);
}

/** The grammar of RFC 3339, section 5.6, as the format is defined; the package takes a leap second at the end of a day only. */
function rfc3339(): RegExp {
  const date = "\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])";
  const time = "([01]\\d|2[0-3]):[0-5]\\d";
  return new RegExp(`^${date}[Tt]${time}:([0-5]\\d|60)(\\.\\d+)?([Zz]|[+-]${time})$`);
}

function resolveResponse(reference: string): ResponseObject {
  const documented = apiDocument.components.responses[reference.split("/").at(-1) ?? ""];
  if (documented === undefined) throw new Error(`${reference} is not in the document`);
  return documented;
}

/** The template of a path; one without parameters comes first. */
function findTemplate(path: string): string | undefined {
  if (path in apiDocument.paths) return path;
  return Object.keys(apiDocument.paths).find((template) =>
    new RegExp(`^${template.replace(/[.]/g, "\\.").replace(/\{\w+\}/g, "[^/]+")}$`).test(path),
  );
}

function closeObjects<T>(part: T): T {
  if (Array.isArray(part)) return part.map(closeObjects) as T;
  if (typeof part !== "object" || part === null) return part;
  const inner = Object.fromEntries(Object.entries(part).map(([key, value]) => [key, closeObjects(value)]));
  const isOpen = inner.type === "object" && !("additionalProperties" in inner);
  return (isOpen ? { ...inner, additionalProperties: false } : inner) as T;
}

function escapePointer(text: string): string {
  return text.replaceAll("~", "~0").replaceAll("/", "~1");
}
