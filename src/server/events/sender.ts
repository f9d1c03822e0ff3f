/**
 * Sends messages to webhooks: each name is resolved once, what it resolves to is judged, and the connection goes to that very
 * address. Redirects are not followed.
 */

import { lookup } from "node:dns/promises";
import { Agent as PlainAgent, request as plainRequest, type RequestOptions } from "node:http";
import { Agent as SecureAgent, request as secureRequest } from "node:https";
import { Webhook } from "standardwebhooks";
import { literalOf, mayGoTo, whyNot } from "../../domain/events/address.ts";
import type { Message, Receiver, SendMessage } from "../../domain/events/message.ts";
import { type Clock, SECOND } from "../../shared/time/clock.ts";
import { VERSION } from "../../shared/version.ts";
import { auditRecord } from "../audit-records.ts";

/** From the resolution to the end of the answer. */
const TIMEOUT = 10 * SECOND;
/** Of an answer's body, which is of no interest. */
const MAX_ANSWER = 64 * 1024;
/** Addresses of one name that are tried. */
const MAX_ADDRESSES = 3;

export interface SenderOptions {
  /** Networks that are allowed besides public addresses. */
  readonly networks: readonly string[];
  readonly clock: Clock;
  /** All addresses of a name; by default as the host resolves names. */
  readonly resolve?: (name: string) => Promise<readonly string[]>;
  /** Certificates to verify receivers by, PEM; by default the public ones. */
  readonly ca?: string;
  /** Milliseconds for one message. */
  readonly timeout?: number;
}

export interface Sender {
  readonly send: SendMessage;
  /** Closes idle connections. */
  close(): void;
}

