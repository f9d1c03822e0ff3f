/** The connection to PostgreSQL: a postgres.js pool with Drizzle on it. */

import type { Assume, SQL } from "drizzle-orm";
import { drizzle, type PostgresJsDatabase } from "drizzle-orm/postgres-js";
import postgres from "postgres";

export type Database = PostgresJsDatabase & { readonly $client: postgres.Sql };
export type Transaction = Parameters<Parameters<Database["transaction"]>[0]>[0];

/** Whoever runs statements one after the other: a pool, a transaction, or the connection of a restore. */
export interface Executor {
  execute<T extends Record<string, unknown>>(query: SQL | string): PromiseLike<readonly Assume<T, postgres.Row>[]>;
}

/** Where PostgreSQL is: a URL, or what the embedded server answers on. */
export type ConnectionOptions =
  | { readonly url: string }
  | { readonly host: string; readonly port: number; readonly username: string; readonly database: string };

/** An open pool. */
export interface DatabaseHandle {
  readonly db: Database;
  /** Waits for queries under way, at most five seconds, and closes. */
  close(): Promise<void>;
}

/**
 * Opens a pool of at most `connections`; nothing is connected before the first query. Arrays come as text: to learn their types the
 * driver asks on each new connection, and if that one is cut meanwhile, its unhandled error ends the process. Select to_json() of them.
 */
export function openDatabase(options: ConnectionOptions, connections: number): DatabaseHandle {
  const settings: postgres.Options<Record<string, never>> = {
    max: connections,
    connect_timeout: 10,
    fetch_types: false,
    // Notices such as "relation exists, skipping" tell an operator nothing.
    onnotice: () => {},
    connection: { application_name: "uam", TimeZone: "UTC" },
  };
  const client =
    "url" in options
      ? openUrl(options.url, settings)
      : postgres({ ...settings, ...options, path: `${options.host}/.s.PGSQL.${options.port}` });
  return {
    db: drizzle(client, { casing: "snake_case" }),
    close: () => client.end({ timeout: 5 }),
  };
}

/**
 * As libpq does, but the driver does not, takes `?host=/directory` for the unix socket in that directory. The driver keeps its
 * options within reach of whoever has the pool, so it gets the password as a function.
 */
function openUrl(url: string, settings: postgres.Options<Record<string, never>>): postgres.Sql {
  const parsed = new URL(url);
  const password = decodeURIComponent(parsed.password);
  parsed.password = "";
  const secretly = password === "" ? settings : { ...settings, password: () => password };
  const directory = parsed.searchParams.get("host");
  if (!directory?.startsWith("/")) return postgres(parsed.href, secretly);
  const port = Number(parsed.port || parsed.searchParams.get("port") || 5432);
  parsed.searchParams.delete("host");
  parsed.searchParams.delete("port");
  // URL needs a host in front of a user; the path is what counts.
  return postgres(parsed.href, { ...secretly, path: `${directory}/.s.PGSQL.${port}` });
}

/**
 * A query with placeholders that is built once for each database: building one takes longer than running it. Within a
 * transaction, which is a connection of its own to Drizzle, it is built for that transaction.
 */
export function preparedOnce<Query>(
  build: (db: Database | Transaction) => Query,
): (db: Database | Transaction) => Query {
  const built = new WeakMap<object, Query>();
  return (db) => {
    const known = built.get(db);
    if (known !== undefined) return known;
    const query = build(db);
    built.set(db, query);
    return query;
  };
}

/**
 * The results of statements of one transaction, which are sent in one go and carried out in their order. Throws what the
 * first of them that failed threw: those after it fail only because it did.
 */
export async function pipelined<Results extends readonly unknown[]>(
  ...statements: { readonly [Index in keyof Results]: Promise<Results[Index]> }
): Promise<Results> {
  const settled = await Promise.allSettled(statements);
  const failed = settled.find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return settled.map((result) => (result.status === "fulfilled" ? result.value : undefined)) as unknown as Results;
}

/** True if `error` is PostgreSQL's refusal of a duplicate in the named unique index or constraint. */
export function isDuplicate(error: unknown, constraint: string): boolean {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return cause instanceof postgres.PostgresError && cause.code === "23505" && cause.constraint_name === constraint;
}

/** True if `error` says that PostgreSQL gave up on a lock, after `lock_timeout`. */
export function isLockTimeout(error: unknown): boolean {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return cause instanceof postgres.PostgresError && cause.code === "55P03";
}

/** System calls that failed, the driver's own codes, and PostgreSQL's refusals to let one in (SQLSTATE 08, 28, 3D, 57P). */
const CONNECTION_CODES = /^(E[A-Z_]{4,}|CONNECT_TIMEOUT|CONNECTION_[A-Z]+|08\w{3}|28\w{3}|3D\w{3}|57P\d\d)$/;

/** Why there is no connection, if that is what `error` says; undefined for any other failure. */
export function connectionFailure(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return CONNECTION_CODES.test(code) ? error.message || code : connectionFailure(error.cause);
}
