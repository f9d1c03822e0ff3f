/** Reading request bodies: JSON objects only, bounded, and only after the caller has been found to be allowed. */

import { UamError } from "../../shared/errors.ts";
import { HttpRefusal } from "./errors.ts";

/**
 * No body of the interface is deeper than one level. Elysia indents what it refuses, which takes time in the square of the depth:
 * 18 kB of brackets held the event loop for three seconds.
 */
const MAX_DEPTH = 8;

export interface BodyRules {
  /** Bytes. */
  readonly maximum: number;
  /** Whether a missing body counts as an empty object, whatever type is declared. */
  readonly optional: boolean;
}

/**
 * The request's JSON body. Throws `invalid` unless it is declared as application/json and is a shallow JSON object, and a 413
 * refusal for more than `maximum` bytes, without reading more than that.
 */
export async function readJson(request: Request, { maximum, optional }: BodyRules): Promise<object> {
  refuseDeclared(request, maximum);
  const isJson = isDeclaredJson(request);
  const bytes = isJson || optional ? await readBytes(request, maximum) : new Uint8Array();
  if (optional && bytes.length === 0) return {};
  if (!isJson) throw notJson();
  return parseObject(bytes);
}

function isDeclaredJson({ headers }: Request): boolean {
  return /^application\/json\s*(;|$)/i.test(headers.get("content-type") ?? "");
}

function notJson(): UamError {
  return new UamError("invalid", "The body must be JSON with the header Content-Type: application/json");
}

/** Throws `invalid` for a body that is not declared as application/json. */
export function requireJson(request: Request): void {
  if (!isDeclaredJson(request)) throw notJson();
}

/** The shallow JSON object that the bytes are; throws `invalid`. */
export function parseObject(bytes: Uint8Array): object {
  const body = parse(bytes);
  if (isDeeper(body, MAX_DEPTH)) throw new UamError("invalid", `The body is nested deeper than ${MAX_DEPTH} levels`);
  // To the validator an array is an object too, and one of no fields wherever all are optional.
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new UamError("invalid", "The body must be a JSON object");
  }
  return body;
}

/**
 * Throws a 413 refusal for a body of more than `maximum` bytes on routes that take none and read none. One without a
 * length is counted, except that of a GET or HEAD, which has no meaning (RFC 9110, section 9.3.1) and is dropped unread.
 */
export async function refuseLargeBody(request: Request, maximum: number): Promise<void> {
  refuseDeclared(request, maximum);
  if (request.headers.has("content-length") || request.body === null || request.bodyUsed) return;
  for await (const _ of boundedChunks(request.body, maximum));
}

function refuseDeclared({ headers }: Request, maximum: number): void {
  if (Number(headers.get("content-length") ?? 0) > maximum) throw tooLarge(maximum);
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new UamError("invalid", "The body is not valid JSON in UTF-8");
  }
}

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth === 0 || Object.values(value).some((part) => isDeeper(part, depth - 1));
}

/** The body as it came; throws a 413 refusal for more than `maximum` bytes, without reading more than that. */
export async function readWhole(request: Request, maximum: number): Promise<Uint8Array> {
  refuseDeclared(request, maximum);
  return await readBytes(request, maximum);
}

async function readBytes(request: Request, maximum: number): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array();
  return Buffer.concat(await Array.fromAsync(boundedChunks(request.body, maximum)));
}

/** What arrives; throws a 413 refusal as soon as it is more than `maximum` bytes, `invalid` if it ends early. */
async function* boundedChunks(body: ReadableStream<Uint8Array>, maximum: number): AsyncGenerator<Uint8Array> {
  let length = 0;
  try {
    for await (const chunk of body) {
      length += chunk.byteLength;
      if (length > maximum) throw tooLarge(maximum);
      yield chunk;
    }
  } catch (error) {
    if (error instanceof HttpRefusal) throw error;
    // The sender may leave midway: that is no fault of the service, and does not belong among its errors in the log.
    throw new UamError("invalid", "The body was cut off");
  }
}

function tooLarge(maximum: number): HttpRefusal {
  return new HttpRefusal(413, `The body is larger than ${maximum} bytes`);
}
