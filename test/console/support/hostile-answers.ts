/**
 * Puts hostile text into every answer of the service, wherever the OpenAPI document lets a text be anything: what an applicant, a user,
 * an administrator, an agent, a provider or a receiver could have written, whatever the service checks besides.
 */

import type { Page } from "playwright-core";
import { apiDocument } from "../../support/openapi.ts";

/** What to put in. Each script sets `fired`, each element has the attribute `data-hostile`. */
const MARKUP = `"'><img src=x data-hostile onerror="globalThis.fired=1"><script data-hostile>fired=1</script></textarea></title><svg data-hostile onload=fired=1>{{fired=1}}\${fired=1}`;
const LINK = "javascript:globalThis.fired=1//https://evil.example/";
const REORDERING = "\u202e\u2067gnp.exe \u2069\u2069\u2069\u202d\u0645\u0647\u0646\u062f\u0633 (admin)\u202e end";
const MARKS = `\u200b\u200d\u2060\ufeffZ${"\u0301\u0489".repeat(300)}a\u0007\u001b[31m\u2028\u2029${"\u200b".repeat(50)}\ud83d\udc68\u200d\ud83d\udc69\u200d\ud83d\udc67`;
export const HOSTILE_TEXTS = {
  "that would run or reorder": `${LINK}${REORDERING}${MARKUP}`,
  "without a blank or a shape": `${MARKS}${"Wg".repeat(5000)}`,
} as const;

type Replace = (text: string) => string;

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
}

/** What nobody writes: it is made by the service, and read by the browser's program. */
const MADE =
  /^(?:salt|target|captcha_id|prefix|challenge|rpId|rp|ticket|picture|uri|excludeCredentials|allowCredentials)$/;

/** From now on every answer to the page has these texts behind the first characters of its own. */
export async function poison(page: Page, texts: readonly string[]): Promise<void> {
  // The same text becomes the same: pages find things by their names. An address is replaced wholly.
  const replace = (text: string): string => {
    const number = [...text].reduce((sum, character) => sum + (character.codePointAt(0) ?? 0), 0);
    const hostile = texts[number % texts.length] ?? "";
    return /^[a-z]+:/.test(text) ? hostile : `${text.slice(0, 20)} ${hostile}`;
  };
  await page.route("**/api/v1/**", async (route) => {
    const response = await route.fetch();
    const type = response.headers()["content-type"] ?? "";
    if (!type.includes("application/json")) return await route.fulfill({ response });
    const path = new URL(route.request().url()).pathname.slice("/api/v1".length);
    const json: unknown = await response.json();
    const schema = schemaOf(route.request().method(), path, response.status());
    await route.fulfill({ response, json: schema === undefined ? json : poisoned(json, schema, replace) });
  });
}

function schemaOf(method: string, path: string, status: number): Schema | undefined {
  const paths = apiDocument.paths as unknown as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  const segments = path.split("/");
  const template = Object.keys(paths)
    .toSorted((one, other) => Number(one.includes("{")) - Number(other.includes("{")))
    .find((each) => {
      const wanted = each.split("/");
      return (
        wanted.length === segments.length && wanted.every((part, at) => part.startsWith("{") || part === segments[at])
      );
    });
  const operation = paths[template ?? ""]?.[method.toLowerCase()] as
    | { readonly responses: Readonly<Record<string, unknown>> }
    | undefined;
  const answer = resolve(operation?.responses[String(status)] as Schema) as unknown as
    | { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }
    | undefined;
  return answer?.content?.["application/json"]?.schema;
}

function resolve(schema: Schema | undefined): Schema | undefined {
  if (schema?.$ref === undefined) return schema;
  const [, ...steps] = schema.$ref.split("/");
  return resolve(steps.reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], apiDocument) as Schema);
}

/** The alternatives of a schema, the parts of them included. */
function alternatives(schema: Schema | undefined): readonly Schema[] {
  const known = resolve(schema);
  if (known === undefined) return [];
  return [known, ...[known.anyOf, known.oneOf, known.allOf].flatMap((some) => (some ?? []).flatMap(alternatives))];
}

function poisoned(value: unknown, schema: Schema, replace: Replace): unknown {
  const all = alternatives(schema);
  if (typeof value === "string") return all.some((one) => isFree(one)) ? text(value, replace) : value;
  if (Array.isArray(value)) {
    const items = all.find((one) => one.items !== undefined)?.items;
    return items === undefined ? value : value.map((each) => poisoned(each, items, replace));
  }
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => {
      const named = all
        .map((one) => one.properties?.[key] ?? one.additionalProperties)
        .find((one) => typeof one === "object");
      return [key, MADE.test(key) || typeof named !== "object" ? each : poisoned(each, named, replace)];
    }),
  );
}

function isFree({ type, enum: values, const: only, format, pattern }: Schema): boolean {
  return [type].flat().includes("string") && values === undefined && only === undefined && !format && !pattern;
}

/** The details of a record are JSON as text: what is in them is replaced, too. */
function text(value: string, replace: Replace): string {
  if (!value.startsWith("{")) return value === "" ? value : replace(value);
  const within = (each: unknown): unknown => {
    if (typeof each === "string") return replace(each);
    if (Array.isArray(each)) return each.map(within);
    if (each === null || typeof each !== "object") return each;
    return Object.fromEntries(Object.entries(each).map(([key, inner]) => [key, within(inner)]));
  };
  return JSON.stringify(within(JSON.parse(value)));
}
