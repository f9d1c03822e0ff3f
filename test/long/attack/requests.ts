/** Requests to every operation of the OpenAPI document, from values that fit it to values of any sort. */

import fc from "fast-check";
import { apiDocument } from "../../support/openapi.ts";

/** One request; `body` is text as it is sent, or undefined for none. */
export interface Attempt {
  readonly method: string;
  /** Below the API's root, with the query. */
  readonly path: string;
  readonly body: string | undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: a JSON schema is what it is
type Schema = any;

/** Ends the very session that tries; every other operation may do its worst. */
const ENDING = new Set(["POST /auth/logout"]);

/** `METHOD /template` of each operation. */
export const OPERATIONS: readonly string[] = Object.entries(apiDocument.paths).flatMap(([path, item]) =>
  Object.keys(item ?? {})
    .map((method) => `${method.toUpperCase()} ${path}`)
    .filter((operation) => !ENDING.has(operation)),
);

const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }),
  fc.string({ minLength: 300, maxLength: 5000 }),
  fc.constantFrom(
    "\0",
    "a\0b",
    "\ud800",
    "__proto__",
    "constructor",
    "null",
    "NaN",
    "1e999",
    "-0",
    "0x10",
    "'",
    "';--",
    "%00",
  ),
  fc.constantFrom(
    "../..",
    "..%2f",
    "<script>",
    "{{7*7}}",
    "$" + "{7*7}",
    "\r\nSet-Cookie: a=b",
    "=1+1",
    "\u202e",
    "ext_root",
  ),
  fc.constantFrom("9007199254740993", "2147483648", "99999999999999999999", "-1", "1.5", "true", "[]", "{}"),
);

/** Ids that there may be. */
const SMALL = fc.integer({ min: 1, max: 40 });

/** A request to the operation. Half of all values fit the document, so that what is behind the checks is reached, too. */
export function attemptOn(operation: string): fc.Arbitrary<Attempt> {
  const [method = "", template = ""] = operation.split(" ");
  const documented: Schema = apiDocument.paths[template]?.[method.toLowerCase()] ?? {};
  const { parameters = [], requestBody } = documented;
  const anyOf = (parameter: Schema) => fc.oneof(textOf(parameter.schema), anyText);
  const inPath = parameters.filter((it: Schema) => it.in === "path");
  const inQuery = parameters.filter((it: Schema) => it.in === "query");
  const path = fc
    .tuple(
      ...inPath.map((it: Schema) => fc.oneof({ weight: 3, arbitrary: SMALL }, { weight: 1, arbitrary: anyOf(it) })),
    )
    .map((values) =>
      inPath.reduce(
        (text: string, { name }: Schema, index: number) => text.replace(`{${name}}`, encode(String(values[index]))),
        template,
      ),
    );
  const query = fc
    .record(Object.fromEntries(inQuery.map((it: Schema) => [it.name, anyOf(it)])), { requiredKeys: [] })
    .map((given) =>
      Object.entries(given)
        .map(([name, value]) => `${name}=${encode(String(value))}`)
        .join("&"),
    );
  const { schema, example } = requestBody?.content?.["application/json"] ?? {};
  const json =
    schema === undefined
      ? fc.jsonValue()
      : fc.oneof(
          ...(example === undefined ? [] : [{ weight: 4, arbitrary: nearly(example, resolve(schema)) }]),
          { weight: 4, arbitrary: valueFor(schema) },
          { weight: 1, arbitrary: fc.jsonValue() },
        );
  const body = fc.oneof(
    { weight: schema === undefined ? 1 : 12, arbitrary: json.map((value) => JSON.stringify(value) ?? "null") },
    {
      weight: 1,
      arbitrary: fc.constantFrom("", "{", "[".repeat(5000), `{"a":`.repeat(2000), '{"__proto__":{"role":"owner"}}'),
    },
    { weight: schema === undefined ? 12 : 1, arbitrary: fc.constant(undefined) },
  );
  return fc.record({ path, query, body }).map((it) => ({
    method,
    path: it.query === "" ? it.path : `${it.path}?${it.query}`,
    body: method === "GET" ? undefined : it.body,
  }));
}

/** The document's own example, of which some fields have other values. */
function nearly(example: object, schema: Schema): fc.Arbitrary<unknown> {
  const fields = Object.entries(example).map(([name, value]) => {
    const other = valueFor(schema.properties?.[name] ?? {});
    return [name, fc.oneof({ weight: 3, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: other })];
  });
  return fc.record(Object.fromEntries(fields));
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function textOf(schema: Schema): fc.Arbitrary<string> {
  return valueFor(schema).map((value) => (typeof value === "string" ? value : (JSON.stringify(value) ?? "")));
}

/** Values of the schema mostly, with fields left out, added, or of another kind. */
function valueFor(given: Schema): fc.Arbitrary<unknown> {
  const schema = resolve(given);
  const fitting = fittingFor(schema);
  return fc.oneof(
    { weight: 6, arbitrary: fitting },
    { weight: 1, arbitrary: anyText },
    { weight: 1, arbitrary: fc.jsonValue() },
  );
}

function fittingFor(schema: Schema): fc.Arbitrary<unknown> {
  const choices = schema.enum ?? schema.examples;
  const examples = choices === undefined ? [] : [fc.constantFrom(...choices)];
  const options: readonly Schema[] = schema.anyOf ?? schema.oneOf ?? [];
  if (options.length > 0) return fc.oneof(...examples, ...options.map(valueFor));
  switch (schema.type) {
    case "integer":
    case "number":
      return fc.oneof(
        ...examples,
        fc.integer({ min: schema.minimum ?? -5, max: Math.min(schema.maximum ?? 50, 2 ** 31 - 1) }),
      );
    case "boolean":
      return fc.boolean();
    case "array":
      return fc.array(valueFor(schema.items ?? {}), { maxLength: 5 });
    case "object": {
      const fields = Object.entries(schema.properties ?? {}).map(([name, it]) => [name, valueFor(it)]);
      const needed: readonly string[] = schema.required ?? [];
      const record = fc.record(Object.fromEntries(fields), { requiredKeys: [] });
      const whole = fc.record(Object.fromEntries(fields), {
        requiredKeys: needed.filter((name) => fields.some(([it]) => it === name)) as never[],
      });
      return fc.oneof(
        { weight: 4, arbitrary: whole },
        { weight: 1, arbitrary: record },
        { weight: 1, arbitrary: withExtra(whole) },
      );
    }
    default:
      return examples.length > 0 ? fc.oneof(...examples, anyText) : fc.oneof(fc.string({ maxLength: 40 }), anyText);
  }
}

function withExtra(record: fc.Arbitrary<Record<string, unknown>>): fc.Arbitrary<unknown> {
  return fc.tuple(record, anyText, fc.jsonValue()).map(([value, name, extra]) => ({ ...value, [name]: extra }));
}

function resolve(schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const name = String(schema.$ref).split("/").at(-1) ?? "";
  return resolve((apiDocument.components.schemas as Schema)[name]);
}
