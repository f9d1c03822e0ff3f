/** The one error class that operations throw on purpose, and what it says to the outside. */

import type { Reason } from "./product/reasons.ts";

export type ErrorCode = "invalid" | "unauthorized" | "forbidden" | "not_found" | "conflict" | "limited" | "internal";

/** The reason of an error that gives none. */
export const DEFAULT_REASONS = {
  invalid: "request.invalid",
  unauthorized: "session.missing",
  forbidden: "permission.missing",
  not_found: "resource.missing",
  conflict: "state.conflict",
  limited: "rate.limited",
  internal: "internal",
} as const satisfies Readonly<Record<ErrorCode, Reason>>;

export interface ErrorOptions {
  /** The underlying error; logged, never shown to a caller. */
  readonly cause?: unknown;
  /** For `limited`: whole seconds until another attempt makes sense. */
  readonly retryAfter?: number;
  /** For programs: why, more precisely than the code says; by default, the code's own reason. */
  readonly reason?: Reason;
}

/** A refusal or failure whose message is a sentence a person can act on; it never holds a secret. */
export class UamError extends Error {
  override readonly name = "UamError";
  readonly code: ErrorCode;
  readonly retryAfter: number | undefined;
  readonly reason: Reason;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryAfter = options.retryAfter;
    this.reason = options.reason ?? DEFAULT_REASONS[code];
  }
}

export const UNEXPECTED = "An internal error occurred. The service log has the details under this request's id.";

/** The sentence that may be shown or recorded for any thrown value; anything but a UamError gets a fixed text. */
export function publicMessage(error: unknown): string {
  return error instanceof UamError ? error.message : UNEXPECTED;
}

/**
 * Message and stack of an error as they may be written to a log. For a failed statement (Drizzle's DrizzleQueryError) it is
 * the text without its values, which are personal data and hashes of secrets.
 */
export function loggable(error: Error): { readonly message: string; readonly stack: string | undefined } {
  const { message, stack } = error;
  if (!("query" in error && "params" in error)) return { message, stack };
  const shown = `Failed query: ${String(error.query)}`;
  return { message: shown, stack: stack?.replace(message, () => shown) };
}
