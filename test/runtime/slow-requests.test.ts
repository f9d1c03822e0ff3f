/**
 * Requests that do not come whole, on every listener and to paths of every kind: their connections end. What is measured is the
 * service's own limit, which a test cannot shorten; only what never ends can reach the minute that is waited.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fleetSecrets } from "../../src/domain/wire/fleet-key.ts";
import { bunRuntime } from "../../src/runtime/bun.ts";
import type { RunningServer } from "../../src/runtime/runtime.ts";
import { createAgent, type Reach } from "../support/agent.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { joinToken } from "../support/fleet.ts";
import { testSlow } from "../support/thorough.ts";

setDefaultTimeout(180_000);

/** Milliseconds: a hang is what is still open then. */
const A_MINUTE = 60_000;

let app: TestApp;
let cookie: string;
let directory: string;
const servers: RunningServer[] = [];
const listeners: { readonly name: string; readonly at: { readonly path: string } | { readonly port: number } }[] = [];

beforeAll(async () => {
  app = await createTestApp();
  ({ cookie } = await app.admin());
  directory = mkdtempSync(join(tmpdir(), "uam-slow-"));
  const path = join(directory, "socket");
  const { fetch } = app.app;
  const tcp = await bunRuntime.serve({ listen: { kind: "tcp", hostname: "127.0.0.1", port: 0 }, fetch });
  servers.push(tcp, await bunRuntime.serve({ listen: { kind: "unix", path }, fetch }));
  listeners.push({ name: "tcp", at: { port: Number(new URL(tcp.address).port) } }, { name: "unix", at: { path } });
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop(0)));
  await app.close();
  rmSync(directory, { recursive: true });
});

interface Slow {
  readonly name: string;
  /** Lines of its head, and what of its body is sent at once. */
  readonly begins: string;
  /** What is sent each second from then on. */
  readonly drips?: string;
}

const post = (path: string, ...headers: readonly string[]) =>
  `POST /api/v1${path} HTTP/1.1\r\nHost: a\r\n${headers.map((header) => `${header}\r\n`).join("")}`;
const JSON_BODY = ["Content-Type: application/json", "Content-Length: 60000"];

function slowOnes(): readonly Slow[] {
  const session = `Cookie: ${cookie}`;
  const bodies = [
    ["nobody's body", post("/auth/admin/login", ...JSON_BODY)],
    ["nobody's body in chunks", post("/approvals", "Content-Type: application/json", "Transfer-Encoding: chunked")],
    ["an administrator's body", post("/users", session, ...JSON_BODY)],
    ["a body that the route does not take", post("/auth/logout", session, "Transfer-Encoding: chunked")],
    ["a body of an enrolment", post("/agent/enrol", ...JSON_BODY)],
    ["a body that says it is an agent's", post("/agent/report", "Authorization: UAM-Agent x", ...JSON_BODY)],
    [
      "a form",
      post("/auth/oidc/backchannel-logout", "Content-Type: application/x-www-form-urlencoded", "Content-Length: 999"),
    ],
  ] as const;
  const reads = ["/audit/export", "/agent/state?wait=60", "/agent/state", "/healthz", "/users", "/nowhere"];
  return [
    { name: "nothing at all", begins: "" },
    { name: "a line", begins: "GET /api/v1/audit/export HTTP/1.1\r\n" },
    { name: "headers that drip", begins: "GET /api/v1/audit/export HTTP/1.1\r\nHost: a\r\n", drips: "X: y\r\n" },
    ...reads.map((path) => ({
      name: `${path} without a session, then silence`,
      begins: `GET /api/v1${path} HTTP/1.1\r\nHost: a\r\n\r\n`,
    })),
    {
      name: "an agent's poll without a signature that holds",
      begins: `GET /api/v1/agent/state?wait=60 HTTP/1.1\r\nHost: a\r\nAuthorization: UAM-Agent x\r\n\r\n`,
    },
    ...bodies.flatMap(([name, head]): Slow[] => {
      const chunk = head.includes("chunked") ? "1\r\n{\r\n" : "{";
      return [
        { name: `${name}, one byte of it`, begins: `${head}\r\n${chunk}` },
        {
          name: `${name} that drips`,
          begins: `${head}\r\n${chunk}`,
          drips: head.includes("chunked") ? "1\r\n \r\n" : " ",
        },
      ];
    }),
  ];
}

/** Resolves once the service has closed the connection, with its name if it never does. */
async function stillOpen({ name, at }: (typeof listeners)[number], slow: Slow): Promise<string | undefined> {
  const closed = Promise.withResolvers<undefined>();
  const socket = connect(at as { readonly path: string });
  socket
    .on("error", () => {})
    .on("close", () => closed.resolve(undefined))
    .resume();
  socket.write(slow.begins);
  const dripping = setInterval(() => slow.drips !== undefined && socket.writable && socket.write(slow.drips), 1000);
  const patience = Promise.withResolvers<string>();
  const timer = setTimeout(() => patience.resolve(`${name}: ${slow.name}`), A_MINUTE);
  const answer = await Promise.race([closed.promise, patience.promise]);
  clearTimeout(timer);
  clearInterval(dripping);
  socket.destroy();
  return answer;
}

testSlow("every connection ends on which no request comes whole, by any path, on any listener", async () => {
  const left = await Promise.all(listeners.flatMap((at) => slowOnes().map((slow) => stillOpen(at, slow))));
  expect(left.filter((name) => name !== undefined)).toEqual([]);
});

testSlow("a body that does not come in time is answered with 408, and nothing is changed", async () => {
  const answers = await Promise.all(
    listeners.map(async ({ at }) => {
      const socket = connect(at as { readonly path: string });
      let answer = "";
      socket.on("data", (data) => {
        answer += String(data);
      });
      const closed = new Promise((resolve) => socket.on("close", resolve));
      socket.write(`${post("/users", `Cookie: ${cookie}`, ...JSON_BODY)}\r\n{"username":"slow"`);
      await closed;
      return answer;
    }),
  );
  for (const answer of answers) {
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toMatch(/^uam-error: request.too_slow\r$/im);
    expect(answer).toEndWith('{"error":"The request did not come whole within 30 seconds"}');
  }
  expect(await app.auditRows("user.create")).toEqual([]);
});

testSlow("an agent that was admitted waits for news longer than that, on a unix socket as long as it may", async () => {
  const service = fleetSecrets(app.services.seal).publicKey;
  const waited = await Promise.all(
    listeners.map(async ({ name, at }) => {
      const [origin, over] =
        "path" in at ? ["http://localhost", { unix: at.path }] : [`http://127.0.0.1:${at.port}`, {}];
      const reach: Reach = (target, init) => fetch(`${origin}/api/v1${target}`, { ...init, ...over });
      const agent = createAgent(reach, service, `waits-${name}`);
      expect((await agent.enrol(await joinToken(app))).status).toBe(201);
      await agent.state();
      const answer = await agent.ask("GET", `/agent/state?since=${agent.cursor}&wait=35`);
      return [name, answer.status, answer.signed];
    }),
  );
  expect(waited).toEqual(listeners.map(({ name }) => [name, 200, true]));
});
