/** Bodies and queries that are made to cost whoever checks them as much as their size allows, for any route of the document. */

import { type Components, exampleOf, type JsonSchema } from "../../src/server/api/http/openapi-schema.ts";

/** What to call it, and the JSON itself. */
export type Hostile = readonly [name: string, json: string];

/** Texts of that many bytes in JSON, for whatever trims, folds, normalises, splits, matches or decodes them. */
export function hostileTexts(bytes: number): readonly Hostile[] {
  const half = Math.floor(bytes / 2);
  const filled = (unit: string, size = bytes) => unit.repeat(Math.floor(size / Buffer.byteLength(unit)));
  const texts = {
    letters: filled("a"),
    digits: filled("9"),
    blanks: `${filled(" ", bytes - 2)}x`,
    "blanks within": `x${filled(" ", bytes - 4)}x`,
    dots: filled("a."),
    dashes: filled("a-"),
    signs: filled("@"),
    durations: filled("1d"),
    slashes: filled("/%2e"),
    colons: filled("0:"),
    brackets: filled("["),
    base64: filled("AAAA"),
    pems: filled("-----BEGIN A-----\\n"),
    key: `ssh-rsa ${filled("AAAA", bytes - 8)}`,
    "key with blanks": `ssh-ed25519${filled(" ", bytes - 12)}`,
    lines: filled("\\n"),
    "marks out of order": `a${filled("\u0315", half)}${filled("\u0316", half - 8)}`,
    marks: `a${filled("\u0301", bytes - 8)}`,
    "hangul in parts": filled("\u1100\u1161\u11a8"),
    ligatures: filled("\ufdfa"),
    invisible: filled("\u200b"),
    surrogates: filled("\\ud800"),
    nul: filled("\\u0000"),
    prefix: `0x${filled("f", bytes - 2)}`,
  };
  return Object.entries(texts).map(([name, text]) => [`text of ${name}`, `"${text}"`]);
}

/** Values that are no text, each of that many bytes. */
function hostileValues(bytes: number): readonly Hostile[] {
  const list = (unit: string) => `[${filledWith(unit, bytes - 2)}]`;
  const named = (unit: (index: number) => string) => `{${counted(unit, bytes - 2)}}`;
  return [
    ["long number", "9".repeat(bytes)],
    ["long fraction", `0.${"1".repeat(bytes - 2)}`],
    ["list of objects", list("{}")],
    ["list of lists", list("[]")],
    ["list of numbers", list("1")],
    ["list of texts", list('""')],
    ["list of nulls", list("null")],
    ["list of objects, each of another shape", `[${counted((index) => `{"k${index.toString(36)}":0}`, bytes - 2)}]`],
    ["list of objects of many names", list(`{${counted((index) => `"${index}":0`, 2000)}}`)],
    ["list of lists to the limit of depth", list("[[[[[[]]]]]]")],
    ["object of many names", named((index) => `"k${index.toString(36)}":0`)],
    ["object of numbered names", named((index) => `"${index}":0`)],
    ["object with a long name", `{"${"k".repeat(bytes - 6)}":0}`],
    ["brackets", "[".repeat(bytes)],
    ["nested lists", `${"[".repeat(bytes / 2)}${"]".repeat(bytes / 2)}`],
    ["nested objects", `${'{"a":'.repeat(bytes / 6)}0${"}".repeat(bytes / 6)}`],
  ];
}

/** Bodies of about that many bytes for a route that takes this one: each part of it is blown up, beside whatever else is as it should be. */
export function* hostileBodies(schema: JsonSchema, components: Components, bytes: number): Generator<Hostile> {
  yield* hostileValues(bytes);
  const example = exampleOf(schema, components);
  const known = Object.keys(resolve(schema, components).properties ?? {});
  for (const [name, body] of nearlyKnown(known, bytes)) yield [name, body];
  for (const { path, schema: part } of partsOf(schema, components)) {
    const frame = JSON.stringify(replaced(example, path, MARK));
    const room = bytes - frame.length;
    const [first = ["", ""], ...texts] = hostileTexts(room);
    const values = [...hostileValues(room), first, ...(part.type === "string" ? texts : [])];
    const items = exampleOf(part.items ?? {}, components);
    if (items !== undefined) {
      const good = JSON.stringify(items);
      values.push(["list of what belongs there", `[${filledWith(good, room - 2)}]`]);
      values.push(["list whose last is wrong", `[${filledWith(good, room - 8)},{}]`]);
    }
    for (const [name, value] of values) yield [`${path.join(".")}: ${name}`, frame.replace(`"${MARK}"`, () => value)];
  }
}

