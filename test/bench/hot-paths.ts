/**
 * What is asked of the service most, and what an administrator waits for: its processor time, the database's and that of every
 * command included, beside a floor that does the bare work, in turns. Both grow alike on a slower or a busier machine, so that
 * their ratio says something about the program. Key changes are made in direct mode, so they need root.
 */

import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { silentLog } from "../../src/shared/log.ts";
import { openEmbeddedPostgres } from "../../src/store/postgres/embedded-postgres.ts";
import { freshKey } from "../support/keys.ts";
import { type Service, startProgram } from "../support/service.ts";
import { percentile, timed } from "./bench.ts";
import { fillAudit } from "./fill-audit.ts";
import { treeTime } from "./processor-time.ts";
import { makeTakers, removeTakers, takersFor, turnsOf } from "./turns.ts";

const RECORDS = 200_000;
const USERS = 2000;
/** So many that the hundredths of a second, in which the kernel counts commands that have ended, say something. */
const CHANGES = 90;
const LISTS = 2000;
const PAGES = 1000;
const CLIENTS = 8;
const WARM_UP = 2;
/** Letters of a service's log that are shown. */
const LOG_END = 2000;
const EXPORTS = 3;

export const PATHS = ["GET /me/keys", "GET /audit", "export", "key upload", "revocation"] as const;
export type HotPath = (typeof PATHS)[number];

/** One operation on a path: microseconds of processor time, and milliseconds until the next. */
interface Cost {
  readonly processor: number;
  readonly time: number;
}

/** What answers on the paths. */
interface Subject {
  readonly origin: string;
  readonly user: string;
  readonly admin: string;
  /** The session that the next key is uploaded with. */
  readonly nextUser: () => string;
  /** The processes that work for it. */
  readonly pids: readonly number[];
  readonly keys: { readonly id: number; readonly user: string }[];
}

/** A binary under a name. */
export interface Candidate {
  readonly name: string;
  readonly binary: string;
}

/** A path over all rounds: means, and what compares two candidates as medians of the rounds. */
export interface Figures {
  readonly path: HotPath;
  /** Microseconds for one operation, of the floor and of each candidate in their order. */
  readonly floor: number;
  readonly own: readonly number[];
  /** What the floor takes of each candidate's processor time: 1 would be as cheap as it can be. */
  readonly ratios: readonly number[];
  /** What the first candidate takes of the second's processor time, and of its time; NaN if there is no second. */
  readonly processor: number;
  readonly time: number;
}

/** Measures the candidates on these paths, `rounds` times in turns with the floor. */
export async function measureHotPaths(
  candidates: readonly Candidate[],
  rounds: number,
  paths: readonly HotPath[] = pathsHere(),
): Promise<readonly Figures[]> {
  const cleanUps: CleanUp[] = [];
  try {
    const services: Started[] = [];
    for (const [index, candidate] of candidates.entries()) {
      const uploads = (WARM_UP + rounds) * CHANGES;
      services.push(await startCandidate(candidate, { index, users: takersFor(uploads) }, cleanUps));
    }
    const [first] = services;
    if (first === undefined) throw new Error("there is nothing to measure");
    const floor = await startFloor(first);
    cleanUps.push(floor.stop);
    return await measure([floor.subject, ...services.map(({ subject }) => subject)], rounds, paths);
  } finally {
    // One that fails must not hide what went wrong before, nor keep the others from being done.
    for (const cleanUp of cleanUps.reverse()) await Promise.resolve(cleanUp()).catch((error) => console.error(error));
  }
}

/** All of them, but for key changes where nobody may make accounts. */
export function pathsHere(): readonly HotPath[] {
  return isRoot() ? PATHS : PATHS.filter((path) => path !== "key upload" && path !== "revocation");
}

