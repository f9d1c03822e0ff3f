/** The generated parts of deploy/client: every operation of the interface that programs call, with its types, from the OpenAPI document. */

import { readConfig } from "../config/config.ts";
import { describeApi } from "../server/api/app.ts";

const HEAD = "// Generated from the OpenAPI document by `bun run docs`.\n";

/** The parts of a JSON schema that have a meaning for types. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly "x-permission"?: string;
  readonly "x-reasons"?: readonly string[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

interface Routed {
  /** Such as "GET /users". */
  readonly route: string;
  readonly operation: Operation;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** The sender of a value: a service may answer with words that a client does not know yet, and a client may not send any. */
type From = "client" | "service";

/** By their paths in the project. */
export function clientFiles(): ReadonlyMap<string, string> {
  const config = readConfig({ UAM_DATA_DIR: "/nonexistent" }, { isRoot: false, currentDirectory: "/" });
  const document = describeApi({ ...config, version: "0", runtime: "" }) as unknown as Document;
  const all = Object.entries(document.paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
    )
    .filter(({ operation }) => isForPrograms(operation))
    .sort((one, other) => (one.operation.operationId < other.operation.operationId ? -1 : 1));
  const routes = all.map(({ path, method, operation }) => `  ${operation.operationId}: ["${method}", "${path}"],\n`);
  return new Map([
    ["deploy/client/routes.js", `${HEAD}\nexport const ROUTES = {\n${routes.join("")}};\n`],
    [
      "deploy/client/operations.d.ts",
      `${HEAD}\nexport interface Operations {\n${all.map(({ path, method, operation }) => typesOf({ route: `${method} ${path}`, operation }, document)).join("")}}\n`,
    ],
  ]);
}

/** Not agents', and not what leads a browser elsewhere. */
function isForPrograms({ "x-permission": permission, responses }: Operation): boolean {
  return permission !== "agent" && Object.keys(responses).some((status) => /^2/.test(status));
}

function typesOf({ route, operation: { operationId, summary, ...operation } }: Routed, document: Document): string {
  const inputs = (["path", "query"] as const).flatMap((place) => {
    const named = (operation.parameters ?? []).filter((each) => each.in === place);
    if (named.length === 0) return [];
    const fields = named.map(
      ({ name, required, schema }) => `${key(name)}${required ? "" : "?"}: ${typeOf(schema, "client", document)}`,
    );
    return [`${place}${named.some(({ required }) => required) ? "" : "?"}: { ${fields.join("; ")} }`];
  });
  const { requestBody } = operation;
  if (requestBody !== undefined) {
    const type = contentType(requestBody.content, "client", document);
    inputs.push(`body${requestBody.required === false ? "?" : ""}: ${type}`);
  }
  const [, success] = Object.entries(operation.responses).find(([status]) => /^2/.test(status)) ?? [];
  const reasons = (operation["x-reasons"] ?? []).map((reason) => JSON.stringify(reason));
  return `  /** ${summary}. */
  ${operationId}: {
    route: "${route}";
    input: { ${inputs.join("; ")} };
    answer: ${contentType(success?.content ?? {}, "service", document)};
    reason: ${reasons.join(" | ") || "never"};
  };
`;
}

/** Of an answer, what is in `data`. */
function contentType(content: Content, from: From, document: Document): string {
  const schema = content["application/json"]?.schema;
  if (schema === undefined) return Object.keys(content).length === 0 ? "undefined" : "string";
  return typeOf((from === "service" ? schema.properties?.data : undefined) ?? schema, from, document);
}

function typeOf(schema: Schema, from: From, document: Document): string {
  const of = (each: Schema) => typeOf(each, from, document);
  if (schema.$ref !== undefined) return of(document.components.schemas[schema.$ref.split("/").pop() ?? ""] ?? {});
  const words = schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
  if (words !== undefined) {
    const known = words.map((word) => JSON.stringify(word));
    const isOpen = from === "service" && words.some((word) => typeof word === "string");
    return [...known, ...(isOpen ? ["(string & {})"] : [])].join(" | ");
  }
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return [...new Set(choices.map(of))].join(" | ");
  const types = [schema.type ?? []].flat();
  return types.map((type) => typeNamed(type, schema, of)).join(" | ") || "unknown";
}

function typeNamed(
  type: string,
  { items = {}, properties, required = [], ...schema }: Schema,
  of: (each: Schema) => string,
): string {
  switch (type) {
    case "integer":
      return "number";
    case "array":
      return `(${of(items)})[]`;
    case "object": {
      if (properties === undefined) {
        const { additionalProperties: values } = schema;
        return `Record<string, ${typeof values === "object" ? of(values) : "unknown"}>`;
      }
      const fields = Object.entries(properties).map(
        ([name, each]) => `${key(name)}${required.includes(name) ? "" : "?"}: ${of(each)}`,
      );
      return `{ ${fields.join("; ")} }`;
    }
    default:
      return type;
  }
}

function key(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
}
