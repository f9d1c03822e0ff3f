/**
 * An agent without a host: it speaks the whole protocol and keeps what it is told in memory. The transport is the caller's, so that
 * one of them costs little and thousands can live in a process.
 */

import { createHash, type KeyObject } from "node:crypto";
import { hoursUntil, windowAt } from "../../src/agent/hours.ts";
import {
  AGENT_PROTOCOL,
  AGENT_ROUTES,
  type Cursor,
  type HostReport,
  type HostState,
  parseCursor,
} from "../../src/protocol/fleet.ts";
import {
  ANSWER_HEADER,
  authorize,
  isAnswerOf,
  NONCE_HEADER,
  publicBytes,
  signingKey,
} from "../../src/protocol/fleet-signature.ts";

/** What crosses the wire; header names in lower case. */
export interface WireRequest {
  readonly method: "GET" | "POST";
  /** Below the API's root. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
}

export interface SimulationOptions {
  readonly host: number;
  readonly key: KeyObject;
  /** The service's fleet key; undefined: answers are believed unchecked, which no real agent does. */
  readonly serviceKey: KeyObject | undefined;
  readonly cursor: Cursor;
  /** Throws where there is no answer. */
  readonly send: (request: WireRequest) => Promise<WireAnswer>;
  /** How long it lets the service hold a request, in seconds. */
  readonly wait: number;
  /** What applying a change takes, in milliseconds. */
  readonly applying: () => number;
  /** Whether it keeps hours, by `tick()`. */
  readonly hours?: boolean;
  /** Before it tries again after `failures` of them, in milliseconds. */
  readonly pause?: (failures: number) => number;
}

export interface SimulatedAgent {
  readonly host: number;
  /** What the host has: by account, its last state. */
  readonly accounts: ReadonlyMap<string, HostState["accounts"][number]>;
  readonly removed: readonly string[];
  cursor: Cursor;
  /** The record up to which the service has taken a report, and when it had answered, in milliseconds since 1970. */
  confirmedId: number;
  confirmedAt: number;
  /** When the last answer that told of a change came. */
  toldAt: number;
  /** When it last opened, and shut, an account with hours; 0: never. */
  openedAt: number;
  shutAt: number;
  /** States, reports, answers by status other than 200, connections that failed. */
  readonly counts: Record<string, number>;
  /** True: takes answers, and does nothing with them until it is false again. */
  hanging: boolean;
  /** Runs until `stop`; never throws. */
  run(): Promise<void>;
  /** What a real one does each second: follows the hours of its accounts. */
  tick(): void;
  stop(): void;
}

/** The key of the simulated host: the same in every process that knows the number. */
export function simulatedKey(host: number): { readonly key: KeyObject; readonly publicKey: Uint8Array } {
  const key = signingKey(createHash("sha256").update(`simulated host ${host}`).digest());
  return { key, publicKey: publicBytes(key) };
}

const EPOCH = 2 ** 32;
const NOTHING = new Uint8Array();

