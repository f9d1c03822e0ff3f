/** Reading request bodies: JSON objects only, bounded, and only after the caller has been found to be allowed. */

import { UamError } from "../../../shared/errors.ts";
import { HttpRefusal } from "./errors.ts";
import { infoOf } from "./request.ts";

/** No body of the interface is as deep. */
const MAX_DEPTH = 8;
/** Milliseconds in which a body has to be there, counted from the head; the runtime gives the head its own time (runtime/bun.ts). */
const BODY_TIME = 14_000;
/** As many values as 64 KiB can hold, and several times what any body of the interface has: an empty object takes thirty times its text. */
const MAX_VALUES = 32_768;

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
  checkExtent(bytes);
  const body = parse(bytes);
  // To the validator an array is an object too, and one of no fields wherever all are optional.
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new UamError("invalid", "The body must be a JSON object");
  }
  return body;
}

/** The fields of the request's form, each once. Throws `invalid` for anything else, and a 413 refusal for more than `maximum` bytes. */
export async function readForm(request: Request, maximum: number): Promise<object> {
  refuseDeclared(request, maximum);
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(request.headers.get("content-type") ?? "")) {
    const sentence = "The body must be a form with the header Content-Type: application/x-www-form-urlencoded";
    throw new UamError("invalid", sentence);
  }
  const fields = [...new URLSearchParams(new TextDecoder().decode(await readBytes(request, maximum)))];
  const form = Object.fromEntries(fields);
  if (Object.keys(form).length < fields.length) throw new UamError("invalid", "A field of the form is there twice");
  return form;
}

/** The request's CSV file as it came. Throws `invalid` for anything else, and a 413 refusal for more than `maximum` bytes. */
export async function readCsv(request: Request, maximum: number): Promise<{ readonly bytes: Uint8Array }> {
  refuseDeclared(request, maximum);
  if (!/^text\/csv\s*(;|$)/i.test(request.headers.get("content-type") ?? "")) {
    throw new UamError("invalid", "The body must be a CSV file with the header Content-Type: text/csv");
  }
  return { bytes: await readWhole(request, maximum) };
}

/**
 * Throws a 413 refusal for a body of more than `maximum` bytes on routes that take none and read none. One without a
 * length is counted, except that of a GET or HEAD, which has no meaning (RFC 9110, section 9.3.1) and is dropped unread.
 */
export async function refuseLargeBody(request: Request, maximum: number): Promise<void> {
  refuseDeclared(request, maximum);
  if (request.headers.has("content-length") || request.body === null || request.bodyUsed) return;
  const { body } = request;
  await inTime(request, async () => {
    for await (const _ of boundedChunks(body, maximum));
  });
}

/** The result of reading; throws a 408 refusal once the time for the request is over. */
async function inTime<T>(request: Request, read: () => Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const refuse = () => late.reject(new HttpRefusal(408, "The request did not come whole within 30 seconds"));
  const timer = setTimeout(refuse, infoOf(request).begun + BODY_TIME - performance.now());
  const reading = read();
  // It ends with the connection, when nobody waits for it.
  reading.catch(() => {});
  try {
    return await Promise.race([reading, late.promise]);
  } finally {
    clearTimeout(timer);
  }
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

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Throws `invalid` for JSON that is too deep or has too many values, before anything is made of it; of anything else it says nothing. */
function checkExtent(bytes: Uint8Array): void {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfText(bytes, at);
    else if (byte === COMMA) values++;
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth--;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      values++;
      depth++;
      if (depth > MAX_DEPTH) throw new UamError("invalid", `The body is nested deeper than ${MAX_DEPTH} levels`);
    }
  }
  if (values > MAX_VALUES) throw new UamError("invalid", `The body holds more than ${MAX_VALUES} values`);
}

/** Where the text that begins there ends: its closing quote, or the end of all. */
function endOfText(bytes: Uint8Array, begin: number): number {
  for (let at = begin + 1; at < bytes.length; at++) {
    if (bytes[at] === BACKSLASH) at++;
    else if (bytes[at] === QUOTE) return at;
  }
  return bytes.length;
}

/** The body as it came; throws a 413 refusal for more than `maximum` bytes, without reading more than that. */
export async function readWhole(request: Request, maximum: number): Promise<Uint8Array> {
  refuseDeclared(request, maximum);
  const { headers } = request;
  // A body with a declared length is never longer: the runtime sees to that. Reading it as a stream of chunks costs several times as much.
  const isDeclared = headers.has("content-length") && !headers.has("transfer-encoding");
  return isDeclared ? await readDeclared(request, maximum) : await readBytes(request, maximum);
}

async function readDeclared(request: Request, maximum: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(
    await inTime(request, () =>
      request.arrayBuffer().catch(() => {
        throw new UamError("invalid", "The body was cut off");
      }),
    ),
  );
  if (bytes.length > maximum) throw tooLarge(maximum);
  return bytes;
}

async function readBytes(request: Request, maximum: number): Promise<Uint8Array> {
  const { body } = request;
  if (body === null) return new Uint8Array();
  return Buffer.concat(await inTime(request, () => Array.fromAsync(boundedChunks(body, maximum))));
}

/** The body; throws a 413 refusal as soon as it is more than `maximum` bytes, `invalid` if it ends early. */
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
    // The sender may leave midway: that is not a fault of the service, and does not belong among its errors in the log.
    throw new UamError("invalid", "The body was cut off");
  }
}

function tooLarge(maximum: number): HttpRefusal {
  return new HttpRefusal(413, `The body is larger than ${maximum} bytes`);
}
