/**
 * Pages of GET /audit, /me/audit and GET /users: does the cost grow with the log? Besides the times it shows how many pages of
 * tables and indexes PostgreSQL reads (EXPLAIN BUFFERS), which no other work on the machine affects.
 *
 * The large log is compared with two small ones. One has as many users, administrators and resources as the large one: most filters
 * find a few records there, or none, and a page of twenty takes longer than one of two whatever it is taken from. The other is
 * named after a service as much smaller as its log, so that a page of it shows as many records: that ratio says what growth costs.
 */

import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/postgres-js";
import { type AuditFilter, listAudit, listOwnAudit } from "../../src/domain/audit/audit.ts";
import type { Context } from "../../src/domain/operation/context.ts";
import { listUsers } from "../../src/domain/users/list.ts";
import type { Paged } from "../../src/shared/product/page.ts";
import type { Database } from "../../src/store/client.ts";
import type { TestApp } from "../support/app.ts";
import { BUSY, type Crowd, seededRandom } from "../support/audit-log.ts";
import { describeRun, fillUsers, openFilled, percentile, timed } from "./bench.ts";
import type { BenchOptions } from "./options.ts";

const PAGE_SIZE = 20;
const USERS = 100_000;

/** Calls of each case whose buffers are counted. */
const BUFFER_CALLS = 40;

/** The worst of all cases; `full` are the ratios to the small log whose pages are as full as the large one's. */
interface Worst {
  ratio: number;
  full: number;
  p99: number;
  buffers: number;
  fullBuffers: number;
}

/** A log, and what filters can name in it. */
interface Named {
  readonly app: TestApp;
  readonly admins: number;
  readonly users: number;
}

/** Of the users only the busier ones are asked for. */
const ASKED = 1 / 4;

/** Who is in a log of five thousand records whose pages are as full as those of a log of millions. */
const FEW: Crowd = { admins: 2, users: 2, resources: 5 };

/** What a case reads in one log: pages of tables and indexes, the number that 95 of 100 calls do not exceed; and the records on a page. */
interface Reading {
  readonly buffers: number;
  readonly records: number;
}

type Random = () => number;
type Case = readonly [name: string, filter: (random: Random, log: Named) => AuditFilter];

const admin = (random: Random, { admins }: Named) => `admin${Math.floor(random() * admins)}`;
const user = (random: Random, { users }: Named) => String(1 + Math.floor(random() * users));
const DAY = 86_400_000;

/** A span of up to half a year somewhere in the log's year. */
function span(random: Random, { app }: Named): AuditFilter {
  const until = new Date(app.clock.now().getTime() - Math.floor(random() * 180 * DAY));
  return { since: new Date(until.getTime() - Math.floor((1 + random() * 180) * DAY)), until };
}

const CASES: readonly Case[] = [
  ["no filter", () => ({})],
  ["actor (admin)", (random, log) => ({ actor: admin(random, log) })],
  ["actor (anonymous)", () => ({ actor: "anonymous" })],
  ["action", () => ({ action: "key.create" })],
  ["resource_type", () => ({ resourceType: "user" })],
  ["resource_id", (random, log) => ({ resourceId: user(random, log) })],
  ["user_id", (random, log) => ({ userId: Number(user(random, log)) })],
  ["since, until", span],
  ["actor, action", (random, log) => ({ actor: admin(random, log), action: "user.update" })],
  ["actor, resource_type", (random, log) => ({ actor: admin(random, log), resourceType: "user" })],
  ["actor, since, until", (random, log) => ({ actor: admin(random, log), ...span(random, log) })],
  ["action, since, until", (random, log) => ({ action: "user.extend", ...span(random, log) })],
  ["action, resource_type", () => ({ action: "key.revoke", resourceType: "ssh_key" })],
  ["resource_type, resource_id", (random, log) => ({ resourceType: "user", resourceId: user(random, log) })],
  ["action, resource_id", (random, log) => ({ action: "user.update", resourceId: user(random, log) })],
  ["actor, resource_id", (random, log) => ({ actor: admin(random, log), resourceId: user(random, log) })],
  ["resource_id (none)", () => ({ resourceId: "" })],
  ["action, resource_id (none)", () => ({ action: "auth.logout", resourceId: "" })],
  ["actor, resource_id (none)", (random, log) => ({ actor: admin(random, log), resourceId: "" })],
];
const PAGES = ["1", "1000", "last"] as const;
/** Calls at the same time. */
const CLIENTS = [1, 4] as const;

