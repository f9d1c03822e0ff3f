/** The same requests to the service on Bun, on Deno and from the binary, each a real process: the answers must not differ. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { programs } from "../support/programs.ts";
import { BINARY } from "../support/service.ts";
import { isQuick } from "../support/thorough.ts";

const PASSWORD = "seven lanterns over cold water";

/** The binary exists after a build, and is required if the tests may change the host. */
const { binary, ...fromSource } = programs();
const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  ...fromSource,
  ...(existsSync(BINARY) || process.env.UAM_TEST_HOST === "1" ? { binary } : {}),
};

type Caller = "nobody" | "admin" | "user";

interface Step {
  readonly as: Caller;
  readonly route: string;
  readonly status: number;
  /** JSON unless it is text or bytes. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

function step(as: Caller, route: string, status: number, rest: Pick<Step, "body" | "headers"> = {}): Step {
  return { as, route, status, ...rest };
}

const login = { username: "root-admin", password: PASSWORD };
const alice = { username: "alice", email: "alice@example.org", purpose: "Größe ✓" };
const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGPKSUTyz1HwHReFVvD5obVsALAgJRNarH4TRpNePnAS alice@laptop";

/** In this order; ids count from 1 in a new database. */
const STEPS: readonly Step[] = [
  step("nobody", "GET /healthz", 200),
  step("nobody", "GET /healthz/", 200),
  step("nobody", "HEAD /healthz", 200),
  step("nobody", "GET /readyz", 200),
  step("nobody", "GET /openapi.json", 200),
  step("nobody", "GET /nothing", 404),
  step("nobody", "GET /users%2F1", 404),
  step("nobody", "PUT /healthz", 405, { body: {} }),
  step("nobody", "OPTIONS /users", 405),
  step("nobody", "GET /users?page=x", 401),
  step("nobody", "POST /users", 401, { body: "{broken" }),
  step("nobody", "POST /auth/admin/login", 400, { body: "{broken" }),
  step("nobody", "POST /auth/admin/login", 400, { body: "" }),
  step("nobody", "POST /auth/admin/login", 400, { body: new Uint8Array([0x22, 0xff, 0x22]) }),
  step("nobody", "POST /auth/admin/login", 400, { body: login, headers: { "content-type": "text/plain" } }),
  step("nobody", "POST /auth/admin/login", 400, { body: { username: "root-admin", password: null } }),
  step("nobody", "POST /auth/admin/login", 403, { body: login, headers: { origin: "https://evil.example" } }),
  step("nobody", "POST /auth/admin/login", 413, { body: { ...login, more: "x".repeat(70_000) } }),
  step("nobody", "POST /auth/admin/login", 413, { body: { ...login, more: "x".repeat(400_000) } }),
  step("nobody", "POST /auth/admin/login", 401, { body: { ...login, password: "a wrong password" } }),
  step("admin", "POST /auth/admin/login", 200, { body: login }),
  step("admin", "GET /auth/me", 200),
  step("admin", "POST /users", 201, { body: alice }),
  step("admin", "POST /users", 409, { body: alice }),
  step("admin", "POST /users", 400, { body: { ...alice, username: "ext_bob" } }),
  step("admin", "POST /users", 400, { body: { ...alice, username: "bob", ttl_days: 1.5 } }),
  step("admin", "GET /users?status=active&supervisor=", 200),
  step("admin", "GET /users?page=0", 400),
  step("admin", "GET /users?page=100000000000000000000", 200),
  step("admin", "GET /users?stauts=disabled", 400),
  step("admin", "GET /users?status=&page=", 200),
  step("admin", "POST /users", 400, { body: { ...alice, username: "bob", ttl: 1 } }),
  step("admin", "GET /users?page=2&page_size=1", 200),
  step("admin", "GET /users?status=gone", 400),
  step("admin", "GET /users/1", 200),
  step("admin", "GET /users/abc", 400),
  step("admin", "GET /users/99999999999999999999", 404),
  step("admin", "PATCH /users/1", 200, { body: { supervisor: "Bo Lindqvist" } }),
  step("admin", "POST /users/1/extend", 200),
  step("admin", "POST /users/1/disable", 413, { body: "x".repeat(400_000) }),
  step("admin", "POST /users/1/disable", 200),
  step("admin", "POST /users/1/enable", 200),
  step("admin", "POST /users/1/extend", 200, { body: { days: 0 } }),
  step("admin", "GET /me/keys", 403),
  step("user", "POST /auth/otp/login", 401, { body: { username: "alice", code: "00000000" } }),
  step("user", "POST /auth/otp/login", 200, { body: { username: "alice", code: "CODE" } }),
  step("user", "GET /users", 403),
  step("user", "POST /me/keys", 201, { body: { name: " laptop ", public_key: key } }),
  step("user", "POST /me/keys", 409, { body: { name: "again", public_key: key } }),
  step("user", "POST /me/keys", 400, { body: { name: "bad", public_key: "ssh-dss AAAA" } }),
  step("user", "PATCH /me/keys/1", 200, { body: { name: "büro" } }),
  step("user", "GET /me/keys", 200),
  step("user", "DELETE /me/keys/1", 200),
  step("user", "GET /me/audit?page_size=3", 200),
  step("admin", "GET /audit?since=2026-02-30T00:00:00Z", 400),
  step("admin", "GET /audit?page_size=100&until=2999-01-01t00:00:00%2B01:00", 200),
  step("admin", "HEAD /audit/export", 200),
  step("admin", "DELETE /users/1", 200),
  step("user", "GET /auth/me", 401),
  step("admin", "POST /auth/logout", 200),
  step("admin", "GET /auth/me", 401),
];

/** What clients may rely on. */
const HEADERS = ["content-type", "allow", "cache-control", "retry-after", "set-cookie", "x-content-type-options"];

interface Recorded {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | null>>;
  readonly body: unknown;
}

interface Service {
  readonly recorded: readonly Recorded[];
  readonly exitCode: number;
  readonly version: string;
}

/** A quick run starts one program: the answers are as they should be there, if not everywhere. */
const isStarted = (name: string) => name === "bun" || !isQuick;

const services = new Map<string, Service>();
const directory = mkdtempSync(join(tmpdir(), "uam-same-answers-"));

beforeAll(async () => {
  const started = Object.entries(PROGRAMS).filter(([name]) => isStarted(name));
  const runs = started.map(async ([name, program]) => services.set(name, await record(name, program)));
  await Promise.all(runs);
}, 180_000);
afterAll(() => rmSync(directory, { recursive: true, force: true }));

for (const name of Object.keys(PROGRAMS)) {
  describe.if(isStarted(name))(`uam serve on ${name}`, () => answersAsEverywhere(name));
}

function answersAsEverywhere(name: string): void {
  test.each(STEPS.map((entry, index) => [`${entry.route} by ${entry.as}, step ${index + 1}`, index] as const))(
    "%s answers as everywhere",
    (_, index) => {
      const recorded = services.get(name)?.recorded[index];
      expect(recorded?.status).toBe(STEPS[index]?.status as number);
      expect(recorded).toEqual(services.get("bun")?.recorded[index] as Recorded);
    },
  );

  test("says what it runs on, and exits 0 when told to stop", () => {
    expect(services.get(name)?.version).toContain(name === "deno" ? "deno " : "bun ");
    expect(services.get(name)?.exitCode).toBe(0);
  });
}

/** Runs the service, asks everything in order, stops it. */
async function record(name: string, program: readonly string[]): Promise<Service> {
  const database = await createTestDatabase();
  const environment = environmentOf(name, database);
  const run = (args: readonly string[], input = "") => runCommand([...program, ...args], environment, input);
  let service: Bun.Subprocess<"ignore", "ignore", "pipe"> | undefined;
  try {
    await run(["admin", "add", "root-admin", "--email", "root@example.org", "--password-stdin"], `${PASSWORD}\n`);
    service = Bun.spawn([...program, "serve"], { env: environment, stderr: "pipe", stdout: "ignore" });
    const base = `${await addressIn(service.stderr)}/api/v1`;
    const recorded: Recorded[] = [];
    const cookies = new Map<Caller, string>();
    for (const entry of STEPS) {
      const isCode = JSON.stringify(entry.body)?.includes('"CODE"') === true;
      const body = isCode ? { username: "alice", code: (await run(["otp", "alice"])).trim() } : entry.body;
      recorded.push(await ask(base, { ...entry, body }, cookies));
    }
    service.kill("SIGTERM");
    return { recorded, exitCode: await service.exited, version: await run(["version"]) };
  } finally {
    service?.kill("SIGKILL");
    await database.drop();
  }
}

async function ask(base: string, { as, route, body, headers }: Step, cookies: Map<Caller, string>): Promise<Recorded> {
  const [method = "", path = ""] = route.split(" ");
  const isRaw = typeof body === "string" || body instanceof Uint8Array;
  const response = await fetch(base + path, {
    method,
    headers: {
      ...(cookies.has(as) ? { cookie: cookies.get(as) ?? "" } : {}),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    body: body === undefined ? null : isRaw ? body : JSON.stringify(body),
  });
  const cookie = response.headers.get("set-cookie")?.split(";")[0];
  if (cookie !== undefined) cookies.set(as, cookie);
  const text = await response.text();
  const shown = HEADERS.map((name) => [name, mask(response.headers.get(name))] as const);
  expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  return { status: response.status, headers: Object.fromEntries(shown), body: mask(text) };
}

/** Without what differs from run to run: times, tokens, the runtime. */
function mask<T extends string | null>(text: T): T {
  return text
    ?.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replace(/(__Host-uam_session=)[\w-]{43}/g, "$1TOKEN")
    .replace(/"go":"\w+ [\d.]+"/, '"go":"RUNTIME"')
    .replace(/"uptime":\d+/, '"uptime":0') as T;
}

/** The test's server answers on a unix socket, which no URL can name: the driver takes it from PostgreSQL's own variables. */
function environmentOf(name: string, { connection }: TestDatabase): Record<string, string> {
  if ("url" in connection) throw new Error("The test database is not the embedded one");
  return {
    HOME: directory,
    PATH: process.env.PATH ?? "",
    DENO_NO_UPDATE_CHECK: "1",
    UAM_LISTEN: "127.0.0.1:0",
    UAM_DATA_DIR: join(directory, name),
    UAM_DATABASE_URL: `postgres:///${connection.database}`,
    PGHOST: connection.host,
    PGPORT: String(connection.port),
    PGUSER: connection.username,
  };
}

async function runCommand(argv: readonly string[], env: Record<string, string>, input: string): Promise<string> {
  const command = Bun.spawn([...argv], { env, stdin: new Blob([input]), stderr: "pipe" });
  const [out, err] = await Promise.all([command.stdout.text(), command.stderr.text()]);
  if ((await command.exited) !== 0) throw new Error(`${argv.join(" ")}: ${err}`);
  return out;
}

/** Reads on after the address, or the service would block on a full pipe. */
async function addressIn(stderr: ReadableStream<Uint8Array>): Promise<string> {
  const found = Promise.withResolvers<string>();
  let text = "";
  void (async () => {
    for await (const chunk of stderr) {
      text += new TextDecoder().decode(chunk);
      const address = /listening on (http:\S+?)\)/.exec(text)?.[1];
      if (address !== undefined) found.resolve(address);
    }
    found.reject(new Error(`The service ended: ${text}`));
  })();
  return await found.promise;
}
