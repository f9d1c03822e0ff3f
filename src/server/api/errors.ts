/** Failures as responses: `{"error": "<a sentence>"}` with the status that says what kind it is. */

import { ParseError, ValidationError } from "elysia";
import * as v from "valibot";
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

/** A refusal that is HTTP's own and has no meaning elsewhere. */
export class HttpRefusal extends Error {
  override readonly name = "HttpRefusal";
  readonly status: 405 | 413;
  readonly allow: string | undefined;

  constructor(status: 405 | 413, message: string, allow?: string) {
    super(message);
    this.status = status;
    this.allow = allow;
  }
}

/** The response for anything thrown. What is not a refusal made on purpose becomes a 500 with a fixed sentence. */
export function errorResponse(thrown: unknown): Response {
  const error = thrown instanceof ParseError ? (thrown.cause ?? thrown) : thrown;
  if (error instanceof UamError) {
    const headers = new Headers();
    // A 429 always says when to come back.
    if (error.code === "limited") headers.set("retry-after", String(error.retryAfter ?? 60));
    return failure(STATUS[error.code], error.message, headers);
  }
  if (error instanceof HttpRefusal) {
    return failure(error.status, error.message, new Headers(error.allow === undefined ? [] : [["allow", error.allow]]));
  }
  if (error instanceof ParseError) return failure(400, "The body could not be read");
  if (error instanceof ValidationError && error.type !== "response") return failure(400, describe(error));
  return failure(500, UNEXPECTED);
}

/** True if the thrown value is, or hides, a fault of the service, to be logged in full, rather than a refusal. */
export function isFault(thrown: unknown): boolean {
  if (errorResponse(thrown).status >= 500) return true;
  // The interface gives some faults a status below 500; see failAs.
  return thrown instanceof UamError && thrown.cause !== undefined && isFault(thrown.cause);
}

/**
 * Runs an operation whose every other failure has one status in the interface's table: what is not a refusal with a
 * meaning of its own (`kept`) is thrown on as `code`, with the same sentence.
 */
export async function failAs<T>(code: ErrorCode, kept: readonly ErrorCode[], operation: Promise<T>): Promise<T> {
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

/** Names the field and what is wrong with it, never what was submitted: it may be a password. */
function describe(error: ValidationError): string {
  const issue = error.valueError as unknown as v.BaseIssue<unknown> | undefined;
  if (issue === undefined) return "The request is not valid";
  const where = error.type === "body" ? "body" : error.type;
  const field = v.getDotPath(issue);
  if (field === null || field === "") return `The ${where} must be a JSON object with the required fields`;
  if (issue.received === "undefined") return `${field} is missing`;
  // All of a path and a query is text, unless it comes twice or cannot be decoded.
  if (error.type !== "body" && issue.expected === "string") {
    return error.type === "query" ? `${field} is given more than once` : `${field} is not valid percent-encoding`;
  }
  if (issue.kind === "schema" && issue.expected !== null) return `${field} must be ${article(issue.expected)}`;
  return `${field} ${issue.message}`;
}

function article(expected: string): string {
  if (expected.includes('"')) return `one of ${expected.replace(/[()]/g, "").replaceAll(" | ", ", ")}`;
  return expected === "string" || expected === "boolean" || expected === "number" ? `a ${expected}` : expected;
}
