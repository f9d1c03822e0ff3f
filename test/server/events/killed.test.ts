/** The service as a process, on Bun and on Deno: killed again and again while it delivers, and nothing is lost. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AUDIT_ACTIONS } from "../../../src/shared/product/audit-actions.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { programs } from "../../support/programs.ts";
import { type Receiver, startReceiver } from "../../support/receiver.ts";
import { type Service, startProgram } from "../../support/service.ts";
import { describeSlow } from "../../support/thorough.ts";
import { until } from "../../support/until.ts";

const PASSWORD = "seven lanterns over cold water";
const { bun, deno } = programs();

describeSlow.each([
  ["bun", bun],
  ["deno", deno],
])("the service on %s", (_name, program) => {
  let database: TestDatabase;
  let directory: string;
  let hook: Receiver;
  let file: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    directory = mkdtempSync(join(tmpdir(), "uam-killed-"));
    file = join(directory, "audit.jsonl");
    hook = await startReceiver();
    hook.delay = 5;
  });
  afterAll(async () => {
    await hook.close();
    await database.drop();
    rmSync(directory, { recursive: true, force: true });
  });

  function start(): Promise<Service> {
    const { connection } = database;
    if ("url" in connection) throw new Error("the test database is expected on a unix socket");
    return startProgram(program, directory, {
      UAM_DATABASE_URL: `postgres://${connection.username}@localhost/${connection.database}?host=${connection.host}&port=${connection.port}`,
      UAM_WEBHOOK_NETWORKS: "127.0.0.0/8",
      UAM_AUDIT_STREAM: `file:${file}`,
    });
  }

  const idsIn = (path: string): number[] =>
    existsSync(path)
      ? readFileSync(path, "utf8")
          .split("\n")
          .slice(0, -1)
          .map((line) => JSON.parse(line).id)
      : [];

  test("kill -9 between deliveries, three times: each record comes, in order; SIGHUP opens the file again", async () => {
    let service = await start();
    const options = ["--email", "root@example.org", "--password-stdin"];
    expect(service.run(["admin", "add", "root-admin", ...options], PASSWORD).status).toBe(0);
    const login = async () => {
      const answer = await service.call("POST", "/auth/admin/login", "", {
        username: "root-admin",
        password: PASSWORD,
      });
      if (answer.status !== 200) throw new Error(JSON.stringify(answer));
      return answer.cookie;
    };
    let cookie = await login();
    const made = await service.call("POST", "/webhooks", cookie, { url: hook.url, password: PASSWORD });
    expect(made.status).toBe(201);
    const first = (await service.call("GET", "/audit?page_size=1", cookie)).body.data.total;
    for (let round = 0; round < 3; round++) {
      const target = hook.requests.length + 15;
      for (let index = 0; index < 40; index++) {
        const purpose = `${round} ${index}`;
        const body = { username: `u${round}x${index}`, email: "u@example.org", purpose };
        expect((await service.call("POST", "/users", cookie, body)).status).toBe(201);
      }
      await until(() => hook.requests.length >= target);
      await service.stop("SIGKILL");
      service = await start();
      cookie = await login();
    }
    renameSync(file, `${file}.1`);
    process.kill(service.pid, "SIGHUP");
    await service.call("POST", "/users", cookie, { username: "last", email: "u@example.org" });
    const total = (await service.call("GET", "/audit?page_size=1", cookie)).body.data.total;
    await until(() => hook.ids.includes(total));
    await until(() => idsIn(file).includes(total));
    // That the log was read just now is a record of its own, which may have come already.
    const upToThen = (ids: readonly number[]) => [...new Set(ids)].filter((id) => id <= total);
    const told = upToThen(hook.ids);
    expect(told).toEqual(Array.from({ length: total - first + 1 }, (_, index) => first + index));
    const written = [...idsIn(`${file}.1`), ...idsIn(file)];
    expect(upToThen(written)).toEqual(Array.from({ length: total }, (_, index) => index + 1));
    for (const { json } of hook.requests) expect(AUDIT_ACTIONS).toContain(json.type);
    const { data } = (await service.call("GET", "/webhooks", cookie)).body;
    expect(data).toMatchObject({
      total: 1,
      items: [{ failing_since: null, last_error: "" }],
      stream: { target: `file:${file}`, last_error: "" },
    });
    expect(await service.stop()).toBe(0);
  }, 180_000);
});
