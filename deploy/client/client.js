/** A client of uam's API for Bun, Deno, Node.js 20 and browsers: one fetch, no dependency. Its types are in client.d.ts. */

import { ROUTES } from "./routes.js";

const MOST_ON_A_PAGE = 500;

/** What the service refused, or that it did not answer as it does. */
export class UamError extends Error {
  constructor(message, { status, reason, requestId, retryAfter }) {
    super(message);
    this.name = "UamError";
    this.status = status;
    this.reason = reason;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }
}

export function createClient({ baseUrl, token, fetch = globalThis.fetch, signal }) {
  const root = `${baseUrl.replace(/\/+$/, "")}/api/v1`;

  async function call(name, { path = {}, query = {}, body } = {}) {
    const [method, template] = ROUTES[name];
    const url = new URL(root + template.replace(/\{(\w+)\}/g, (_, key) => encodeURIComponent(path[key])));
    for (const [key, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(key, value);
    const isText = typeof body === "string";
    const response = await fetch(url, {
      method,
      // A redirect would carry the token elsewhere.
      redirect: "error",
      signal,
      headers: {
        accept: "application/json, */*;q=0.1",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "content-type": isText ? "text/csv" : "application/json" }),
      },
      body: body === undefined || isText ? body : JSON.stringify(body),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
    const content = isJson ? JSON.parse(text) : text;
    if (response.ok) return isJson && Object.hasOwn(content, "data") ? content.data : content || undefined;
    const retryAfter = response.headers.get("retry-after");
    throw new UamError(content.error ?? `${method} ${url.pathname}: ${response.status}`, {
      status: response.status,
      reason: response.headers.get("uam-error") ?? "",
      requestId: response.headers.get("x-request-id") ?? "",
      retryAfter: retryAfter === null ? undefined : Number(retryAfter),
    });
  }

  async function* all(name, input = {}) {
    const page_size = input.query?.page_size ?? MOST_ON_A_PAGE;
    for (let page = input.query?.page ?? 1; ; page++) {
      const { items, total } = await call(name, { ...input, query: { ...input.query, page, page_size } });
      yield* items;
      if (items.length === 0 || page * page_size >= total) return;
    }
  }

  return { call, all };
}