/** Prints, for each filter and page, the times at both sizes and their ratio. */
export async function benchAuditPages(options: BenchOptions): Promise<void> {
  const asked = (app: TestApp, { admins, users }: Crowd): Named => ({ app, admins, users: Math.max(2, users * ASKED) });
  const small = await openFilled(options.small);
  const full = await openFilled(options.small, undefined, FEW);
  const large = await openFilled(options.rows);
  const logs = [asked(small, BUSY), asked(full, FEW), asked(large, BUSY)];
  console.log(`\n## Audit pages, ${options.small} and ${options.rows} records, ${options.calls} calls each, ms\n`);
  console.log(await describeRun(large));
  const floor = await measure(options.calls, [() => large.db.execute(sql`select 1`)]);
  console.log(`floor     select 1 over the same connection: p50 ${ms(floor[0], 0.5)} p95 ${ms(floor[0], 0.95)}\n`);
  // The number of concurrent calls does not change what PostgreSQL reads.
  const known = new Map<string, readonly Reading[]>();
  for (const clients of CLIENTS) {
    console.log(`\n${clients} at once\n`);
    console.log(
      row(
        "filter",
        "page",
        ...["p95 small", "p95 full", "p50", "p95", "p99", "of small", "of full"],
        ...["x floor", "buffers", "of small", "of full", "records"],
      ),
    );
    const worst: Worst = { ratio: 0, full: 0, p99: 0, buffers: 0, fullBuffers: 0 };
    for (const [name, make] of [...CASES.map(caseOf), OWN]) {
      for (const page of PAGES) {
        const makerOf = (log: Named, context: Context) => make(log, page, context);
        const readings = known.get(`${name} ${page}`) ?? (await readingsOf(logs, makerOf));
        known.set(`${name} ${page}`, readings);
        const calls = logs.map((log) => makerOf(log, log.app.system));
        report(name, page, await measure(options.calls, calls, clients), { floor: floor[0], readings, worst });
      }
    }
    console.log(
      `
worst     p95 ${worst.ratio.toFixed(2)} of small, ${worst.full.toFixed(2)} of full; p99 ${worst.p99.toFixed(2)} ms; buffers ${worst.buffers.toFixed(2)} of small, ${worst.fullBuffers.toFixed(2)} of full`,
    );
  }
  await benchUsers(large, options, floor[0]);
  for (const app of [small, full, large]) await app.close();
}

/** How a kind of call is prepared: the same sequence of them each time. */
type NamedMaker = readonly [
  name: string,
  make: (log: Named, page: (typeof PAGES)[number], context: Context) => () => Promise<() => Promise<Paged<unknown>>>,
];

function caseOf([name, filter]: Case): NamedMaker {
  return [
    name,
    (log, page, context) => {
      const random = seededRandom(5);
      return () => {
        const chosen = filter(random, log);
        return pageOf(log.app, context, page, (asked, p) => listAudit(asked, chosen, p));
      };
    },
  ];
}

const OWN: NamedMaker = [
  "/me/audit",
  (log, page, context) => {
    const random = seededRandom(5);
    return () => {
      const id = Number(user(random, log));
      return pageOf(log.app, context, page, (asked, p) => listOwnAudit(asked, id, p));
    };
  },
];

async function benchUsers(app: TestApp, { calls }: BenchOptions, floor: readonly number[] | undefined): Promise<void> {
  await fillUsers(app, USERS);
  console.log(`\n## GET /users with ${USERS} users, ms\n`);
  console.log(row("filter", "page", "", "p50", "p95", "p99", "", "x floor"));
  for (const [name, filter] of [
    ["no filter", {}],
    ["status", { status: "active" }],
    ["supervisor", { supervisor: "boss7" }],
  ] as const) {
    for (const page of PAGES) {
      const number = await numberOf(page, (p) => listUsers(app.system, filter, p));
      const times = await measure(calls, [() => listUsers(app.system, filter, { page: number, pageSize: PAGE_SIZE })]);
      const t = times[0];
      console.log(
        row(name, page, "", ms(t, 0.5), ms(t, 0.95), ms(t, 0.99), "", (q(t, 0.5) / q(floor, 0.5)).toFixed(1)),
      );
    }
  }
}

type Page = { page: number; pageSize: number };
type Lister = (context: Context, page: Page) => Promise<Paged<unknown>>;

/** A call for that page. Looking up the page's number is not part of what is measured, nor in `context`. */
async function pageOf(app: TestApp, context: Context, page: (typeof PAGES)[number], list: Lister) {
  const number = await numberOf(page, (p) => list(app.system, p));
  return () => list(context, { page: number, pageSize: PAGE_SIZE });
}

async function numberOf(page: (typeof PAGES)[number], list: (page: Page) => Promise<Paged<unknown>>): Promise<number> {
  if (page === "1") return 1;
  const { total } = await list({ page: 1, pageSize: 1 });
  // A page past the end is no work at all; the last one has fewer records.
  if (page === "last") return Math.max(1, Math.ceil(total / PAGE_SIZE));
  return Math.min(Math.max(1, Math.floor(total / PAGE_SIZE)), Number(page));
}

