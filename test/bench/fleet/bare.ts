/** The floor of the fleet: signatures, waiting and answers on a bare Bun.serve, without database, routes, or any state but a counter. */

import { createHash } from "node:crypto";
import process from "node:process";
import { cursorOf, type HostState, parseCursor } from "../../../src/protocol/fleet.ts";
import {
  ANSWER_HEADER,
  checkingKey,
  isSignedBy,
  NONCE_HEADER,
  parseAuthorization,
  publicBytes,
  signAnswer,
  signingKey,
} from "../../../src/protocol/fleet-signature.ts";
import { simulatedKey } from "../../support/simulated-agent.ts";

const ROOT = "/api/v1";
const [first = 0, count = 0] = process.argv.slice(2).map(Number);
const key = signingKey(createHash("sha256").update("bare").digest());
const agents = new Map(
  Array.from({ length: count }, (_, index) => [first + index, checkingKey(simulatedKey(first + index).publicKey)]),
);
const waiting = new Map<number, (body: Uint8Array) => void>();
const confirmed = new Set<number>();
let changes = 0;

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 120,
  fetch: async (request) => {
    const target = request.url.slice(request.url.indexOf(ROOT) + ROOT.length);
    if (target === "/change") return change();
    if (target === "/confirmed") return new Response(String(confirmed.size));
    const body = request.method === "POST" ? await request.bytes() : new Uint8Array();
    const said = parseAuthorization(request.headers.get("authorization") ?? "");
    const agent = said === undefined ? undefined : agents.get(said.host);
    if (said === undefined || agent === undefined) return new Response(null, { status: 401 });
    if (!isSignedBy(agent, { ...said, method: request.method, target, body }, said.signature))
      return new Response(null, { status: 401 });
    const cursor = /[?&]applied=([^&]*)/.exec(target)?.[1] ?? "";
    if (parseCursor(cursor)?.id === changes) confirmed.add(said.host);
    const content =
      request.method === "POST"
        ? Buffer.from("{}")
        : await new Promise<Uint8Array>((resolve) => waiting.set(said.host, resolve));
    return new Response(content, {
      headers: {
        "content-type": "application/json",
        [NONCE_HEADER]: `${Date.now()}.nonce`,
        [ANSWER_HEADER]: signAnswer(key, said.signature, 200, content),
      },
    });
  },
});
const serviceKey = Buffer.from(publicBytes(key)).toString("base64");
process.stdout.write(JSON.stringify({ origin: server.url.origin, serviceKey }));

function change(): Response {
  changes++;
  confirmed.clear();
  const body = Buffer.from(JSON.stringify({ data: stateAfter(changes) }));
  const held = [...waiting.values()];
  waiting.clear();
  for (const answer of held) answer(body);
  return new Response(null, { status: 204 });
}

function stateAfter(id: number): HostState {
  return {
    cursor: cursorOf(id, new Uint8Array(32)),
    lease_ms: 14_400_000,
    lease_ends: "logins",
    status: "active",
    full: false,
    cautious: false,
    accounts: [{ name: "ext_bench", uid: 100_000, expire_at: "2027-01-01T00:00:00.000Z", open: true, keys: [] }],
    removed: [],
    recorded_locks: [],
    end_sessions: "key",
    applied: cursorOf(Math.max(1, id - 1), new Uint8Array(32)),
  };
}
