/** An agent that signs as the protocol says, and does what its test wants: it has no host, and remembers what it was told. */

import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import type { Enrolled, Enrolment, HostReport, HostState } from "../../src/protocol/fleet.ts";
import {
  ANSWER_HEADER,
  authorize,
  checkingKey,
  hashOf,
  isAnswerOf,
  NONCE_HEADER,
  publicBytes,
  rotationBytes,
} from "../../src/protocol/fleet-signature.ts";

/** The service, whichever way it is reached: what a request to its API's root is answered. */
export type Reach = (target: string, init: RequestInit) => Promise<Response>;

export interface AgentAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Below `data`, or undefined. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly data: any;
  readonly error: string;
  /** Whether the service signed it, for this very request. */
  readonly signed: boolean;
}

/** What of a request is not as an agent would have it. */
export interface Twist {
  readonly host?: number;
  readonly counter?: number;
  readonly nonce?: string;
  readonly key?: KeyObject;
  readonly signal?: AbortSignal;
  readonly headers?: Record<string, string>;
}

export interface TestAgent {
  id: number;
  name: string;
  key: KeyObject;
  nonce: string;
  counter: number;
  cursor: string;
  /** What it says of how long its host stays open; undefined as older agents do. */
  held: string | undefined;
  /** Until when it says that it knows hours; undefined as older agents do. */
  hours: string | undefined;
  /** Whether it says that it holds profiles; older agents do not. */
  profiles: boolean;
  /** Asks as it is; a stale nonce is not asked again. */
  once(method: string, target: string, body?: unknown, twist?: Twist): Promise<AgentAnswer>;
  /** Asks as an agent does: again with a fresh nonce, and with a higher counter each time else. */
  ask(method: string, target: string, body?: unknown, twist?: Twist): Promise<AgentAnswer>;
  enrol(token: string, more?: Partial<Enrolment>): Promise<AgentAnswer>;
  /** Takes the state, and the cursor with it; throws for any other answer. */
  state(wait?: number, twist?: Twist): Promise<HostState>;
  /** Reports what it was told as applied. */
  report(more?: Partial<HostReport>): Promise<AgentAnswer>;
  rotate(): Promise<AgentAnswer>;
}

export function freshAgentKey(): KeyObject {
  return generateKeyPairSync("ed25519").privateKey;
}

const SSH = { host: "web1.example.org", port: 22, host_keys: [] };

/** An agent that has not joined yet; `fleetKey` is what it checks the service's answers with. */
export function createAgent(reach: Reach, fleetKey: Uint8Array, name = "web1"): TestAgent {
  const checking = checkingKey(fleetKey);

  async function send(target: string, init: RequestInit, over: Uint8Array): Promise<AgentAnswer> {
    const response = await reach(target, init);
    const bytes = new Uint8Array(await response.arrayBuffer());
    const signature = response.headers.get(ANSWER_HEADER) ?? "";
    const body = bytes.length === 0 ? {} : JSON.parse(new TextDecoder().decode(bytes));
    const { status, headers } = response;
    const signed = isAnswerOf(checking, { request: over, status, body: bytes, signature });
    return { status, headers, data: body.data, error: body.error ?? "", signed };
  }

  const agent: TestAgent = {
    id: 0,
    name,
    key: freshAgentKey(),
    nonce: "",
    counter: 2 ** 32,
    cursor: "",
    held: undefined,
    hours: undefined,
    profiles: false,
    once: async (method, target, body, twist = {}) => {
      const text = body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body);
      const bytes = Buffer.from(text);
      const { host = agent.id, counter = agent.counter, nonce = agent.nonce, key = agent.key } = twist;
      const { header, signature } = authorize({ method, target, body: bytes, host, counter, nonce }, key);
      const init = {
        method,
        headers: {
          authorization: header,
          "uam-agent-version": "1",
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...twist.headers,
        },
        ...(body === undefined ? {} : { body: text }),
        ...(twist.signal === undefined ? {} : { signal: twist.signal }),
      };
      const answer = await send(target, init, signature);
      const fresh = answer.headers.get(NONCE_HEADER);
      if (answer.signed && fresh !== null && twist.host === undefined) agent.nonce = fresh;
      return answer;
    },
    ask: async (method, target, body, twist) => {
      agent.counter++;
      for (let attempt = 1; ; attempt++) {
        const answer = await agent.once(method, target, body, twist);
        if (answer.status !== 401 || !answer.signed || attempt === 3) return answer;
      }
    },
    enrol: async (token, more) => {
      const enrolment: Enrolment = {
        ...{ token, name, public_key: Buffer.from(publicBytes(agent.key)).toString("base64") },
        ...{ mode: "direct", version: "0.0.0-test", ssh: SSH, highest_uid: 0, ...more },
      };
      const text = JSON.stringify(enrolment);
      const init = { method: "POST", headers: { "content-type": "application/json" }, body: text };
      const answer = await send("/agent/enrol", init, hashOf(Buffer.from(text)));
      if (answer.status === 201) ({ host_id: agent.id, name: agent.name } = answer.data as Enrolled);
      return answer;
    },
    state: async (wait = 0, twist) => {
      const held = agent.held === undefined ? "" : `&held=${agent.held}`;
      const hours = agent.hours === undefined ? "" : `&hours=${agent.hours}`;
      const target = `/agent/state?since=${agent.cursor}&wait=${wait}${held}${hours}${agent.profiles ? "&profiles=1" : ""}`;
      const answer = await agent.ask("GET", target, undefined, twist);
      if (answer.status !== 200 || !answer.signed) throw new Error(`state: ${answer.status} ${answer.error}`);
      const state: HostState = answer.data;
      agent.cursor = state.cursor;
      return state;
    },
    report: (more) => {
      const report: HostReport = {
        ...{ cursor: agent.cursor, mode: "direct", version: "0.0.0-test", ssh: SSH },
        ...{ clock: new Date().toISOString(), problems: [], locks: [], holds: [], ...more },
      };
      return agent.ask("POST", "/agent/report", report);
    },
    rotate: async () => {
      const next = freshAgentKey();
      const signature = sign(null, rotationBytes(agent.id, publicBytes(agent.key)), next).toString("base64");
      const body = { public_key: Buffer.from(publicBytes(next)).toString("base64"), signature };
      const answer = await agent.ask("POST", "/agent/rotate", body);
      if (answer.status === 200) agent.key = next;
      return answer;
    },
  };
  return agent;
}
