/** Failures as responses: `{"error": "<a sentence>"}` with the status that says what kind it is. */

import { type ErrorCode, UamError, UNEXPECTED } from "../../shared/errors.ts";

export const STATUS = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  limited: 429,
  internal: 500,
} as const satisfies Record<ErrorCode, number>;

/** Another method, too large a body, not ready. */
type HttpOnly = 405 | 413 | 503;

/** A refusal that is HTTP's own and has no meaning elsewhere. */
export class HttpRefusal extends Error {
  override readonly name = "HttpRefusal";
  readonly status: HttpOnly;
  readonly allow: string | undefined;

  constructor(status: HttpOnly, message: string, allow?: string) {
    super(message);
    this.status = status;
    this.allow = allow;
  }
}

/** The response for anything thrown. Anything but a deliberate refusal becomes a 500 with a fixed sentence. */
export function errorResponse(error: unknown): Response {
  if (error instanceof UamError) {
    const headers = new Headers();
    // A 429 always says when to come back.
    if (error.code === "limited") headers.set("retry-after", String(error.retryAfter ?? 60));
    return failure(STATUS[error.code], error.message, headers);
  }
  if (error instanceof HttpRefusal) {
    return failure(error.status, error.message, new Headers(error.allow === undefined ? [] : [["allow", error.allow]]));
  }
  return failure(500, UNEXPECTED);
}

/** True if the thrown value is, or hides, a fault of the service, to be logged in full, rather than a refusal. */
export function isFault(thrown: unknown): boolean {
  if (thrown instanceof HttpRefusal) return false;
  if (errorResponse(thrown).status >= 500) return true;
  // The specification gives some faults a status below 500; see otherFailuresAs.
  return thrown instanceof UamError && thrown.cause !== undefined && isFault(thrown.cause);
}

/**
 * Runs an operation whose every other failure has one status in the specification's table: what is not a refusal with a
 * meaning of its own (`kept`) is rethrown as `code`, with the same sentence.
 */
export async function otherFailuresAs<T>(
  code: ErrorCode,
  kept: readonly ErrorCode[],
  operation: Promise<T>,
): Promise<T> {
  try {
    return await operation;
  } catch (error) {
    if (error instanceof UamError && (kept.includes(error.code) || error.code === "limited")) throw error;
    throw new UamError(code, error instanceof UamError ? error.message : UNEXPECTED, { cause: error });
  }
}

export function failure(status: number, message: string, headers?: Headers): Response {
  return Response.json({ error: message }, headers === undefined ? { status } : { status, headers });
}
