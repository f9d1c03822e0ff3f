/** A service as an agent sees it: checks what agents sign, signs what it answers, and says what a test told it to. */

import { Buffer } from "node:buffer";
import { randomBytes, sign } from "node:crypto";
import type { Times } from "../../src/agent/hours.ts";
import type { AccountState, Enrolment, HostReport, HostState } from "../../src/protocol/fleet.ts";
import {
  challengeBytes,
  checkingKey,
  hashOf,
  isSignedBy,
  keyFingerprint,
  parseAuthorization,
  publicBytes,
  rotationBytes,
  signAnswer,
  signingKey,
} from "../../src/protocol/fleet-signature.ts";
import { isSignedBytes } from "../../src/protocol/signed-bytes.ts";

export interface FleetStub {
  readonly origin: string;
  readonly seed: Uint8Array;
  readonly token: string;
  /** What `uam host token` would print. */
  readonly line: string;
  /** The agent's key, once it has joined. */
  agentKey: Uint8Array;
  readonly reports: HostReport[];
  readonly enrolments: Enrolment[];
  readonly counters: number[];
  /** Each request as `METHOD target`. */
  readonly requests: string[];
  /** Changes what the host is told, and answers who waits. */
  tell(state: Partial<HostState>): void;
  /** What is still told with every answer. */
  next: Partial<HostState>;
  /** Instead of the usual answer to a request, if it gives one. */
  refuse: (
    method: string,
    target: string,
  ) => { readonly status: number; readonly headers?: Record<string, string> } | undefined;
  /** Changes an answer on its way. */
  tamper: (answer: Response, target: string) => Promise<Response> | Response;
  /** True: what was applied may be said with the request for the state, as to a service that knows the parameter. */
  takesApplied: boolean;
  /** What the service's clock is ahead by, in milliseconds. */
  clockOffset: number;
  /** True: requests reach nobody. */
  gone: boolean;
  copied: number;
  stop(): Promise<void>;
}

export const HOST_ID = 7;

/** A cursor of that number in the one history that there is. */
export function cursor(id: number): string {
  return `${id}.${"ab".repeat(32)}`;
}

export function toldAccount(overrides: Partial<AccountState> = {}): AccountState {
  return { name: "ext_alice", uid: 41_001, expire_at: "2031-03-04T12:00:00.000Z", open: true, keys: [], ...overrides };
}

/** The time of an agent whose clocks agree. */
export function timesAt(now: Date | number): Times {
  const time = Number(now);
  return { earliest: time, latest: time, areSure: true };
}

