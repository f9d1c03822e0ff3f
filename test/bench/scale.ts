/**
 * A large installation: what 64 clients ask for at once, an export and thousands of accounts that expire in the same second
 * meanwhile. Each is measured at a tenth of the size first, so that what grows with it shows.
 */

import { sql } from "drizzle-orm";
import { expireDue } from "../../src/domain/lifecycle/lifecycle.ts";
import { storeCounts } from "../../src/domain/stats/daily.ts";
import { SECOND } from "../../src/shared/time/clock.ts";
import { openDatabase } from "../../src/store/client.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { seededRandom } from "../support/audit-log.ts";
import { describeRun, percentile, seconds, timed } from "./bench.ts";
import { type Filled, fillAudit } from "./fill-audit.ts";
import type { BenchOptions } from "./options.ts";

const CLIENTS = 64;
const TENTH = 10;
/** One of ten users expires in that second. */
const EXPIRING = 10;
/** No account has it that the tests make. */
const FIRST_UID = 1_000_000;

type Random = () => number;

/** Milliseconds of each kind of request, and of what ran meanwhile. */
interface Measured {
  readonly alone: ReadonlyMap<string, readonly number[]>;
  readonly together: ReadonlyMap<string, readonly number[]>;
  /** For one record. */
  readonly exported: number;
  /** For one account. */
  readonly expired: number;
  /** What was asked for while accounts expired. */
  readonly meanwhile: ReadonlyMap<string, readonly number[]>;
}

/** Prints the time of each at the full size, and how many times the tenth's it is. */
export async function benchScale({ users, rows, calls }: BenchOptions): Promise<void> {
  console.log(`\n## ${users} users, ${rows} audit records, ${CLIENTS} clients\n`);
  const small = await measure(Math.ceil(users / TENTH), Math.ceil(rows / TENTH), calls);
  const large = await measure(users, rows, calls);
  for (const [title, which] of [
    ["one at a time", "alone"],
    [`${CLIENTS} at once, beside an export`, "together"],
    [`${CLIENTS} at once, while accounts expire`, "meanwhile"],
  ] as const) {
    console.log(
      `\n${title.padEnd(44)}${["p50", "p95", "p99", "growth p50", "p95"].map((cell) => cell.padStart(12)).join("")}`,
    );
    for (const [name, times] of large[which]) {
      const before = small[which].get(name) ?? [];
      const cells = [0.5, 0.95, 0.99].map((share) => `${percentile(times, share).toFixed(1)} ms`);
      const growth = [0.5, 0.95].map((share) => (percentile(times, share) / percentile(before, share)).toFixed(2));
      console.log(`${name.padEnd(44)}${[...cells, ...growth].map((cell) => cell.padStart(12)).join("")}`);
    }
  }
  console.log(
    `\nexport meanwhile     ${Math.round(1000 / large.exported)} records/s, growth ${(large.exported / small.exported).toFixed(2)} for each`,
  );
  const accounts = Math.ceil(users / EXPIRING);
  console.log(
    `expiry meanwhile     ${accounts} accounts in ${seconds(large.expired * accounts)} s, ${large.expired.toFixed(2)} ms each, growth ${(large.expired / small.expired).toFixed(2)} for each`,
  );
}

async function measure(users: number, rows: number, calls: number): Promise<Measured> {
  const app = await createTestApp();
  try {
    const took = await timed(async () => {
      await fillUsers(app, users);
      filled = await fillAudit(app.superuser, rows, users);
      // As a job of the service does each day.
      await storeCounts(app.services);
    });
    console.log(`filled ${users} users and ${rows} records in ${seconds(took)} s`);
    if (rows >= users) console.log(await describeRun(app));
    const { cookie } = await app.admin();
    const ask = (path: string) => fetchWhole(app, path, cookie);
    const alone = await load(ask, 1, Math.min(calls, 40));
    let exported = 0;
    const exporting = timed(async () => void (await ask("/audit/export"))).then((time) => {
      exported = time / rows;
    });
    const together = await load(ask, CLIENTS, calls);
    await exporting;
    app.clock.advance(2 * SECOND);
    let expired = 0;
    const expiring = timed(async () => {
      const { done, failed } = await expireDue(app.system, { now: app.clock.now(), holdUntil: undefined });
      if (failed > 0 || done !== Math.ceil(users / EXPIRING)) throw new Error(`${done} expired, ${failed} failed`);
    }).then((time) => {
      expired = time / Math.ceil(users / EXPIRING);
    });
    const meanwhile = await load(ask, CLIENTS, calls);
    await expiring;
    return { alone, together, exported, expired, meanwhile };
  } finally {
    await app.close();
  }
}