/** The same of a form or a query, whose fields have these names. */
export function hostileForms(known: readonly string[], bytes: number): readonly Hostile[] {
  const pairs = (name: (index: number) => string) =>
    Array.from({ length: bytes / 6 }, (_, index) => `${name(index)}=${index}`)
      .join("&")
      .slice(0, bytes);
  return [
    ["many names", pairs((index) => `k${index.toString(36)}`)],
    ["no names", "&=".repeat(bytes / 2)],
    ["a long name", `${"k".repeat(bytes)}=1`],
    ["escapes", "%00".repeat(bytes / 3)],
    ["brackets", "a[]=&".repeat(bytes / 5)],
    ...known.flatMap((name): readonly Hostile[] => [
      [`${name} often`, pairs(() => name)],
      [`${name} nearly`, pairs((index) => `${name}${index % 7}`)],
      ...hostileTexts(Math.floor(bytes / 3)).map(
        ([kind, text]) =>
          [`${name}: ${kind}`, `${name}=${encodeURIComponent(JSON.parse(text).toWellFormed())}`] as const,
      ),
    ]),
  ];
}

/** Names that look like known ones, or nearly, as often as there is room. */
function* nearlyKnown(known: readonly string[], bytes: number): Generator<Hostile> {
  for (const name of known.slice(0, 3)) {
    yield [`names like ${name}`, `{${counted((index) => `"${name}${index % 7}${index.toString(36)}":0`, bytes - 2)}}`];
    yield [`${name} again and again`, `{${filledWith(`"${name}":0`, bytes - 2)}}`];
  }
  const shapes = known.map((name) => `"${name}":{}`).join(",");
  yield ["every field of another kind", `{${shapes === "" ? "" : `${shapes},`}"x":[${filledWith("{}", bytes / 2)}]}`];
}

const MARK = "the place that is blown up";

interface Part {
  readonly path: readonly (string | number)[];
  readonly schema: JsonSchema;
}

/** Every field that the schema knows, at whatever depth, but not the schema itself. */
function* partsOf(schema: JsonSchema, components: Components, path: Part["path"] = []): Generator<Part> {
  const { properties, items, anyOf, ...rest } = resolve(schema, components);
  if (path.length > 0) yield { path, schema: { ...rest, ...(items === undefined ? {} : { items }) } };
  for (const option of anyOf ?? []) yield* [...partsOf(option, components, path)].filter((part) => part.path !== path);
  for (const [name, property] of Object.entries(properties ?? {}))
    yield* partsOf(property, components, [...path, name]);
  if (items !== undefined) yield* partsOf(items, components, [...path, 0]);
}

function resolve(schema: JsonSchema, components: Components): JsonSchema {
  return schema.$ref === undefined ? schema : (components[schema.$ref.split("/").at(-1) ?? ""] ?? {});
}

function replaced(value: unknown, [first, ...rest]: Part["path"], by: unknown): unknown {
  if (first === undefined) return by;
  const inner = (value as Record<string | number, unknown> | undefined)?.[first];
  if (typeof first === "number") return [replaced(inner, rest, by)];
  return { ...(typeof value === "object" ? value : {}), [first]: replaced(inner, rest, by) };
}

function filledWith(unit: string, bytes: number): string {
  return Array(Math.max(1, Math.floor(bytes / (unit.length + 1))))
    .fill(unit)
    .join(",");
}

function counted(unit: (index: number) => string, bytes: number): string {
  const units: string[] = [];
  for (let length = 0; ; ) {
    const next = unit(units.length);
    length += next.length + 1;
    if (length > bytes) return units.join(",");
    units.push(next);
  }
}
