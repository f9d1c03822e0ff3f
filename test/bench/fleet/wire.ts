/** HTTP/1.1 over one connection, one request at a time, with as little of it as an agent's answers need: thousands have to fit beside the service. */

import type { Socket } from "bun";
import type { WireAnswer, WireRequest } from "../../support/simulated-agent.ts";

export interface Wire {
  /** Connects where there is no connection; rejects where it ends before the answer. */
  readonly send: (request: WireRequest) => Promise<WireAnswer>;
  readonly close: () => void;
}

interface State {
  socket: Socket<State> | undefined;
  received: Buffer;
  /** What of a request the kernel has not taken yet. */
  unsent: Uint8Array;
  waiting: PromiseWithResolvers<WireAnswer> | undefined;
}

const NOTHING = Buffer.alloc(0);
const HANDLERS = {
  data(socket: Socket<State>, chunk: Buffer) {
    const state = socket.data;
    state.received = state.received.length === 0 ? Buffer.from(chunk) : Buffer.concat([state.received, chunk]);
    const answer = parse(state.received);
    if (answer === undefined) return;
    state.received = NOTHING;
    const { waiting } = state;
    state.waiting = undefined;
    waiting?.resolve(answer);
    if (answer.headers.connection?.toLowerCase() === "close") socket.end();
  },
  drain(socket: Socket<State>) {
    push(socket.data);
  },
  close: ended,
  error: ended,
  connectError: ended,
};

function ended(socket: Socket<State>): void {
  const state = socket.data;
  state.socket = undefined;
  state.received = NOTHING;
  state.unsent = NOTHING;
  state.waiting?.reject(new Error("the connection ended"));
  state.waiting = undefined;
}

/** A connection to the service, opened when it is needed. */
export function createWire({ hostname, port }: { readonly hostname: string; readonly port: number }): Wire {
  const state: State = { socket: undefined, received: NOTHING, unsent: NOTHING, waiting: undefined };
  return {
    send: async (request) => {
      state.socket ??= await Bun.connect({ hostname, port, data: state, socket: HANDLERS });
      const answer = Promise.withResolvers<WireAnswer>();
      state.waiting = answer;
      state.unsent = Buffer.from(textOf(request, `${hostname}:${port}`));
      push(state);
      return await answer.promise;
    },
    close: () => state.socket?.end(),
  };
}

function push(state: State): void {
  if (state.socket === undefined || state.unsent.length === 0) return;
  const written = state.socket.write(state.unsent);
  state.unsent = written < 0 ? NOTHING : state.unsent.subarray(written);
}

function textOf({ method, target, headers, body }: WireRequest, host: string): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = method === "POST" ? `content-length: ${Buffer.byteLength(body)}\r\n` : "";
  return `${method} /api/v1${target} HTTP/1.1\r\nhost: ${host}\r\n${lines.join("")}${length}\r\n${body}`;
}

/** The answer, once all of it is here. */
function parse(bytes: Buffer): WireAnswer | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const [first = "", ...lines] = bytes.toString("latin1", 0, end).split("\r\n");
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const from = end + 4;
  if (headers["transfer-encoding"] !== undefined) {
    const body = unchunk(bytes.subarray(from));
    return body === undefined ? undefined : { status: Number(first.split(" ")[1]), headers, body };
  }
  const length = Number(headers["content-length"] ?? 0);
  if (bytes.length < from + length) return undefined;
  return { status: Number(first.split(" ")[1]), headers, body: bytes.subarray(from, from + length) };
}

/** A chunked body, once all of it is here. */
function unchunk(bytes: Buffer): Uint8Array | undefined {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = bytes.indexOf("\r\n", at);
    if (end === -1) return undefined;
    const length = Number.parseInt(bytes.toString("latin1", at, end), 16);
    const next = end + 2 + length + 2;
    if (bytes.length < next) return undefined;
    if (length === 0) return Buffer.concat(parts);
    parts.push(bytes.subarray(end + 2, end + 2 + length));
    at = next;
  }
}
