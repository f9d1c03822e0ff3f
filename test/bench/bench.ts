/** What the benchmarks share: databases of a size, percentiles, and the head of a report. */

import { cpus, loadavg, release, totalmem } from "node:os";
import { memoryUsage, pid } from "node:process";
import { sql } from "drizzle-orm";
import { VERSION } from "../../src/shared/version.ts";
import { openDatabase } from "../../src/store/client.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { BUSY, busyDraft, type Crowd, fillAuditLog, seededRandom } from "../support/audit-log.ts";
import { fillAudit } from "./fill-audit.ts";
import { treeTime } from "./processor-time.ts";

/** An application on a database with `rows` audit records of a year that ends now. */
export async function openFilled(
  rows: number,
  open: () => Promise<TestApp> = createTestApp,
  crowd: Crowd = BUSY,
): Promise<TestApp> {
  const app = await open();
  const superuser = openDatabase(app.superuser, 1);
  const year = 365 * 86_400_000;
  const start = new Date(app.clock.now().getTime() - year);
  const began = performance.now();
  await fillAuditLog(superuser.db, rows, busyDraft(seededRandom(11), start, year / rows, crowd));
  await superuser.close();
  console.log(`filled ${rows} records in ${seconds(performance.now() - began)} s`);
  return app;
}

/** The same with a log as even as `fillAudit` makes it, which is there sooner; `users` are those whom the records name. */
export async function openEven(rows: number, users = 2000): Promise<TestApp> {
  const app = await createTestApp();
  const took = await timed(() => fillAudit(app.superuser, rows, users));
  console.log(`filled ${rows} records in ${seconds(took)} s`);
  return app;
}

/** Users in every state, into the database of the application. */
export async function fillUsers(app: TestApp, users: number): Promise<void> {
  const superuser = openDatabase(app.superuser, 1);
  await superuser.db.execute(sql`
    insert into users (username, email, supervisor, status, expire_at, created_at, updated_at)
    select 'u' || n, 'u' || n || '@example.org', 'boss' || n % 50, case n % 10 when 0 then 'disabled' when 1 then 'expired' else 'active' end,
      now(), now(), now() from generate_series(1, ${users}) n`);
  await superuser.db.execute("vacuum analyze users");
  await superuser.close();
}

/** The value that a share `q` of the numbers does not exceed. */
export function percentile(numbers: readonly number[], q: number): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * q) - 1)] ?? Number.NaN;
}

/** How long `work` takes, in milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** Milliseconds, and microseconds of all processors: of this process and of all that it has started, the database's included. */
export interface Cost {
  readonly time: number;
  readonly processor: number;
}

/** What `work` costs. */
export async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const before = treeTime(pid);
  const time = await timed(work);
  return { time, processor: treeTime(pid) - before };
}

/** Resident memory of this process in MiB. */
export function residentMiB(): number {
  return memoryUsage().rss / 2 ** 20;
}

export function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(1);
}

/** Machine, load, versions and date: a number without them means nothing. */
export function describeMachine(): string {
  const [cpu] = cpus();
  return [
    `date      ${new Date().toISOString()}`,
    `machine   ${cpus().length} x ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, load ${loadavg()[0]?.toFixed(1)}`,
    `versions  uam ${VERSION}, Bun ${Bun.version}, Linux ${release()}`,
  ].join("\n");
}

/** The same, with the database's version. */
export async function describeRun(app: TestApp): Promise<string> {
  const [row] = await app.db.execute<{ version: string }>("select current_setting('server_version') as version");
  return `${describeMachine()}, PostgreSQL ${row?.version} (fsync off)`;
}
