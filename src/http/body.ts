/** Reading request bodies: JSON objects only, bounded, and only after the caller has been found to be allowed. */

import { UamError } from "../core/errors.ts";
import { HttpRefusal } from "./errors.ts";

/**
 * No body of the interface is deeper than one level. Elysia indents what it refuses, which takes the square of the depth:
 * 18 kB of brackets held the event loop for three seconds.
 */
const MAX_DEPTH = 8;

/**
 * The request's JSON body. Throws `invalid` unless it is declared as application/json and is a shallow JSON object, and a 413
 * refusal for more than `maximum` bytes, without reading more than that.
 */
export async function readJson(request: Request, maximum: number): Promise<object> {
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > maximum) throw tooLarge(maximum);
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new UamError("invalid", "The body must be JSON with the header Content-Type: application/json");
  }
  const body = parse(await readBytes(request, maximum));
  if (isDeeper(body, MAX_DEPTH)) throw new UamError("invalid", `The body is nested deeper than ${MAX_DEPTH} levels`);
  // To the validator an array is an object too, and one of no fields wherever all are optional.
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new UamError("invalid", "The body must be a JSON object");
  }
  return body;
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

async function readBytes(request: Request, maximum: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of request.body ?? []) {
      length += chunk.byteLength;
      if (length > maximum) throw tooLarge(maximum);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof HttpRefusal) throw error;
    // Whoever sends may leave in the middle: no fault of the service, and nothing for its log of errors.
    throw new UamError("invalid", "The body ended before all of it was there");
  }
  return Buffer.concat(chunks);
}

function tooLarge(maximum: number): HttpRefusal {
  return new HttpRefusal(413, `The body is larger than ${maximum} bytes`);
}
