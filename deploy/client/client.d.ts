import type { Operations } from "./operations.js";

export type { Operations };
export type Name = keyof Operations;
export type Input<N extends Name> = Operations[N]["input"];
export type Answer<N extends Name> = Operations[N]["answer"];

/** Operations whose answer is one page of many. */
export type PagedName = {
  [N in Name]: Answer<N> extends { items: unknown[]; total: number }
    ? Input<N> extends { query?: { page?: number } }
      ? N
      : never
    : never;
}[Name];

/** What the service refused, as a sentence, or that it did not answer as it does. A request that did not arrive throws fetch's own error. */
export class UamError extends Error {
  readonly status: number;
  /** For programs, such as "user.missing": docs/api.md lists them. "" if something else than the service answered. */
  readonly reason: Operations[Name]["reason"] | (string & {});
  readonly requestId: string;
  /** Seconds after which it may be tried again, if the service says so. */
  readonly retryAfter: number | undefined;
}

type Given<N extends Name> = Record<never, never> extends Input<N> ? [input?: Input<N>] : [input: Input<N>];

export interface Client {
  /** Calls one operation; returns what is in `data`, or the text of a file. Throws UamError. */
  call<N extends Name>(name: N, ...input: Given<N>): Promise<Answer<N>>;
  /** Everything of a list, page by page, as it is read. What is added or removed meanwhile may be missing, or be there twice. */
  all<N extends PagedName>(name: N, ...input: Given<N>): AsyncGenerator<Answer<N>["items"][number], void, undefined>;
}

/** `token` is one of `uam token create`; without it only what is public can be called. */
export function createClient(options: {
  readonly baseUrl: string;
  readonly token?: string;
  readonly fetch?: typeof globalThis.fetch;
  readonly signal?: AbortSignal;
}): Client;
