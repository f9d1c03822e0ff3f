/**
 * Talking to the service: one request at a time, each signed, and no answer believed that the service did not sign for this very
 * request. A proxy on the way can keep answers back, and nothing else.
 */

import { Buffer } from "node:buffer";
import { existsSync, readFileSync } from "node:fs";
import { AGENT_PROTOCOL } from "../protocol/fleet.ts";
import {
  ANSWER_HEADER,
  authorize,
  checkingKey,
  isAnswerOf,
  NONCE_HEADER,
  signingKey,
} from "../protocol/fleet-signature.ts";
import { UamError } from "../shared/errors.ts";
import { SECOND } from "../shared/time/clock.ts";
import { VERSION } from "../shared/version.ts";

/** Sends a request and returns the answer; `fetch`, except in tests. */
export type Send = (url: string, init: SendOptions) => Promise<Response>;

export interface SendOptions {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly signal: AbortSignal;
  readonly redirect: "manual";
}

/** An answer whose signature held. */
export interface Answer {
  readonly status: number;
  /** The payload of a 2xx; undefined otherwise. */
  readonly data: unknown;
  /** The service's sentence where it refused. */
  readonly error: string;
  /** In seconds, where the service said when to come again. */
  readonly retryAfter: number | undefined;
}

export interface Ask {
  readonly method: "GET" | "POST";
  /** Path and query below the API's root. */
  readonly target: string;
  readonly body?: unknown;
  /** In milliseconds. */
  readonly timeout?: number;
  /** Gives up waiting. */
  readonly signal?: AbortSignal | undefined;
}

/** No answer that can be believed: wait, and try again. */
export class Unanswered extends UamError {
  readonly status: number | undefined;
  /** In seconds, where whoever answered said when to come again. */
  readonly wait: number | undefined;

  constructor(
    message: string,
    details: { readonly status?: number; readonly wait?: number | undefined; readonly cause?: unknown } = {},
  ) {
    super("internal", message, { cause: details.cause });
    this.status = details.status;
    this.wait = details.wait;
  }
}

export interface ServiceClient {
  /** Asks until the nonce is fresh, and resolves with what the service said. Throws `Unanswered`. */
  ask(ask: Ask): Promise<Answer>;
  /** From now on another key signs. */
  useKey(seed: Uint8Array): void;
}

const API = "/api/v1";
const TIMEOUT = 30 * SECOND;
/** Thousands of accounts with their keys. */
const MAX_ANSWER = 256 * 1024 * 1024;
/** A stale nonce is renewed by the refusal; more than once only where answers overtake one another. */
const ATTEMPTS = 4;

/** Speaks for the host. `epoch` must be higher than at any earlier start. */
export function createClient(options: {
  readonly service: string;
  readonly fleetKey: Uint8Array;
  readonly host: number;
  readonly seed: Uint8Array;
  readonly epoch: number;
  readonly send: Send;
}): ServiceClient {
  const { service, host, epoch, send } = options;
  const fleetKey = checkingKey(options.fleetKey);
  let key = signingKey(options.seed);
  let requests = 0;
  let nonce = "";

  async function once(
    { method, target, body, timeout, signal }: Ask,
    counter: number,
  ): Promise<Answer & { stale: boolean }> {
    const text = body === undefined ? "" : JSON.stringify(body);
    const bytes = Buffer.from(text);
    const { header, signature } = authorize({ method, target, body: bytes, host, counter, nonce }, key);
    const { response, content } = await exchange(send, `${service}${API}${target}`, {
      method,
      headers: headersOf(method, header),
      body: method === "GET" ? null : text,
      ...limits(timeout, signal),
    });
    const { status } = response;
    const given = response.headers.get(ANSWER_HEADER) ?? "";
    if (!isAnswerOf(fleetKey, { request: signature, status, body: content, signature: given })) {
      throw unsigned(response, service);
    }
    const fresh = response.headers.get(NONCE_HEADER) ?? "";
    const stale = status === 401 && fresh !== "" && fresh !== nonce;
    if (fresh !== "") nonce = fresh;
    return { ...answerOf(response, content), stale };
  }

  return {
    ask: async (ask) => {
      requests += 1;
      const counter = epoch * 2 ** 32 + requests;
      for (let attempt = 1; ; attempt++) {
        const { stale, ...answer } = await once(ask, counter);
        if (!stale || attempt === ATTEMPTS) return answer;
      }
    },
    useKey: (seed) => {
      key = signingKey(seed);
    },
  };
}

