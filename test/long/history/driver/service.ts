/** Calls of the service, as deeds with an end that says no more than is known. */

import type { Outcome, Recorder } from "./record.ts";

export interface Answer extends Outcome {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the API's payloads of every shape
  readonly data: any;
  /** A session's, if it began one. */
  readonly cookie: string;
}

export interface Caller {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  /** A session's; the machine's token by default. */
  readonly cookie?: string;
  readonly body?: unknown;
}

export type Ask = (call: Caller) => Promise<Answer>;

const PATIENCE = 30_000;

/** `token` is read anew for each call. */
export function createAsk(origin: string, token: () => string, recorder: Recorder): Ask {
  return async ({ method, path, cookie = "", body }) => {
    let response: Response;
    try {
      response = await fetch(`${origin}/api/v1${path}`, {
        method,
        headers: {
          ...(cookie === "" ? { authorization: `Bearer ${token()}` } : { cookie }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        body: body === undefined ? null : JSON.stringify(body),
        // On a connection that was used before, the runtime would send a request again that may have been done.
        keepalive: false,
        signal: AbortSignal.timeout(PATIENCE),
      });
      const { data } = (await response.json()) as { data?: unknown };
      return { ...outcomeOf(response, data, recorder), data };
    } catch (error) {
      return { e: "unknown", why: String(error), status: 0, data: undefined, cookie: "" };
    }
  };
}

function outcomeOf(response: Response, data: unknown, recorder: Recorder): Omit<Answer, "data"> {
  const { status, headers } = response;
  const why = `${status} ${headers.get("uam-error") ?? ""}`.trim();
  const cookie = headers.get("set-cookie")?.split(";")[0] ?? "";
  // What a 5xx leaves is stored and finished later, or not.
  if (status >= 400) return { e: status < 500 ? "fail" : "unknown", why, status, cookie };
  const { hosts, taken, narrowed } = (data ?? {}) as Record<string, unknown>;
  const told = [hosts, taken, narrowed].find(isConfirmation);
  if (told === undefined) return { e: "ok", status, cookie };
  const by = told.effective_by === null ? null : recorder.at(new Date(told.effective_by));
  return { e: "ok", status, cookie, pending: told.pending, by };
}

interface Confirmation {
  readonly pending: readonly string[];
  readonly effective_by: string | null;
}

function isConfirmation(value: unknown): value is Confirmation {
  return typeof value === "object" && value !== null && "pending" in value && "effective_by" in value;
}
