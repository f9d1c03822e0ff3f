/** Failures as responses: `{"error": "<a sentence>"}`, the status that says what kind it is, and `Uam-Error` that names it. */

import { DATABASE_FULL, isDatabaseFull, isDatabaseLost } from "../../../shared/database-lost.ts";
import { type ErrorCode, UamError, UNEXPECTED } from "../../../shared/errors.ts";
import type { Reason } from "../../../shared/product/reasons.ts";

export const STATUS = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  limited: 429,
  internal: 500,
} as const satisfies Record<ErrorCode, number>;

/** Another method, too slow or too large a body, not ready. */
type HttpOnly = 405 | 408 | 413 | 503;

const HTTP_REASONS = {
  405: "route.method",
  408: "request.too_slow",
  413: "request.too_large",
  503: "service.not_ready",
} as const satisfies Record<HttpOnly, Reason>;

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
  // The cause of such an error may look like a lost connection to the database.
  const lost = isUnavailable(error) ? undefined : ofDatabase(error);
  if (lost !== undefined) {
    // The specification's status for a failure; what tells it from others is its reason, and when to try again.
    const status = error instanceof UamError ? STATUS[error.code] : 500;
    return failure({ status, reason: lost.reason }, lost.sentence, new Headers([["retry-after", lost.retryAfter]]));
  }
  if (error instanceof UamError) {
    const headers = new Headers();
    // A 429 always says when to come back.
    if (error.code === "limited") headers.set("retry-after", String(error.retryAfter ?? 60));
    if (isUnavailable(error)) {
      headers.set("retry-after", "2");
      return failure({ status: 503, reason: error.reason }, error.message, headers);
    }
    return failure({ status: STATUS[error.code], reason: error.reason }, error.message, headers);
  }
  if (error instanceof HttpRefusal) {
    const headers = new Headers(error.allow === undefined ? [] : [["allow", error.allow]]);
    // The rest of the body is not read.
    if (error.status === 408) headers.set("connection", "close");
    return failure({ status: error.status, reason: HTTP_REASONS[error.status] }, error.message, headers);
  }
  return failure({ status: 500, reason: "internal" }, UNEXPECTED, new Headers());
}

/** A failure that the database's state explains, and after how many seconds another attempt makes sense. */
interface OfDatabase {
  readonly reason: Reason;
  readonly sentence: string;
  readonly retryAfter: string;
}

const DATABASE_LOST: OfDatabase = {
  reason: "service.not_ready",
  sentence: "The database does not answer; try again in a moment.",
  // A failover takes from one to half a minute, and asking costs little.
  retryAfter: "2",
};

const FULL: OfDatabase = {
  reason: "database.full",
  sentence: DATABASE_FULL,
  retryAfter: "60",
};

/**
 * The answer for an error that the loss of the database led to, or its full disk; undefined for any other. An error that says itself
 * what became of the change keeps its sentence, and one about access that is being taken away its status.
 */
function ofDatabase(error: unknown): OfDatabase | undefined {
  const found = isDatabaseLost(error) ? DATABASE_LOST : isFull(error) ? FULL : undefined;
  if (found === undefined || !(error instanceof UamError)) return found;
  if (error.reason === "access.owed") return undefined;
  return error.message === UNEXPECTED ? found : { ...found, reason: error.reason, sentence: error.message };
}

function isFull(error: unknown): boolean {
  return isDatabaseFull(error) || (error instanceof UamError && error.reason === "database.full");
}

/** Failures that pass by themselves, and are reported where they are found. */
function isUnavailable(error: unknown): boolean {
  return error instanceof UamError && UNAVAILABLE.has(error.reason);
}

const UNAVAILABLE: ReadonlySet<Reason> = new Set(["agent.no_head", "sso.unavailable"]);

/** True if the thrown value is, or hides, a fault of the service, to be logged in full, rather than a refusal. */
export function isFault(thrown: unknown): boolean {
  if (thrown instanceof HttpRefusal || isUnavailable(thrown)) return false;
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
    const isKept = (code: ErrorCode) => kept.includes(code) || ALWAYS_KEPT.includes(code);
    if (error instanceof UamError && isKept(error.code)) throw error;
    const { message, reason } = error instanceof UamError ? error : UNKNOWN_FAULT;
    throw new UamError(code, message, { cause: error, reason });
  }
}

/** A limit, and a permission that the caller has lost meanwhile. */
const ALWAYS_KEPT: readonly ErrorCode[] = ["limited", "unauthorized", "forbidden"];

const UNKNOWN_FAULT = { message: UNEXPECTED, reason: "internal" } as const;

interface Why {
  readonly status: number;
  readonly reason: Reason;
}

function failure({ status, reason }: Why, message: string, headers: Headers): Response {
  headers.set("uam-error", reason);
  return Response.json({ error: message }, { status, headers });
}