export function startFleetStub(port = 0): FleetStub {
  const seed = randomBytes(32);
  const key = signingKey(seed);
  const token = `uamj_${randomBytes(24).toString("base64url")}`;
  let counter = 0;
  let nonceAt = 0;
  let clock = 1000;
  let head = 1;
  let pending = true;
  let state: HostState = {
    ...{ cursor: cursor(1), lease_ms: 4 * 3_600_000, lease_ends: "logins", status: "active", full: true },
    ...{ cautious: false, accounts: [], removed: [], recorded_locks: [], end_sessions: "key" },
  };
  let waiters: (() => void)[] = [];
  const stub: FleetStub = {
    get origin() {
      return server.url.origin;
    },
    seed,
    token,
    get line() {
      return `${server.url.origin} ${token} ${keyFingerprint(publicBytes(key))}`;
    },
    agentKey: new Uint8Array(),
    reports: [],
    enrolments: [],
    counters: [],
    requests: [],
    next: {},
    refuse: () => undefined,
    tamper: (answer) => answer,
    takesApplied: false,
    gone: false,
    clockOffset: 0,
    copied: 0,
    tell: (change) => {
      head += 1;
      state = { ...state, full: false, accounts: [], removed: [], recorded_locks: [], cursor: cursor(head), ...change };
      pending = true;
      for (const waiter of waiters) waiter();
      waiters = [];
    },
    stop: async () => {
      for (const waiter of waiters) waiter();
      await server.stop(true);
    },
  };

  function signed(request: Uint8Array, status: number, body: unknown, headers: Record<string, string> = {}): Response {
    const text = JSON.stringify(status < 400 ? { data: body } : { error: body });
    const signature = signAnswer(key, request, status, Buffer.from(text));
    return new Response(text, {
      status,
      headers: { "content-type": "application/json", "uam-fleet-signature": signature, ...headers },
    });
  }
  const freshNonce = () => `${++clock}.${"c".repeat(43)}`;

  async function answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const target = `${url.pathname.replace(/^\/api\/v1/, "")}${url.search}`;
    const body = Buffer.from(await request.arrayBuffer());
    stub.requests.push(`${request.method} ${target}`);
    if (stub.gone) return new Response("bad gateway", { status: 502 });
    if (url.pathname.endsWith("/agent/key")) {
      const challenge = url.searchParams.get("challenge") ?? "";
      const signature = sign(null, challengeBytes(challenge), key).toString("base64");
      return Response.json({ data: { public_key: Buffer.from(publicBytes(key)).toString("base64"), signature } });
    }
    if (url.pathname.endsWith("/agent/enrol")) {
      const enrolment = JSON.parse(body.toString()) as Enrolment;
      const refusal = stub.refuse(request.method, target);
      if (refusal !== undefined) return signed(hashOf(body), refusal.status, "The token is not valid (any more)");
      if (enrolment.token !== token) return signed(hashOf(body), 401, "The token is not valid (any more)");
      stub.enrolments.push(enrolment);
      stub.agentKey = Buffer.from(enrolment.public_key, "base64");
      counter = 0;
      return signed(hashOf(body), 201, { host_id: HOST_ID, name: enrolment.name });
    }
    const said = parseAuthorization(request.headers.get("authorization") ?? "");
    const isOurs =
      said !== undefined &&
      said.host === HOST_ID &&
      isSignedBy(
        checkingKey(stub.agentKey),
        { method: request.method, target, body, host: said.host, counter: said.counter, nonce: said.nonce },
        said.signature,
      );
    if (!isOurs) return Response.json({ error: "not a host's signature" }, { status: 401 });
    const at = Number(said.nonce.split(".")[0] || -1);
    if (at < nonceAt || (at === nonceAt && said.counter <= counter)) {
      return signed(said.signature, 401, "stale", { "uam-nonce": freshNonce() });
    }
    if (said.counter <= counter) stub.copied += 1;
    counter = said.counter;
    nonceAt = at;
    stub.counters.push(counter);
    const refusal = stub.refuse(request.method, target);
    if (refusal !== undefined) return signed(said.signature, refusal.status, "not now", refusal.headers);
    if (target === "/agent/report") {
      stub.reports.push(JSON.parse(body.toString()) as HostReport);
      return signed(said.signature, 200, {}, { "uam-nonce": freshNonce() });
    }
    if (target === "/agent/rotate") {
      const { public_key, signature } = JSON.parse(body.toString());
      const next = Buffer.from(public_key, "base64");
      if (!isSignedBytes(next, rotationBytes(HOST_ID, stub.agentKey), signature)) {
        return signed(said.signature, 400, "not signed by the new key");
      }
      stub.agentKey = next;
      return signed(said.signature, 200, {}, { "uam-nonce": freshNonce() });
    }
    const since = url.searchParams.get("since");
    if (!pending && since === state.cursor) {
      const wait = Number(url.searchParams.get("wait")) * 1000;
      await new Promise<void>((resolve) => {
        waiters.push(resolve);
        setTimeout(resolve, wait);
      });
    }
    pending = false;
    const told = since === state.cursor ? { ...state, full: false, accounts: [], removed: [] } : state;
    const applied = stub.takesApplied ? (url.searchParams.get("applied") ?? undefined) : undefined;
    const now = new Date(Date.now() + stub.clockOffset).toISOString();
    return signed(said.signature, 200, { ...told, applied, now, ...stub.next }, { "uam-nonce": freshNonce() });
  }

  const server = Bun.serve({
    port,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: async (request) => {
      const target = new URL(request.url).pathname.replace(/^\/api\/v1/, "");
      const given = await answer(request);
      return await stub.tamper(given, target);
    },
  });
  return stub;
}
