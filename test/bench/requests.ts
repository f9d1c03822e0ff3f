/** The hot reads with a session: the built binary compared with a bare Bun.serve and with Fastify and pg on Node.js. */

import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { env } from "node:process";
import { isDeepStrictEqual } from "node:util";
import { sql } from "drizzle-orm";
import { silentLog } from "../../src/shared/log.ts";
import { type ConnectionOptions, openDatabase } from "../../src/store/client.ts";
import { openEmbeddedPostgres } from "../../src/store/postgres/embedded-postgres.ts";
import { freshKey } from "../support/keys.ts";
import { BINARY, type Service, startProgram } from "../support/service.ts";
import { describeMachine } from "./bench.ts";
import { CONNECTIONS, type Figures, measure, type Subject } from "./load.ts";
import { READS } from "./rivals/work.mjs";

/** Sessions of each kind: with a single one, a service could answer many requests with one look. */
const SESSIONS = 64;
const USERS = 1000;

/** Prints requests per second, p99 and processor time of each for each read, medians of rounds in turns, and the ratios. */
export async function benchRequests(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "uam-bench-"));
  // Another program may be measured instead, such as the sources: BENCH_PROGRAM="bun src/main.ts".
  const service = await startProgram((env.BENCH_PROGRAM ?? BINARY).split(" "), directory, { UAM_LOG_LEVEL: "warn" });
  const shared = await openEmbeddedPostgres({ dataDir: join(directory, "data"), log: silentLog });
  const { host, port, username, database } = shared.connection;
  const job = { socket: `${host}/.s.PGSQL.${port}`, directory: host, username, database };
  const postmaster = Number(readFileSync(join(directory, "data/postgres/data/postmaster.pid"), "utf8").split("\n")[0]);
  const rivals: ChildProcess[] = [];
  const start = async (command: string, script: string) => {
    const child = spawn(command, [join(import.meta.dir, "rivals", script), JSON.stringify(job)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    rivals.push(child);
    const origin = await new Promise<string>((resolve) =>
      child.stdout?.once("data", (text) => resolve(String(text).trim())),
    );
    return { origin, pid: child.pid ?? 0 };
  };
  try {
    const cookie = await prepare(service);
    // As many records as a page has.
    for (let change = 0; change < 20; change++) {
      await service.call("PATCH", "/me/keys/1", cookie, { name: `key ${change}` });
    }
    const cookies = await fill(shared.connection);
    const servers = {
      uam: service,
      "bare Bun.serve": await start(process.execPath, "bare-bun.ts"),
      "Fastify, Node.js": await start("node", "fastify-pg.mjs"),
    };
    console.log(`\n## Hot reads with one of ${SESSIONS} sessions, ${CONNECTIONS} connections\n\n${describeMachine()}`);
    for (const [path, read] of Object.entries(READS)) {
      const subjects = Object.fromEntries(
        Object.entries(servers).map(([name, { origin, pid }]) => [
          name,
          { origin, pid, cookies: cookies[read.for], path, database: postmaster },
        ]),
      ) as Record<keyof typeof servers, Subject>;
      await requireSameAnswers(Object.values(subjects));
      report(path, measure(subjects));
    }
  } finally {
    for (const child of rivals) child.kill();
    await shared.stop();
    await service.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

function report(path: string, figures: Record<"uam" | "bare Bun.serve" | "Fastify, Node.js", Figures>): void {
  console.log(`\nGET ${path}`);
  for (const [name, { rate, p99, cpu, databaseCpu }] of Object.entries(figures)) {
    console.log(
      `${name.padEnd(16)} ${Math.round(rate).toString().padStart(6)} requests/s   p99 ${p99.toFixed(2)} ms   ${cpu.toFixed(0)} us of CPU each, the database's ${databaseCpu.toFixed(0)} us`,
    );
  }
  const against = (rival: keyof typeof figures) =>
    `${(figures.uam.rate / figures[rival].rate).toFixed(2)} of the rate, ${(figures.uam.cpu / figures[rival].cpu).toFixed(2)} of the CPU`;
  console.log(`uam / bare Bun.serve: ${against("bare Bun.serve")}`);
  console.log(`uam / Fastify: ${against("Fastify, Node.js")} (aim 1.5)`);
}

/** Throws where one of them answers anything else: then they would not be doing the same work. */
async function requireSameAnswers(subjects: readonly Subject[]): Promise<void> {
  const [first, ...others] = await Promise.all(
    subjects.map(async ({ origin, cookies, path }) => {
      const response = await fetch(`${origin}/api/v1${path}`, { headers: { cookie: cookies[0] ?? "" } });
      return { origin, body: await response.json() };
    }),
  );
  const different = others.find(({ body }) => !isDeepStrictEqual(body, first?.body));
  if (different === undefined) return;
  throw new Error(
    `${different.origin} answers ${JSON.stringify(different.body)} instead of ${JSON.stringify(first?.body)}`,
  );
}

/** Makes a user with three keys; returns the cookie of a session. */
export async function prepare(service: Service): Promise<string> {
  const password = service.run(["admin", "add", "bench-admin", "--email", "a@example.org"]).stdout.trim();
  const admin = (await service.call("POST", "/auth/admin/login", "", { username: "bench-admin", password })).cookie;
  await service.call("POST", "/users", admin, { username: "bench", email: "b@example.org" });
  const code = service.run(["otp", "bench"]).stdout.trim();
  const { cookie } = await service.call("POST", "/auth/otp/login", "", { username: "bench", code });
  for (const name of ["one", "two", "three"]) {
    await service.call("POST", "/me/keys", cookie, { name, public_key: freshKey() });
  }
  return cookie;
}

/** Puts users, keys and sessions of users and of the administrator into the database; returns the cookies of the sessions. */
async function fill(connection: ConnectionOptions): Promise<Record<"user" | "admin", readonly string[]>> {
  const { db, close } = openDatabase(connection, 1);
  await db.execute(sql`
    insert into users (username, email, supervisor, purpose, expire_at, created_at, updated_at)
    select 'bench' || n, 'bench' || n || '@example.org', 'Bo Lindqvist', 'Maintenance of the build servers', now() + interval '90 days', now(), now()
    from generate_series(1, ${USERS}) n`);
  await db.execute(sql`
    insert into ssh_keys (user_id, name, type, bits, fingerprint, public_key, created_at)
    select u.id, k.name, k.type, k.bits, k.fingerprint || u.id, k.public_key, now()
    from users u, ssh_keys k where u.username like 'bench_%'`);
  const open = async (kind: "user" | "admin", source: string) => {
    const tokens = Array.from({ length: SESSIONS }, () => randomBytes(32).toString("base64url"));
    for (const [index, token] of tokens.entries()) {
      const hash = createHash("sha256").update(token).digest("hex");
      await db.execute(sql`
        insert into sessions (token_hash, user_type, principal_id, username, created_at, expires_at)
        select decode(${hash}, 'hex'), ${kind}, p.id, p.username, now(), now() + interval '1 day'
        from (select id, username from ${sql.raw(source)} order by id) p limit 1 offset ${kind === "user" ? index + 1 : 0}`);
    }
    return tokens.map((token) => `__Host-uam_session=${token}`);
  };
  const cookies = { user: await open("user", "users"), admin: await open("admin", "admins") };
  await db.execute("analyze users, ssh_keys, sessions");
  await close();
  return cookies;
}