/** A sender. What it resolves and verifies is judged anew for each message. */
export function createSender(options: SenderOptions): Sender {
  const { resolve = addressesOf, timeout = TIMEOUT } = options;
  // A connection is kept for what follows at once; each belongs to one address and one name.
  const agents = {
    "https:": new SecureAgent({ keepAlive: true, timeout: TIMEOUT }),
    "http:": new PlainAgent({ keepAlive: true, timeout: TIMEOUT }),
  };
  async function send(to: Receiver, message: Message): Promise<string> {
    const url = new URL(to.url);
    const deadline = AbortSignal.timeout(timeout);
    try {
      const addresses = await allowedAddresses(url, options.networks, (name) => before(deadline, resolve(name)));
      if (typeof addresses === "string") return addresses;
      const body = bodyOf(message);
      const headers = headersOf(to, message, { body, now: options.clock.now(), host: url.host });
      return await tryAddresses(addresses, (address) => post(url, address, { headers, body, deadline }));
    } catch (error) {
      return deadline.aborted ? `There was no answer within ${timeout / SECOND} seconds` : explain(url, error);
    }
  }

  async function post(url: URL, address: string, { headers, body, deadline }: Post): Promise<string> {
    const secure = url.protocol === "https:";
    const options_: RequestOptions & { servername?: string; ca?: string } = {
      ...{ host: address, port: url.port || (secure ? 443 : 80), path: url.pathname + url.search },
      ...{ method: "POST", headers, agent: agents[secure ? "https:" : "http:"], signal: deadline },
      // A certificate for an address is verified against the address itself.
      ...(secure && literalOf(url) === undefined ? { servername: url.hostname } : {}),
      ...(options.ca === undefined ? {} : { ca: options.ca }),
    };
    const attempt = () => exchange(secure ? secureRequest : plainRequest, options_, body);
    try {
      return await attempt();
    } catch (error) {
      // The receiver closed a connection that was kept, just as it was used again.
      if (!isReset(error) || deadline.aborted) throw error;
      return await exchange(secure ? secureRequest : plainRequest, { ...options_, agent: false }, body);
    }
  }

  return {
    send,
    close() {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

interface Post {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly deadline: AbortSignal;
}

/** All addresses, in the system's order of preference (getaddrinfo(3)). */
async function addressesOf(name: string): Promise<readonly string[]> {
  const found = await lookup(name, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}

/** Those that the message may go to, or the sentence that says why there is none. */
async function allowedAddresses(
  url: URL,
  networks: readonly string[],
  resolve: (name: string) => Promise<readonly string[]>,
): Promise<readonly string[] | string> {
  const literal = literalOf(url);
  const secure = url.protocol === "https:";
  const all = literal === undefined ? await resolve(url.hostname) : [literal];
  const allowed = all.filter((address) => mayGoTo(address, { secure, networks }));
  if (allowed.length > 0) return allowed.slice(0, MAX_ADDRESSES);
  const [first] = all;
  return first === undefined ? `${url.hostname} has no address` : whyNot(first, secure);
}

/** The answer of the first address to which there is a connection. */
async function tryAddresses(addresses: readonly string[], post: (address: string) => Promise<string>): Promise<string> {
  let failure: unknown;
  for (const address of addresses) {
    try {
      return await post(address);
    } catch (error) {
      failure = error;
      if (!isUnreachable(error)) break;
    }
  }
  throw failure;
}

function bodyOf({ type, at, about }: Message): string {
  const data = "record" in about ? auditRecord(about.record) : { webhook_id: about.webhookId };
  return JSON.stringify({ type, timestamp: at.toISOString(), data });
}

function headersOf(
  { secret }: Receiver,
  { id }: Message,
  { body, now, host }: { readonly body: string; readonly now: Date; readonly host: string },
): Readonly<Record<string, string>> {
  return {
    host,
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    "user-agent": `uam/${VERSION}`,
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(now.getTime() / SECOND)),
    "webhook-signature": new Webhook(secret, { format: "raw" }).sign(id, now, body),
  };
}

/** The receiver's refusal as a sentence; "" if it took the message. */
function exchange(request: typeof plainRequest, options: RequestOptions, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(options, (answer) => {
      const { statusCode = 0 } = answer;
      // The status decides; the rest is read only so that the connection can be used again.
      const done = () => resolve(judge(statusCode));
      let bytes = 0;
      answer.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= MAX_ANSWER) return;
        answer.destroy();
        done();
      });
      answer.on("end", done);
      answer.on("close", done);
      answer.on("error", done);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

function judge(status: number): string {
  if (status >= 200 && status < 300) return "";
  const redirects = status >= 300 && status < 400 ? ", a redirect; those are not followed" : "";
  return `The receiver answered ${status}${redirects}`;
}

/** Resolves or rejects as the promise does, and rejects at the deadline. */
function before<T>(deadline: AbortSignal, promise: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  deadline.addEventListener("abort", () => reject(deadline.reason), { once: true });
  return Promise.race([promise, late]);
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

function isReset(error: unknown): boolean {
  return ["ECONNRESET", "EPIPE", "ConnectionClosed"].includes(codeOf(error));
}

function isUnreachable(error: unknown): boolean {
  return ["ECONNREFUSED", "ENETUNREACH", "EHOSTUNREACH", "EADDRNOTAVAIL", "ConnectionRefused"].includes(codeOf(error));
}

const EXPLAINED: Readonly<Record<string, string>> = {
  ECONNREFUSED: "refuses connections",
  ConnectionRefused: "refuses connections",
  ECONNRESET: "closed the connection without an answer",
  EPIPE: "closed the connection without an answer",
  ConnectionClosed: "closed the connection without an answer",
  ENETUNREACH: "cannot be reached from here",
  EHOSTUNREACH: "cannot be reached from here",
};

/** Never with anything that the receiver sent. */
function explain({ host, hostname }: URL, error: unknown): string {
  const code = codeOf(error);
  if (/^(ENOTFOUND|EAI_|ENODATA|DNS_)/.test(code)) return `The name ${hostname} cannot be resolved (${code})`;
  const known = EXPLAINED[code];
  if (known !== undefined) return `${host} ${known}`;
  if (/CERT|TLS|SSL|SIGNATURE|ISSUER/.test(code)) return `The certificate of ${host} is not accepted (${code})`;
  return `${host} did not take it${code === "" ? "" : ` (${code})`}`;
}
