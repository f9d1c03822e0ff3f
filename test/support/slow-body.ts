/** Requests whose body ends only after something else has happened. */

import { API_ROOT } from "../../src/server/api/app.ts";
import type { TestApp } from "./app.ts";
import { checkAnswer } from "./openapi.ts";

export interface SlowRequest {
  readonly method: string;
  readonly path: string;
  /** Sent as JSON; as it is where a type is named. */
  readonly body?: unknown;
  readonly type?: string | undefined;
  /** The session's cookie, or the header with a token. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Sends the request, its body in two parts with `meanwhile` in between. The body is asked for only once the caller was let in, so that is
 * before `meanwhile`.
 */
export async function sendSlowly(
  { app }: Pick<TestApp, "app">,
  { method, path, body = {}, type, headers }: SlowRequest,
  meanwhile: () => Promise<unknown>,
): Promise<{ readonly status: number; readonly reason: string | null; readonly text: string }> {
  const bytes = new TextEncoder().encode(type === undefined ? JSON.stringify(body) : String(body));
  let pulls = 0;
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (pulls++ === 0) return controller.enqueue(bytes.slice(0, 1));
        await meanwhile();
        controller.enqueue(bytes.slice(1));
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const request = new Request(`http://127.0.0.1:8080${API_ROOT}${path}`, {
    method,
    headers: { "content-type": type ?? "application/json", ...headers },
    body: stream,
  });
  const response = await app.fetch(request, "192.0.2.1");
  const text = await response.text();
  checkAnswer({ request, sent: body, response, text });
  return { status: response.status, reason: response.headers.get("uam-error"), text };
}