let filled: Filled = { users: 1, actors: 1, actions: [] };

/** A path of each kind. */
const KINDS: Readonly<Record<string, (random: Random) => string>> = {
  "GET /audit": () => "/audit",
  "GET /audit, a page in the middle": (random) => `/audit?page=${1 + Math.floor(random() * 1000)}`,
  "GET /audit?action, actor": (random) => `/audit?action=${one(filled.actions, random)}&actor=admin${upTo(8, random)}`,
  "GET /audit?resource_type": () => "/audit?resource_type=user",
  "GET /audit?resource_id": (random) => `/audit?resource_id=${1 + upTo(filled.users, random)}`,
  "GET /audit?user_id": (random) => `/audit?user_id=${1 + upTo(filled.users, random)}`,
  "GET /audit?user_id, action": (random) => `/audit?user_id=${1 + upTo(filled.users, random)}&action=key.create`,
  "GET /users": () => "/users",
  "GET /users, a page in the middle": (random) => `/users?page=${1 + upTo(100, random)}`,
  "GET /users?status": () => "/users?status=active",
  "GET /users?q": (random) => `/users?q=u${upTo(filled.users, random)}`,
  "GET /users?sort": () => "/users?sort=expire_at",
  "GET /users?silent_for": () => "/users?silent_for=30d",
  "GET /admin/stats": () => "/admin/stats",
  "GET /admin/stats/series": () => "/admin/stats/series",
};

function upTo(count: number, random: Random): number {
  return Math.floor(random() * count);
}

function one(words: readonly string[], random: Random): string {
  return words[upTo(words.length, random)] ?? "";
}

/** The milliseconds of each kind: `calls` of all kinds in turns, by that many clients. */
async function load(ask: (path: string) => Promise<unknown>, clients: number, calls: number) {
  const random = seededRandom(3);
  const work = Array.from({ length: calls }, () => Object.entries(KINDS)).flat();
  const times = new Map(Object.keys(KINDS).map((name) => [name, [] as number[]]));
  const client = async () => {
    for (let next = work.shift(); next !== undefined; next = work.shift()) {
      const [name, path] = next;
      times.get(name)?.push(await timed(() => ask(path(random))));
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return times;
}

/** Reads the answer to the end, and keeps none of it; throws unless it is a success. */
async function fetchWhole(app: TestApp, path: string, cookie: string): Promise<void> {
  const request = new Request(`http://127.0.0.1:8080/api/v1${path}`, { headers: { cookie } });
  const answer = await app.app.fetch(request, "192.0.2.1");
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  for await (const _ of answer.body ?? []);
}

/** Users in every state, with accounts, of whom one in ten expires in a second. */
async function fillUsers(app: TestApp, users: number): Promise<void> {
  const superuser = openDatabase(app.superuser, 1);
  const now = app.clock.now().toISOString();
  await superuser.db.execute(sql`
    insert into users (username, email, supervisor, purpose, status, expire_at, created_at, seen_at, updated_at)
    select 'u' || n, 'u' || n || '@example.org', 'boss' || n % 50, 'work on the cluster, project ' || n % 300,
      case when n % ${EXPIRING} = 0 then 'active' when n % 10 = 1 then 'disabled' when n % 10 = 2 then 'expired' else 'active' end,
      ${now}::timestamptz + case when n % ${EXPIRING} = 0 then interval '1 second' when n % 10 = 2 then interval '-1 day'
        else interval '40 days' + n % 300 * interval '1 day' end,
      ${now}::timestamptz - n % 365 * interval '1 day',
      case when n % 3 > 0 then ${now}::timestamptz - n % 89 * interval '1 day' end, ${now}::timestamptz
    from generate_series(1, ${users}::int) n`);
  await superuser.db.execute(
    sql`insert into accounts (user_id, uid) select id, ${FIRST_UID}::int + id from users where status <> 'expired'`,
  );
  await superuser.db.execute("vacuum analyze users");
  await superuser.db.execute("vacuum analyze accounts");
  const stored = await superuser.db.execute<{ id: string; username: string; expire_at: string }>(
    "select id, username, expire_at from users where status <> 'expired'",
  );
  for (const { id, username, expire_at } of stored) {
    const account = { uid: FIRST_UID + Number(id), open: true, expireAt: new Date(expire_at), file: [] };
    app.host.accounts.set(`ext_${username}`, account);
  }
  await superuser.close();
}
