/** Serves the console: one document for every page, and its scripts and styles. No database, no session, nothing to decide. */

import { createHash } from "node:crypto";
import { brotliDecompressSync, gzipSync } from "node:zlib";
import { isPage } from "../../shared/product/pages.ts";
import { ASSET_ROOT } from "./bundle.ts";
import type { ConsoleBundle, ConsoleFile } from "./carried.ts";
import type { Logo } from "./logo.ts";

/**
 * The permissions of the document: run its own scripts and talk to its own service. No markup from strings (Trusted Types), no form that
 * leaves, no frame around it, no foreign address.
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/** The answer for a path of the console; undefined for any other path. */
export type ConsoleHandler = (request: Request, path: string) => Response | undefined;

/** Answers GET and HEAD for the pages and files of the bundle, and for the present logo where there is one. */
export function createConsole(
  { page, files }: ConsoleBundle,
  logo: () => Logo | undefined = () => undefined,
): ConsoleHandler {
  const document = new TextEncoder().encode(page);
  const tag = `"${createHash("sha256").update(document).digest("base64url").slice(0, 22)}"`;
  const encoded = new Map(Object.entries(files).map(([name, file]) => [`${ASSET_ROOT}/${name}`, decode(file)]));
  return (request, path) => {
    const file = encoded.get(path);
    if (file !== undefined) return answerFile(request, file);
    const picture = logo();
    if (path === picture?.path) return answerLogo(request, picture);
    if (isPage(path)) return answerPage(request, document, tag);
    return isForPerson(request, path) ? answerLost(request, document) : undefined;
  };
}

/** Whether a browser asks for a page that there is not: people get one that helps, programs the API's answer. */
function isForPerson({ method, headers }: Request, path: string): boolean {
  if (method !== "GET" && method !== "HEAD") return false;
  return !/^\/(?:api|assets)(?:\/|$)/.test(path) && accepts(headers.get("accept") ?? "", "text/html");
}

/** For what has a name that changes with the content. */
const FOR_EVER = "public, max-age=31536000, immutable";

interface EncodedFile {
  readonly type: string;
  readonly br: Uint8Array<ArrayBuffer>;
  /** Both are made at the first request for them, and kept: anybody may ask for them all the time. */
  readonly gzip: () => Uint8Array<ArrayBuffer>;
  readonly plain: () => Uint8Array<ArrayBuffer>;
}

function decode({ type, br: carried }: ConsoleFile): EncodedFile {
  const br = new Uint8Array(Buffer.from(carried, "base64"));
  const plain = once(() => brotliDecompressSync(br));
  const gzip = once(() => gzipSync(plain(), { level: 9 }));
  return { type, br, gzip, plain };
}

function once(make: () => Uint8Array): () => Uint8Array<ArrayBuffer> {
  let made: Uint8Array<ArrayBuffer> | undefined;
  return () => (made ??= new Uint8Array(make()));
}

function answerFile(request: Request, { type, br, gzip, plain }: EncodedFile): Response {
  const accepted = request.headers.get("accept-encoding") ?? "";
  const headers = new Headers({
    "content-type": type,
    "cache-control": FOR_EVER,
    vary: "Accept-Encoding",
  });
  const encoding = accepts(accepted, "br") ? "br" : accepts(accepted, "gzip") ? "gzip" : undefined;
  if (encoding !== undefined) headers.set("content-encoding", encoding);
  const body = encoding === "br" ? br : encoding === "gzip" ? gzip() : plain();
  return respond(request, body, headers);
}

function answerLogo(request: Request, { type, bytes }: Logo): Response {
  return respond(request, bytes, new Headers({ "content-type": type, "cache-control": FOR_EVER }));
}

const DOCUMENT = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": PAGE_POLICY,
  "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
} as const;

/** The same document: its script sees by the address that there is no such page, and which one may have been meant. */
function answerLost(request: Request, document: Uint8Array<ArrayBuffer>): Response {
  return respond(request, document, new Headers({ ...DOCUMENT, "cache-control": "no-store", vary: "Accept" }), 404);
}

function answerPage(request: Request, document: Uint8Array<ArrayBuffer>, tag: string): Response {
  const headers = new Headers({
    ...DOCUMENT,
    // Asked for again each time, so that an upgrade is seen at once; unchanged it costs no body.
    "cache-control": "no-cache",
    etag: tag,
  });
  if (isKnown(request.headers.get("if-none-match") ?? "", tag)) return new Response(null, { status: 304, headers });
  return respond(request, document, headers);
}

function respond(request: Request, body: Uint8Array<ArrayBuffer>, headers: Headers, status = 200): Response {
  headers.set("content-length", String(body.byteLength));
  return new Response(request.method === "HEAD" ? null : body, { status, headers });
}

/** Whether an If-None-Match names the tag; a proxy that compresses makes it a weak one (RFC 9110, section 13.1.2). */
function isKnown(header: string, tag: string): boolean {
  const known = header.split(",").map((text) => text.trim().replace(/^W\//, ""));
  return known.includes(tag) || header.trim() === "*";
}

/** Whether an Accept or Accept-Encoding names it; with q=0 it is refused (RFC 9110, sections 12.5.1 and 12.5.3). */
function accepts(header: string, coding: string): boolean {
  return header.split(",").some((part) => {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    return name === coding && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}
