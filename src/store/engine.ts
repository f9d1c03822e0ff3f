/**
 * Tries whether the database does what the service relies on: that it takes changes, that only one of two connections gets
 * a lock, that a session stays one, that notifications arrive. A name would say less: a server that speaks PostgreSQL's
 * protocol need not behave as PostgreSQL does.
 */

import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { LOCKS } from "./advisory-locks.ts";
import { type ConnectionOptions, openClient } from "./client.ts";

/** A fault of the database, as sentences without their full stops. */
export interface EngineFault {
  readonly finding: string;
  readonly remedy: string;
}

const STANDBY: EngineFault = {
  finding: "The database server is a standby, which takes no changes",
  remedy: "name the primary in UAM_DATABASE_URL, or all nodes, with ?target_session_attrs=read-write",
};
const READ_ONLY: EngineFault = {
  finding: "The database is read-only (default_transaction_read_only)",
  remedy: "switch that off for the service's role and database",
};
const POOL: EngineFault = {
  finding: "Between the service and PostgreSQL is a pool that gives each transaction another connection",
  remedy: "connect to PostgreSQL itself, or let the pool keep one for each session (pgbouncer: pool_mode = session)",
};
const DEAF: EngineFault = {
  finding: "Notifications of one connection do not reach another that listens, as behind a pool of transactions",
  remedy: "use PostgreSQL itself, without a pool in between",
};
const NO_LOCKS: EngineFault = {
  finding: "The database gives one advisory lock to two connections, so that two instances would migrate at once",
  remedy: "use PostgreSQL itself; others that speak its protocol only pretend to lock",
};

/** Milliseconds. A usable database answers within one; a pool without a free connection never does. */
const PATIENCE = 3000;

/** Empty for a usable database. Throws if there is no connection at all. Opens two connections for a few milliseconds. */
export async function engineFaults(options: ConnectionOptions): Promise<readonly EngineFault[]> {
  const heard = Promise.withResolvers<void>();
  const listening = openClient(options, 1, { notified: () => heard.resolve() });
  const other = openClient(options, 1);
  try {
    return await orLate(tryOut(listening, other, heard.promise), [POOL]);
  } finally {
    // Nothing is left in them that would have to be waited for.
    void Promise.all([listening.end({ timeout: 0 }), other.end({ timeout: 0 })]).catch(() => {});
  }
}

/** Each of the two has one connection. Their statements alternate, so that a pool cannot give both the same connection by chance. */
async function tryOut(a: postgres.Sql, b: postgres.Sql, heard: Promise<void>): Promise<readonly EngineFault[]> {
  // Both connect at the same time.
  const [[state]] = await Promise.all([
    b.unsafe(
      "select pg_backend_pid() as pid, pg_is_in_recovery() as standby, current_setting('transaction_read_only') as readonly",
    ),
    a.unsafe("select 1"),
  ]);
  if (state?.standby === true) return [STANDBY];
  if (state?.readonly === "on") return [READ_ONLY];
  // The name is unique: no two simultaneous checks have the same backend.
  const name = `uam_${state?.pid}`;
  const listens = await succeeds(a.unsafe(`set uam.trial = '${name}'; listen ${name}`));
  // A pool gives this statement the connection that `a` has just released, and `a` gets another one.
  await b.unsafe("begin");
  const lock = `select pg_try_advisory_xact_lock(${LOCKS.trial}, ${state?.pid}) as taken`;
  const [mine] = await a.unsafe(`begin; ${lock}, current_setting('uam.trial', true) as kept`).then(lastRows);
  const [theirs] = await b.unsafe(lock);
  // Commits before the other notifies: a pool keeps notifications that arrive after that to itself.
  await a.unsafe("commit");
  await b.unsafe(`select pg_notify('${name}', ''); commit`);
  if (mine?.kept !== name) return [POOL];
  const hears = listens && (await Promise.race([heard.then(() => true), sleep(PATIENCE, false, { ref: false })]));
  return [...(mine?.taken === true && theirs?.taken === true ? [NO_LOCKS] : []), ...(hears ? [] : [DEAF])];
}

/** Of several statements in one, the rows of the last. */
function lastRows(results: readonly unknown[]): readonly postgres.Row[] {
  const last = results.at(-1);
  return (Array.isArray(last) ? last : results) as readonly postgres.Row[];
}

/** False for a statement that the database does not know or allow. */
async function succeeds(statement: PromiseLike<unknown>): Promise<boolean> {
  try {
    await statement;
    return true;
  } catch (error) {
    if (error instanceof postgres.PostgresError) return false;
    throw error;
  }
}

async function orLate<T>(work: Promise<T>, late: T): Promise<T> {
  work.catch(() => {});
  return await Promise.race([work, sleep(2 * PATIENCE, late, { ref: false })]);
}