async function measure(subjects: readonly Subject[], rounds: number, paths: readonly HotPath[]) {
  const costs = new Map(paths.map((path) => [path, subjects.map((): Cost[] => [])]));
  // The first rounds are for compiled code and prepared statements.
  for (let round = -WARM_UP; round < rounds; round++) {
    for (const path of paths) {
      for (const [index, subject] of subjects.entries()) {
        // Measured alone, it needs keys all the same.
        if (path === "revocation" && !paths.includes("key upload")) await OPERATIONS["key upload"](subject);
        const cost = await costOf(subject, path);
        if (round >= 0) costs.get(path)?.[index]?.push(cost);
      }
    }
    // Where uploads are measured alone, their keys are in the way of the next round.
    for (const subject of subjects) await OPERATIONS.revocation(subject);
  }
  return paths.map((path): Figures => {
    const [floor = [], ...own] = costs.get(path) ?? [];
    const [one = [], other = []] = own;
    return {
      path,
      floor: mean(processors(floor)),
      own: own.map((runs) => mean(processors(runs))),
      ratios: own.map((runs) => mean(processors(floor)) / mean(processors(runs))),
      processor: medianRatio(processors(one), processors(other)),
      time: medianRatio(
        one.map(({ time }) => time),
        other.map(({ time }) => time),
      ),
    };
  });
}

function processors(runs: readonly Cost[]): readonly number[] {
  return runs.map(({ processor }) => processor);
}

/** Of all rounds together. */
function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
}

/** Round by round, since a slow moment of the machine is one for both. */
function medianRatio(some: readonly number[], others: readonly number[]): number {
  return percentile(
    others.map((other, round) => (some[round] ?? Number.NaN) / other),
    0.5,
  );
}

async function costOf(subject: Subject, path: HotPath): Promise<Cost> {
  const spent = () => subject.pids.reduce((sum, pid) => sum + treeTime(pid), 0);
  const before = spent();
  let operations = 0;
  const time = await timed(async () => {
    operations = await OPERATIONS[path](subject);
  });
  return { processor: (spent() - before) / operations, time: time / operations };
}

/** Does many operations, and says how many. */
const OPERATIONS: Readonly<Record<HotPath, (subject: Subject) => Promise<number>>> = {
  "GET /me/keys": async ({ origin, user }) => load(`${origin}/api/v1/me/keys`, user, LISTS),
  "GET /audit": async ({ origin, admin }) => load(`${origin}/api/v1/audit?action=user.update&page=3`, admin, PAGES),
  export: async ({ origin, admin }) => {
    for (let each = 0; each < EXPORTS; each++) {
      const answer = await fetch(`${origin}/api/v1/audit/export`, { headers: { cookie: admin } });
      if (!answer.ok || answer.body === null) throw new Error(`the export answered ${answer.status}`);
      for await (const _ of answer.body);
    }
    return EXPORTS * RECORDS;
  },
  "key upload": async ({ origin, nextUser, keys }) => {
    for (let change = 0; change < CHANGES; change++) {
      const user = nextUser();
      const body = JSON.stringify({ name: "bench", public_key: freshKey() });
      const headers = { cookie: user, "content-type": "application/json" };
      const answer = await fetch(`${origin}/api/v1/me/keys`, { method: "POST", headers, body });
      if (!answer.ok) throw new Error(`an upload answered ${answer.status}: ${await answer.text()}`);
      const { data } = (await answer.json()) as { data: { id: number } };
      keys.push({ id: data.id, user });
    }
    return CHANGES;
  },
  revocation: async ({ origin, keys }) => {
    for (const { id, user } of keys.splice(0)) {
      const answer = await fetch(`${origin}/api/v1/me/keys/${id}`, { method: "DELETE", headers: { cookie: user } });
      if (!answer.ok) throw new Error(`a revocation answered ${answer.status}: ${await answer.text()}`);
    }
    return CHANGES;
  },
};

