import { afterAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProgram } from "../../../../src/cli/program.ts";
import { bunRuntime } from "../../../../src/runtime/bun.ts";
import { freePort } from "../../../support/port.ts";
import { needs } from "../../../support/tools.ts";

const directory = mkdtempSync(join(tmpdir(), "uam-health-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function check(variables: Record<string, string>, ...args: readonly string[]) {
  let stderr = "";
  const code = await runProgram(["healthcheck", ...args], {
    variables: { UAM_DATA_DIR: directory, ...variables },
    currentDirectory: directory,
    isRoot: false,
    invocation: "uam",
    operator: "olga",
    isTerminal: false,
    columns: undefined,
    runtime: bunRuntime,
    out: () => {},
    outStream: async () => {},
    err: (text) => {
      stderr += text;
    },
    readStandardInput: async () => "",
    ask: undefined,
    untilStopped: () => Promise.resolve(),
  });
  return { code, stderr };
}

function answer(request: Request): Response {
  return new Response(null, { status: new URL(request.url).pathname === "/api/v1/healthz" ? 200 : 404 });
}

describe("uam healthcheck", () => {
  test("asks on TCP, on the loopback if the service listens on all addresses", async () => {
    // Once it is stopped, nobody else answers there.
    const server = Bun.serve({ hostname: "127.0.0.1", port: await freePort(), idleTimeout: 0, fetch: answer });
    for (const host of ["127.0.0.1", "0.0.0.0", "localhost"]) {
      expect(await check({ UAM_LISTEN: `${host}:${server.port}` })).toEqual({ code: 0, stderr: "" });
    }
    await server.stop(true);
    const { code, stderr } = await check({ UAM_LISTEN: `127.0.0.1:${server.port}` });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^uam: The service does not answer at 127\.0\.0\.1:\d+: .*ECONNREFUSED.*\.\n$/);
  });

  test("asks on a unix socket", async () => {
    const path = join(directory, "uam.sock");
    const server = Bun.serve({ unix: path, fetch: answer });
    expect((await check({ UAM_LISTEN: `unix:${path}` })).code).toBe(0);
    await server.stop(true);
    expect((await check({ UAM_LISTEN: `unix:${path}` })).code).toBe(1);
  });

  test.if(needs("openssl"))("asks over https, whatever name the certificate is for", async () => {
    const [key, cert] = [join(directory, "key.pem"), join(directory, "cert.pem")];
    const options = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=uam.example.org"];
    const made = spawnSync("openssl", ["req", "-x509", ...options, "-days", "2", "-keyout", key, "-out", cert]);
    expect(made.status).toBe(0);
    const tls = { key: readFileSync(key), cert: readFileSync(cert) };
    const server = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 0, tls, fetch: answer });
    const variables = { UAM_LISTEN: `127.0.0.1:${server.port}`, UAM_TLS_CERT: cert, UAM_TLS_KEY: key };
    expect(await check(variables)).toEqual({ code: 0, stderr: "" });
    await server.stop(true);
  });

  test("a status other than 200 is a failure", async () => {
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      idleTimeout: 0,
      fetch: () => new Response(null, { status: 503 }),
    });
    expect((await check({ UAM_LISTEN: `127.0.0.1:${server.port}` })).stderr).toEndWith(": status 503.\n");
    await server.stop(true);
  });

  test("--wait asks until the service answers", async () => {
    const path = join(directory, "late.sock");
    const checked = check({ UAM_LISTEN: `unix:${path}` }, "--wait", "60s");
    await Bun.sleep(400);
    const server = Bun.serve({ unix: path, fetch: answer });
    expect((await checked).code).toBe(0);
    await server.stop(true);
  });
});
