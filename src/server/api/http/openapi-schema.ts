/** The validators' schemas as JSON Schema: converted, named ones shared as components, and with an example for each. */

import { type ConversionConfig, toJsonSchema } from "@valibot/to-json-schema";
import type * as v from "valibot";

/** A JSON Schema of the 2020-12 draft, as far as it is used here. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly title?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
  readonly description?: string;
}

/** The named schemas of a document, by name. */
export type Components = Record<string, JsonSchema>;

const COMPONENT = "#/components/schemas/";
const CONFIG = {
  target: "draft-2020-12",
  // Rules that JSON Schema cannot express are left out; by default the whole schema would be lost.
  errorMode: "ignore",
  // Metadata with a type stands for what it follows: a query's number is text to the validator and a number to a client.
  overrideAction: ({ valibotAction }) => {
    const metadata = "metadata" in valibotAction ? valibotAction.metadata : undefined;
    return isRecord(metadata) && "type" in metadata ? metadata : undefined;
  },
  overrideSchema: ({ valibotSchema, jsonSchema }) =>
    valibotSchema.type === "loose_object" ? { ...jsonSchema, additionalProperties: true } : undefined,
} as const satisfies ConversionConfig;

/**
 * The JSON Schema of what a validator accepts (`input`) or returns (`output`). Schemas with a title are put into `components` and
 * referred to. Throws if two different ones have the same title.
 */
export function convertSchema(
  schema: v.GenericSchema,
  direction: "input" | "output",
  components: Components,
): JsonSchema {
  const { $schema: _, ...converted } = toJsonSchema(schema, { ...CONFIG, typeMode: direction });
  return share(converted as JsonSchema, components);
}

/** A value the schema accepts, made of the examples, constants and defaults in it; undefined where a part has none. */
export function exampleOf(schema: JsonSchema, components: Components): unknown {
  if (schema.$ref !== undefined) return exampleOf(components[schema.$ref.slice(COMPONENT.length)] ?? {}, components);
  if (schema.examples !== undefined) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  // The last of several is null where there is one: most such fields are empty.
  if (schema.anyOf !== undefined) return exampleOf(schema.anyOf.at(-1) ?? {}, components);
  if (schema.type === "null") return null;
  if (schema.type === "array") return exampleItems(exampleOf(schema.items ?? {}, components));
  if (schema.type === "object") return exampleObject(schema, components);
  return schema.default;
}

function exampleItems(item: unknown): unknown {
  return item === undefined ? undefined : [item];
}

function exampleObject(schema: JsonSchema, components: Components): unknown {
  const entries: [string, unknown][] = [];
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const value = exampleOf(property, components);
    if (value !== undefined) entries.push([name, value]);
    else if (schema.required?.includes(name)) return undefined;
  }
  return Object.fromEntries(entries);
}

/** Walks a schema, never its values, from the inside out. */
function share(schema: JsonSchema, components: Components): JsonSchema {
  const inner = {
    ...schema,
    ...(schema.properties === undefined ? {} : { properties: mapValues(schema.properties, components) }),
    ...(schema.items === undefined ? {} : { items: share(schema.items, components) }),
    ...(schema.anyOf === undefined ? {} : { anyOf: schema.anyOf.map((option) => share(option, components)) }),
  };
  const { title } = inner;
  if (title === undefined) return inner;
  const known = components[title];
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(inner)) {
    throw new Error(`Two different schemas have the title ${title}`);
  }
  components[title] = inner;
  return { $ref: COMPONENT + title };
}

function mapValues(schemas: Readonly<Record<string, JsonSchema>>, components: Components): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, share(schema, components)]));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