type Maker = (log: Named, context: Context) => () => Promise<() => Promise<Paged<unknown>>>;

/** For each log, what the calls read. */
async function readingsOf(logs: readonly Named[], maker: Maker): Promise<readonly Reading[]> {
  const all: Reading[] = [];
  for (const log of logs) {
    const { app } = log;
    const statements: { query: string; params: unknown[] }[] = [];
    const client = app.db.$client;
    // The driver itself is watched: a prepared query is shared by all databases, and tells only the logger of the first.
    const watched = new Proxy(client, {
      get: (target, name) =>
        name !== "unsafe"
          ? Reflect.get(target, name)
          : (...args: Parameters<typeof client.unsafe>) => {
              statements.push({ query: args[0], params: [...(args[1] ?? [])] });
              return target.unsafe(...args);
            },
    });
    const db: Database = drizzle(watched, { casing: "snake_case" });
    const make = maker(log, { ...app.system, db });
    const counts: number[] = [];
    let records = 0;
    for (let n = 0; n < BUFFER_CALLS; n++) {
      const prepared = await make();
      statements.length = 0;
      records += (await prepared()).items.length / BUFFER_CALLS;
      if (statements.length === 0) throw new Error("a call was answered without a statement");
      let count = 0;
      for (const { query, params } of statements) count += await explain(client, query, params);
      counts.push(count);
    }
    all.push({ buffers: percentile(counts, 0.95), records });
  }
  return all;
}

async function explain(client: Database["$client"], query: string, params: readonly unknown[]): Promise<number> {
  const [row] = await client.unsafe(`explain (analyze, buffers, format json) ${query}`, params as never[]);
  const [{ Plan: plan = {} } = {}] = (row?.["QUERY PLAN"] ?? []) as { Plan?: Record<string, number> }[];
  return (plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0);
}

/** Times of each of the calls, `clients` of them at once, taken in turns, so that other load on the machine affects all alike. */
async function measure(
  calls: number,
  makers: readonly (() => Promise<unknown>)[],
  clients = 1,
): Promise<readonly number[][]> {
  const times: number[][] = makers.map(() => []);
  for (let n = -20; n < calls; n += clients) {
    for (const [index, make] of makers.entries()) {
      const prepared = await Promise.all(Array.from({ length: clients }, make));
      const taken = prepared.map((call) =>
        timed(async () => (typeof call === "function" ? await call() : await make())),
      );
      const each = await Promise.all(taken);
      if (n >= 0) times[index]?.push(...each);
    }
  }
  return times;
}

const NOTHING: Reading = { buffers: Number.NaN, records: Number.NaN };

function report(
  name: string,
  page: string,
  [small, full, large]: readonly number[][],
  beside: {
    readonly floor: readonly number[] | undefined;
    readonly readings: readonly Reading[];
    readonly worst: Worst;
  },
): void {
  const { floor, worst } = beside;
  const [few = NOTHING, alike = NOTHING, many = NOTHING] = beside.readings;
  const ratios = [small, full].map((times) => q(large, 0.95) / q(times, 0.95));
  const growth = [few, alike].map(({ buffers }) => many.buffers / buffers);
  const [ratio = Number.NaN, fullRatio = Number.NaN] = ratios;
  worst.ratio = Math.max(worst.ratio, ratio);
  worst.full = Math.max(worst.full, fullRatio);
  worst.p99 = Math.max(worst.p99, q(large, 0.99));
  worst.buffers = Math.max(worst.buffers, growth[0] ?? 0);
  worst.fullBuffers = Math.max(worst.fullBuffers, growth[1] ?? 0);
  console.log(
    row(
      name,
      page,
      ...[ms(small, 0.95), ms(full, 0.95), ms(large, 0.5), ms(large, 0.95), ms(large, 0.99)],
      ...ratios.map((one) => one.toFixed(2)),
      (q(large, 0.5) / q(floor, 0.5)).toFixed(1),
      String(many.buffers),
      ...growth.map((one) => one.toFixed(2)),
      [few, alike, many].map(({ records }) => records.toFixed(0)).join(),
    ),
  );
}

function q(times: readonly number[] | undefined, share: number): number {
  return percentile(times ?? [], share);
}

function ms(times: readonly number[] | undefined, share: number): string {
  return q(times, share).toFixed(2);
}

function row(name: string, page: string, ...cells: readonly string[]): string {
  return `${name.padEnd(28)}${page.padEnd(6)}${cells.map((cell) => cell.padStart(10)).join("")}`;
}