/** That many requests, a few at once: a number and not a time, so that code is as compiled on a busy machine as on a quiet one. */
async function load(url: string, cookie: string, requests: number): Promise<number> {
  let left = requests;
  const client = async () => {
    while (left-- > 0) {
      const answer = await fetch(url, { headers: { cookie } });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${text}`);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return requests;
}

/** What undoes one step. */
type CleanUp = () => unknown;

interface Started {
  readonly subject: Subject;
  /** The database server's process, and what a rival is told about it. */
  readonly postgres: number;
  readonly job: object;
  /** Of the users who upload keys. */
  readonly cookies: readonly string[];
}

/** A service with a filled log, an administrator, and users who have three keys each and, if root asks, an account on this host. */
async function startCandidate(
  { binary }: Candidate,
  { index, users }: { readonly index: number; readonly users: number },
  cleanUps: CleanUp[],
): Promise<Started> {
  const directory = mkdtempSync("/var/tmp/uam-bench-");
  cleanUps.push(() => rmSync(directory, { recursive: true, force: true }));
  const username = `thot${index}`;
  const service = await startProgram([binary], directory, {
    ...(isRoot() ? { UAM_HOST_MODE: "direct", UAM_UID_RANGE: `${58600 + 100 * index}-${58699 + 100 * index}` } : {}),
    UAM_MAX_KEYS: "100",
    UAM_RATE_LIMIT: "off",
    UAM_LOG_LEVEL: "warn",
  });
  cleanUps.push(async () => {
    await service.stop();
    // Warnings and worse, which are lines of JSON: why it failed, if it did.
    const said = service
      .log()
      .split("\n")
      .filter((line) => line.startsWith("{"));
    if (said.length > 0) console.error(said.join("\n").slice(-LOG_END));
  });
  const shared = await openEmbeddedPostgres({ dataDir: join(directory, "data"), log: silentLog });
  cleanUps.push(() => shared.stop());
  const { host, port, database } = shared.connection;
  await fillAudit({ ...shared.connection, username: "postgres" }, RECORDS, USERS);
  if (isRoot()) {
    for (let each = 0; each < users; each++) {
      const account = `ext_${each === 0 ? username : `${username}-${each}`}`;
      cleanUps.push(() => spawnSync("userdel", ["--", account]));
    }
  }
  const { admin, takers } = await logIn(service, username, users);
  cleanUps.push(() => removeTakers(service, admin, takers));
  const cookies = takers.map(({ cookie }) => cookie);
  const sessions = { admin, user: cookies[0] ?? "", nextUser: turnsOf(cookies) };
  const job = { socket: `${host}/.s.PGSQL.${port}`, directory: host, username: shared.connection.username, database };
  return {
    subject: { origin: service.origin, ...sessions, pids: [service.pid], keys: [] },
    postgres: childNamed(service.pid, "postgres"),
    job,
    cookies,
  };
}

async function logIn(service: Service, username: string, users: number) {
  const password = service.run(["admin", "add", "bench-admin", "--email", "a@example.org"]).stdout.trim();
  const admin = (await service.call("POST", "/auth/admin/login", "", { username: "bench-admin", password })).cookie;
  const takers = await makeTakers(service, admin, username, users);
  for (const { cookie } of takers) {
    for (const name of ["one", "two", "three"]) {
      await service.call("POST", "/me/keys", cookie, { name, public_key: freshKey() });
    }
  }
  return { admin, takers };
}

/** The rival that does the bare work, on the database of that candidate, with its sessions. */
async function startFloor({
  subject,
  postgres,
  job,
  cookies,
}: Started): Promise<{ subject: Subject; stop: () => void }> {
  const program = join(import.meta.dir, "rivals/bare-paths.ts");
  const child: ChildProcess = spawn(process.execPath, [program, JSON.stringify(job)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const origin = await new Promise<string>((resolve) =>
    child.stdout?.once("data", (text) => resolve(String(text).trim().replace(/\/$/, ""))),
  );
  return {
    // With turns of its own: with the service's, half of the users would make all changes there, more than they may.
    subject: { ...subject, origin, nextUser: turnsOf(cookies), pids: [child.pid ?? 0, postgres], keys: [] },
    stop: () => void child.kill(),
  };
}

/** The process of that name which this one has started. */
function childNamed(pid: number, name: string): number {
  const text = execFileSync("ps", ["-o", "pid=,comm=", "--ppid", String(pid)], { encoding: "utf8" });
  const found = new RegExp(`^\\s*(\\d+) ${name}$`, "m").exec(text)?.[1];
  if (found === undefined) throw new Error(`${name} is not a child of the service:\n${text}`);
  return Number(found);
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}
