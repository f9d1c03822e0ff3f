/** Requests that no library sends, written to the socket of a running server byte by byte. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { connect } from "node:net";
import { bunRuntime } from "../../src/runtime/bun.ts";
import type { RunningServer } from "../../src/runtime/runtime.ts";
import type { LogFields } from "../../src/shared/log.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { until } from "../support/until.ts";

const errors: (LogFields | undefined)[] = [];

let app: TestApp;
let server: RunningServer;

beforeAll(async () => {
  app = await createTestApp({}, { error: (_message, fields) => void errors.push(fields) });
  const listen = { kind: "tcp", hostname: "127.0.0.1", port: 0 } as const;
  server = await bunRuntime.serve({ listen, fetch: app.app.fetch });
});
afterAll(async () => {
  await server.stop(0);
  await app.close();
});

/** Everything that the server answers to the lines, until it closes the connection. */
async function send(...lines: readonly string[]): Promise<string> {
  const socket = connect(Number(new URL(server.address).port), "127.0.0.1");
  let answer = "";
  socket.setEncoding("utf8").on("data", (text: string) => {
    answer += text;
  });
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  await once(socket, "close");
  return answer;
}

describe("serve()", () => {
  test.each([
    ["HTTP/1.0 without a Host, as health checks ask", "HTTP/1.0", []],
    ["an empty Host", "HTTP/1.1", ["Host:"]],
    ["a host and port", "HTTP/1.1", ["Host: uam.example.org:8443"]],
    ["an IPv6 address", "HTTP/1.1", ["Host: [::1]:8443"]],
  ])("answers %s", async (_name, version, headers) => {
    const answer = await send(`GET /api/v1/healthz ${version}`, ...headers, "Connection: close");
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toContain('"status":"ok"');
  });

  test.each(["a b", "a/b", "[::1", "user@host", "x/y?z#w", "a\\b"])(
    "answers the invalid Host %p with 400",
    async (host) => {
      for (const path of ["/api/v1/healthz", "/api/v1/users/1", "/nowhere"]) {
        const answer = await send(`GET ${path} HTTP/1.1`, `Host: ${host}`, "Connection: close");
        expect(answer).toMatch(/^HTTP\/1\.1 400 /);
        expect(answer.toLowerCase()).toContain("x-request-id: ");
        expect(answer).toEndWith('{"error":"The Host header does not name a host"}');
      }
      expect(errors).toEqual([]);
    },
  );

  test.each([
    ["a declared body that never comes", "Content-Length: 1000000000000\r\n\r\n"],
    ["a body without an end", `Transfer-Encoding: chunked\r\n\r\n11170\r\n${"x".repeat(70_000)}\r\n`],
  ])("refuses %s with 413, unread, on a route that takes none", async (_name, rest) => {
    const { cookie } = await app.admin();
    const socket = connect(Number(new URL(server.address).port), "127.0.0.1");
    socket.write(`POST /api/v1/auth/logout HTTP/1.1\r\nHost: a\r\nCookie: ${cookie}\r\n${rest}`);
    let answer = "";
    // It may come in parts, and the service may break off what is still being sent.
    socket
      .on("error", () => {})
      .setEncoding("utf8")
      .on("data", (text: string) => {
        answer += text;
      });
    await until(() => answer.endsWith("}"));
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toEndWith('{"error":"The body is larger than 65536 bytes"}');
    socket.destroy();
  });

  test("answers HEAD on an export without a length, and keeps no slot for it", async () => {
    const { cookie } = await app.admin();
    const head = (path: string) => send(`HEAD ${path} HTTP/1.1`, "Host: a", `Cookie: ${cookie}`, "Connection: close");
    // More than may run at once.
    const answers = await Promise.all(Array.from({ length: 5 }, () => head("/api/v1/audit/export")));
    for (const answer of answers) {
      expect(answer).toMatch(/^HTTP\/1\.1 200 /);
      expect(answer).toContain("text/csv; charset=utf-8");
      expect(answer.toLowerCase()).not.toContain("content-length");
      expect(answer).toEndWith("\r\n\r\n");
    }
    expect(await head("/api/v1/audit/export?since=x")).toMatch(/^HTTP\/1\.1 400 /);
    expect((await head("/api/v1/auth/me")).toLowerCase()).toMatch(/content-length: [1-9]/);
  });

  test("does not treat a client that leaves in the middle of a body as a fault", async () => {
    const answered = Promise.withResolvers<number>();
    const observed = await bunRuntime.serve({
      listen: { kind: "tcp", hostname: "127.0.0.1", port: 0 },
      fetch: async (request, peer) => {
        const response = await app.app.fetch(request, peer);
        answered.resolve(response.status);
        return response;
      },
    });
    const socket = connect(Number(new URL(observed.address).port), "127.0.0.1");
    const head = "POST /api/v1/auth/admin/forgot HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";
    socket.write(`${head}Content-Length: 50\r\n\r\n{"username":`);
    await once(socket, "connect");
    setTimeout(() => socket.destroy(), 100);
    expect(await answered.promise).toBe(400);
    expect(errors).toEqual([]);
    await observed.stop(0);
  });
});
