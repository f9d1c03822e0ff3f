/** The one way to the service: its public API, typed by the schemas that it checks requests with. */

import type { AnswerOf, BodyOf, QueryOf, RouteKey } from "../contract/contract.ts";
import { harmlessJson } from "./harmless.ts";

export type { AnswerOf, BodyOf, QueryOf, RouteKey };

export const API_ROOT = "/api/v1";

/** The parts of a request; only those that the route has. */
export interface Ask<R extends RouteKey> {
  /** For the parts of the path that begin with ":". */
  readonly params?: Readonly<Record<string, string | number>>;
  readonly query?: QueryOf<R> & object;
  readonly body?: BodyOf<R>;
  /** The media type of the answer, where the route has others than JSON. */
  readonly accept?: string;
  readonly signal?: AbortSignal;
}

/** A refusal, or that there was no answer. */
export class ApiFailure extends Error {
  override readonly name = "ApiFailure";
  /** 0 if the service did not answer. */
  readonly status: number;
  /** The stable name of the refusal, such as "key.duplicate"; "network" if the service did not answer. */
  readonly reason: string;
  /** Seconds until it is worth trying again, where the service says so. */
  readonly retryAfter: number | undefined;
  /** The id of the request in the service's log. */
  readonly requestId: string;

  constructor(message: string, about: Pick<ApiFailure, "status" | "reason" | "retryAfter" | "requestId">) {
    super(message);
    this.status = about.status;
    this.reason = about.reason;
    this.retryAfter = about.retryAfter;
    this.requestId = about.requestId;
  }
}

/** Called whenever an answer says that there is no session. */
let onSessionEnd: () => void = () => {};

/** Sets what happens when an answer says that there is no session. */
export function watchSession(listener: () => void): void {
  onSessionEnd = listener;
}

/** The route's answer below `data`. Throws ApiFailure; an AbortError if the caller gave up. */
export async function api<R extends RouteKey>(route: R, ask: Ask<R> = {}): Promise<AnswerOf<R>> {
  const response = await send(route, ask);
  const body = (harmlessJson(await response.text().catch(() => "")) ?? {}) as { data?: AnswerOf<R>; error?: string };
  if (!response.ok) throw refusal(response, body.error);
  return body.data as AnswerOf<R>;
}

/** The answer to a route that sends a file. Throws as `api` does. */
export async function download<R extends RouteKey>(route: R, ask: Ask<R> = {}): Promise<Response> {
  const response = await send(route, ask);
  if (response.ok) return response;
  const body = (harmlessJson(await response.text().catch(() => "")) ?? {}) as { error?: string };
  throw refusal(response, body.error);
}

async function send<R extends RouteKey>(
  route: R,
  { params = {}, query, body, accept, signal }: Ask<R>,
): Promise<Response> {
  const [method = "GET", pattern = ""] = route.split(" ");
  const path = pattern.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name] ?? "")));
  // A file travels as it is.
  const { bytes } = (body ?? {}) as { readonly bytes?: Uint8Array<ArrayBuffer> };
  const type = bytes === undefined ? "application/json" : "text/csv";
  const headers = {
    ...(accept === undefined ? {} : { accept }),
    ...(body === undefined ? {} : { "content-type": type }),
  };
  try {
    return await fetch(`${API_ROOT}${path}${searchOf(query)}`, {
      method,
      credentials: "same-origin",
      cache: "no-store",
      redirect: "error",
      ...(signal === undefined ? {} : { signal }),
      headers,
      ...(body === undefined ? {} : { body: bytes ?? JSON.stringify(body) }),
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiFailure("The service does not answer", {
      status: 0,
      reason: "network",
      retryAfter: undefined,
      requestId: "",
    });
  }
}

/** The query as text; what is undefined or empty is left out. */
export function searchOf(query: object | undefined): string {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== "");
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return search === "" ? "" : `?${search}`;
}

function refusal({ status, headers }: Response, message: string | undefined): ApiFailure {
  const reason = headers.get("uam-error") ?? "";
  if (status === 401 && !/^(login|code|captcha)\./.test(reason)) onSessionEnd();
  const wait = Number(headers.get("retry-after") ?? "");
  return new ApiFailure(message ?? `The service answered ${status}`, {
    status,
    reason,
    retryAfter: wait > 0 ? wait : undefined,
    requestId: headers.get("x-request-id") ?? "",
  });
}
