/** `GET /me/keys` with a session: the built binary compared with a bare Bun.serve and with Fastify and pg on Node.js. */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog } from "../../src/shared/log.ts";
import { openEmbeddedPostgres } from "../../src/store/postgres/embedded-postgres.ts";
import { freshKey } from "../support/keys.ts";
import { type Service, startService } from "../support/service.ts";
import { describeMachine, percentile } from "./bench.ts";
import { processorTime } from "./processor-time.ts";
import { KEYS, SESSION } from "./rivals/work.ts";

const SECONDS = 5;
const ROUNDS = 3;
const CONNECTIONS = 32;

/** How a service answers under load. */
export interface Figures {
  readonly rate: number;
  /** Milliseconds. */
  readonly p99: number;
  /** Microseconds of its processor time for each request, which other load on the machine hardly changes. */
  readonly cpu: number;
}

/** A process that answers, and a session there. */
export interface Subject {
  readonly origin: string;
  readonly pid: number;
  readonly cookie: string;
}

/** Prints requests per second and p99 of each, medians of three rounds in turns, and the ratios. */
export async function benchRequests(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "uam-bench-"));
  const service = await startService(directory, { UAM_LOG_LEVEL: "warn" });
  const shared = await openEmbeddedPostgres({ dataDir: join(directory, "data"), log: silentLog });
  const { host, port, username, database } = shared.connection;
  const job = { socket: `${host}/.s.PGSQL.${port}`, directory: host, username, database, session: SESSION, keys: KEYS };
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
    const subjects = {
      uam: { ...service, cookie },
      "bare Bun.serve": { ...(await start(process.execPath, "bare-bun.ts")), cookie },
      "Fastify, Node.js": { ...(await start("node", "fastify-pg.mjs")), cookie },
    };
    console.log(`\n## GET /me/keys with a session, ${CONNECTIONS} connections\n\n${describeMachine()}`);
    const figures = measure(subjects);
    for (const [name, { rate, p99, cpu }] of Object.entries(figures)) {
      console.log(
        `${name.padEnd(16)} ${Math.round(rate).toString().padStart(6)} requests/s   p99 ${p99.toFixed(2)} ms   ${cpu.toFixed(0)} us of CPU each`,
      );
    }
    const ratio = (rival: keyof typeof subjects) => (figures.uam.rate / figures[rival].rate).toFixed(2);
    console.log(
      `uam / bare Bun.serve ${ratio("bare Bun.serve")} (aim 0.8), uam / Fastify ${ratio("Fastify, Node.js")} (aim 2)`,
    );
  } finally {
    for (const child of rivals) child.kill();
    await shared.stop();
    await service.stop();
    rmSync(directory, { recursive: true, force: true });
  }
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

/** In turns, so that a slowdown of the machine affects all; medians of the rounds. */
export function measure<Name extends string>(
  subjects: Readonly<Record<Name, Subject>>,
  rounds = ROUNDS,
): Record<Name, Figures> {
  const names = Object.keys(subjects) as Name[];
  const runs = new Map<Name, Figures[]>(names.map((name) => [name, []]));
  for (const name of names) load(subjects[name], 1);
  for (let round = 0; round < rounds; round++) {
    for (const name of names) runs.get(name)?.push(load(subjects[name], SECONDS));
  }
  const median = (name: Name, pick: (figures: Figures) => number) => percentile((runs.get(name) ?? []).map(pick), 0.5);
  return Object.fromEntries(
    names.map((name) => [
      name,
      {
        rate: median(name, (run) => run.rate),
        p99: median(name, (run) => run.p99),
        cpu: median(name, (run) => run.cpu),
      },
    ]),
  ) as Record<Name, Figures>;
}

/** wrk (Debian package) from another process; throws if an answer was no success. */
function load({ origin, pid, cookie }: Subject, duration: number): Figures {
  const args = [
    "-t1",
    `-c${CONNECTIONS}`,
    `-d${duration}s`,
    "--latency",
    "-H",
    `Cookie: ${cookie}`,
    `${origin}/api/v1/me/keys`,
  ];
  const before = processorTime(pid);
  const text = execFileSync("wrk", args, { encoding: "utf8" });
  const spent = processorTime(pid) - before;
  if (/Non-2xx/.test(text)) throw new Error(`${origin} answered with failures:\n${text}`);
  const rate = Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1]);
  const [, value = "", unit = ""] = /99%\s+([\d.]+)(us|ms|s)/.exec(text) ?? [];
  const requests = Number(/(\d+) requests in/.exec(text)?.[1]);
  const cpu = spent / requests;
  return { rate, cpu, p99: Number(value) * ({ us: 0.001, ms: 1, s: 1000 }[unit] ?? Number.NaN) };
}