/** The answer if the service agreed; throws `Unanswered` with its sentence otherwise. */
export function require2xx(answer: Answer): Answer {
  if (answer.status >= 200 && answer.status < 300) return answer;
  const said = answer.error === "" ? "" : `: ${answer.error}`;
  throw new Unanswered(`The service refused (${answer.status})${said}`, { wait: answer.retryAfter });
}

/** One exchange without a host's signature, as before the joining: the bytes and what came with them. */
export async function exchange(
  send: Send,
  url: string,
  init: Omit<SendOptions, "redirect">,
): Promise<{ readonly response: Response; readonly content: Uint8Array }> {
  try {
    // A redirection would lead away from what was joined; it is an answer like any other that is not signed.
    const response = await send(url, { ...init, redirect: "manual" });
    return { response, content: await readAll(response) };
  } catch (cause) {
    if (cause instanceof Unanswered) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Unanswered(`${new URL(url).origin} does not answer: ${why}`, { cause });
  }
}

/** The API's root at a service. */
export function apiOf(service: string): string {
  return `${service}${API}`;
}

export function headersOf(method: string, authorization?: string): Readonly<Record<string, string>> {
  return {
    accept: "application/json",
    "user-agent": `uam-agent/${VERSION}`,
    "uam-agent-version": String(AGENT_PROTOCOL),
    ...(method === "GET" ? {} : { "content-type": "application/json" }),
    ...(authorization === undefined ? {} : { authorization }),
  };
}

export function limits(timeout = TIMEOUT, signal?: AbortSignal): { readonly signal: AbortSignal } {
  const limit = AbortSignal.timeout(timeout);
  return { signal: signal === undefined ? limit : AbortSignal.any([limit, signal]) };
}

/** Parses the answer; the API puts its payload under `data` and its refusals under `error`. */
export function answerOf(response: Response, content: Uint8Array): Answer {
  const body = parsed(content);
  const isRecord = typeof body === "object" && body !== null;
  const data = isRecord && "data" in body ? body.data : body;
  const error = isRecord && "error" in body && typeof body.error === "string" ? body.error : "";
  const { status } = response;
  return { status, data: response.ok ? data : undefined, error, retryAfter: retryAfterOf(response) };
}

/**
 * `fetch` that trusts the given file of certificates, or else those of the system: a company's own authority is installed there.
 * Throws `invalid` for a file that cannot be read.
 */
export function openSend(ca: string | undefined): Send {
  const path = ca ?? SYSTEM_CERTIFICATES.find((candidate) => existsSync(candidate));
  const tls = path === undefined ? {} : { tls: { ca: readCertificates(path) } };
  return (url, init) => fetch(url, { ...init, ...tls } as RequestInit);
}

/** Throws `invalid` unless what is sent there is encrypted, or does not leave the machine. */
export function requireSafeAddress(service: string): URL {
  const url = URL.parse(service);
  const isLoopback = url !== null && /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(url.hostname);
  if (url === null || !(url.protocol === "https:" || (url.protocol === "http:" && isLoopback))) {
    throw new UamError("invalid", `The service's address must begin with https://: ${service}`);
  }
  return url;
}

const SYSTEM_CERTIFICATES = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

function readCertificates(path: string): string {
  try {
    const text = readFileSync(path, "utf8");
    if (text.includes("-----BEGIN CERTIFICATE-----")) return text;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new UamError("invalid", `The certificates cannot be read: ${why}`, { cause });
  }
  throw new UamError("invalid", `${path} holds no certificate in PEM format`);
}

function unsigned(response: Response, service: string): Unanswered {
  const { status } = response;
  const wait = retryAfterOf(response);
  const what = `${service} answered ${status}, and not in the service's name`;
  const why =
    status === 401 || status === 403
      ? "the host is not known there (any more), or something between changed the request"
      : "a proxy answered, or it is another service";
  return new Unanswered(`${what}: ${why}`, { status, wait });
}

async function readAll(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_ANSWER) throw new Unanswered("The answer is longer than any that the service gives");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parsed(content: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(content).toString("utf8"));
  } catch {
    return undefined;
  }
}

function retryAfterOf(response: Response): number | undefined {
  const text = response.headers.get("retry-after") ?? "";
  return /^\d{1,5}$/.test(text) ? Math.min(Number(text), 3600) : undefined;
}