/** An agent that has just been started. */
export function createSimulatedAgent(options: SimulationOptions): SimulatedAgent {
  const { host, key, serviceKey, send, wait, applying, hours = false, pause = backoff } = options;
  const accounts = new Map<string, HostState["accounts"][number]>();
  const removed: string[] = [];
  /** Those with hours that are open. */
  const open = new Set<string>();
  let counter = EPOCH;
  let nonce = "";
  let stopped = false;
  const wake: { resume?: (() => void) | undefined } = {};
  const agent: SimulatedAgent = {
    host,
    accounts,
    removed,
    cursor: options.cursor,
    confirmedId: 0,
    confirmedAt: 0,
    toldAt: 0,
    openedAt: 0,
    shutAt: 0,
    counts: {},
    hanging: false,
    run,
    tick: followHours,
    stop: () => {
      stopped = true;
      wake.resume?.();
    },
  };
  return agent;

  async function run(): Promise<void> {
    let failures = 0;
    while (!stopped) {
      try {
        if (await step()) failures = 0;
        else await rest(pause(++failures));
      } catch {
        count("no answer");
        await rest(pause(++failures));
      }
      while (agent.hanging && !stopped) await rest(200);
    }
  }

  /** One round; false where the service refused. */
  async function step(): Promise<boolean> {
    const since = agent.cursor === "" ? "" : `since=${agent.cursor}&applied=${agent.cursor}&`;
    const said = hours ? `hours=${hoursUntil([...accounts.values()]) ?? "none"}&` : "";
    const answer = await call("GET", `${AGENT_ROUTES.state}?${since}${said}wait=${wait}`, "");
    if (answer === undefined || stopped || agent.hanging) return answer !== undefined;
    const { data: state }: { readonly data: HostState } = JSON.parse(new TextDecoder().decode(answer));
    count(state.full ? "full states" : "states");
    const isNews = state.full || state.accounts.length > 0 || state.removed.length > 0;
    if (isNews) {
      agent.toldAt = Date.now();
      await rest(applying());
      if (agent.hanging) return true;
    }
    if (state.full) accounts.clear();
    for (const account of state.accounts) accounts.set(account.name, account);
    for (const { name } of state.removed) {
      accounts.delete(name);
      removed.push(name);
    }
    followHours();
    agent.cursor = state.cursor;
    // As a real agent does: the next request says so.
    if (!isNews || (!state.full && state.applied !== undefined)) return true;
    const taken = await call("POST", AGENT_ROUTES.report, JSON.stringify(report()));
    if (taken === undefined) return false;
    count("reports");
    agent.confirmedId = parseCursor(state.cursor)?.id ?? 0;
    agent.confirmedAt = Date.now();
    return true;
  }

  function followHours(): void {
    if (!hours) return;
    const now = Date.now();
    const times = { earliest: now, latest: now, areSure: true };
    for (const account of accounts.values()) {
      if (account.hours === undefined) continue;
      const isOpen = account.open && windowAt(account.hours, times, undefined) !== undefined;
      if (isOpen === open.has(account.name)) continue;
      if (isOpen) open.add(account.name);
      else open.delete(account.name);
      setTimeout(() => {
        agent[isOpen ? "openedAt" : "shutAt"] = Date.now();
      }, applying());
    }
  }

  function report(): HostReport {
    return {
      cursor: agent.cursor,
      mode: "dry-run",
      version: "0.0.0",
      ssh: { host: "", port: 22, host_keys: [] },
      clock: new Date().toISOString(),
      problems: [],
      locks: [],
      holds: [],
    };
  }

  /** The body of a 200; undefined for any refusal, after which the caller rests. */
  async function call(method: "GET" | "POST", target: string, body: string): Promise<Uint8Array | undefined> {
    counter++;
    for (let attempt = 0; attempt < 3; attempt++) {
      const bytes = body === "" ? NOTHING : new TextEncoder().encode(body);
      const signed = { method, target, body: bytes, host, counter, nonce };
      const { header, signature } = authorize(signed, key);
      const headers = {
        authorization: header,
        "uam-agent-version": String(AGENT_PROTOCOL),
        ...(body === "" ? {} : { "content-type": "application/json" }),
      };
      const answer = await send({ method, target, headers, body });
      const proof = answer.headers[ANSWER_HEADER] ?? "";
      const { status, body: content } = answer;
      // Unsigned refusals tell only to wait.
      const isGenuine =
        proof !== "" &&
        (serviceKey === undefined ||
          isAnswerOf(serviceKey, { request: signature, status, body: content, signature: proof }));
      if (!isGenuine) {
        count(`unsigned ${status}`);
        return undefined;
      }
      nonce = answer.headers[NONCE_HEADER] ?? nonce;
      if (status === 200) return content;
      count(String(status));
      const after = Number(answer.headers["retry-after"]);
      if (after > 0) await rest(after * 1000 * (0.5 + Math.random()));
      if (status !== 401) return undefined;
    }
    return undefined;
  }

  function count(name: string): void {
    agent.counts[name] = (agent.counts[name] ?? 0) + 1;
  }

  async function rest(milliseconds: number): Promise<void> {
    if (milliseconds <= 0 || stopped) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      wake.resume = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** At random, so that thousands do not come back at once. */
function backoff(failures: number): number {
  return Math.random() * Math.min(60_000, 1000 * 2 ** Math.min(failures, 6));
}
