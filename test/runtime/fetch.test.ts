/** src/fetch.ts behind the servers of Bun and Deno themselves, on a PostgreSQL of its own. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../support/port.ts";
import { type PostgresNodes, startPostgresNodes } from "../support/postgres-nodes.ts";
import { programs } from "../support/programs.ts";
import { describeSlow } from "../support/thorough.ts";
import { until } from "../support/until.ts";

// Deno finds packages from where it is started.
const PROJECT = join(import.meta.dir, "../..");
const HANDLER = join(PROJECT, "src/fetch.ts");
const PASSWORD = "seven lanterns over cold water";
const { bun, deno } = programs();

const SERVERS: Readonly<Record<string, (port: string) => readonly string[]>> = {
  bun: () => [bun[0] ?? "", HANDLER],
  deno: (port) => [
    deno[0] ?? "",
    "serve",
    "--allow-all",
    "--no-prompt",
    "--host",
    "127.0.0.1",
    "--port",
    port,
    HANDLER,
  ],
};

describeSlow.each(Object.keys(SERVERS))("the fetch handler behind %s", (name) => {
  let nodes: PostgresNodes;
  let directory: string;
  beforeAll(async () => {
    nodes = await startPostgresNodes(0, { fsync: "off" });
    directory = mkdtempSync(join(tmpdir(), "uam-fetch-"));
  }, 180_000);
  afterAll(async () => {
    await nodes.close();
    rmSync(directory, { recursive: true, force: true });
  });

  test("is the whole service: knows the caller's address, and ends when it is told to", async () => {
    const port = String(await freePort());
    const base = `http://127.0.0.1:${port}`;
    const env = {
      ...{ PATH: process.env.PATH ?? "", HOME: directory, PORT: port, HOST: "127.0.0.1" },
      ...{
        UAM_DATABASE_URL: nodes.url("", nodes.nodes),
        UAM_DATA_DIR: directory,
        UAM_BASE_URL: base,
        UAM_CONSOLE: "off",
      },
    };
    const server = Bun.spawn([...(SERVERS[name]?.(port) ?? [])], {
      env,
      cwd: PROJECT,
      stdout: "ignore",
      stderr: "pipe",
    });
    const said = new Response(server.stderr).text();
    const call = async (path: string, body?: unknown, cookie = "") => {
      const headers = { "Content-Type": "application/json", Cookie: cookie };
      const init = body === undefined ? { headers } : { headers, method: "POST", body: JSON.stringify(body) };
      return await fetch(`${base}/api/v1${path}`, init);
    };
    await until(
      async () =>
        server.exitCode !== null ||
        (await call("/readyz").then(
          ({ ok }) => ok,
          () => false,
        )),
    );
    const add = ["admin", "add", "chief", "--email", "chief@example.org", "--password-stdin"];
    const adding = Bun.spawn([...bun, ...add], { env, cwd: PROJECT, stdin: Buffer.from(`${PASSWORD}\n`) });
    expect(await adding.exited).toBe(0);
    const login = await call("/auth/admin/login", { username: "chief", password: PASSWORD });
    const cookie = (login.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    expect((await call("/users", { username: "alice", email: "alice@example.org" }, cookie)).status).toBe(201);
    const { data } = (await (await call("/audit?action=user.create", undefined, cookie)).json()) as {
      readonly data: { readonly items: readonly unknown[] };
    };
    expect(data.items).toMatchObject([{ actor: "chief", ip: "127.0.0.1" }]);
    server.kill("SIGTERM");
    expect({ code: await server.exited, said: await said }).toEqual({
      code: 0,
      said: expect.stringContaining("stopped"),
    });
  }, 180_000);

  test("says what is missing", async () => {
    const port = String(await freePort());
    const env = { PATH: process.env.PATH ?? "", HOME: directory, UAM_DATA_DIR: directory };
    const server = Bun.spawn([...(SERVERS[name]?.(port) ?? [])], {
      env,
      cwd: PROJECT,
      stdout: "ignore",
      stderr: "pipe",
    });
    expect(await new Response(server.stderr).text()).toContain("UAM_BASE_URL must be set");
    expect(await server.exited).not.toBe(0);
  }, 180_000);
});
