/** The connection to PostgreSQL: a postgres.js pool with Drizzle on it. */

import type { Socket } from "node:net";
import type { Assume, SQL } from "drizzle-orm";
import { drizzle, type PostgresJsDatabase, PostgresJsSession } from "drizzle-orm/postgres-js";
import postgres from "postgres";
import { type Node, parseDatabaseUrl } from "../shared/net/database-url.ts";

export type Database = PostgresJsDatabase & { readonly $client: postgres.Sql };
export type Transaction = Parameters<Parameters<Database["transaction"]>[0]>[0];

/** Runs statements one after the other: a pool, a transaction, or the connection of a restore. */
export interface Executor {
  execute<T extends Record<string, unknown>>(query: SQL | string): PromiseLike<readonly Assume<T, postgres.Row>[]>;
}

/** The address of PostgreSQL: a URL, whose node that takes changes may have to be found, or the embedded server's socket. */
export type ConnectionOptions =
  | { readonly url: string; readonly nodes?: NodeFinder | undefined }
  | { readonly host: string; readonly port: number; readonly username: string; readonly database: string };

/** Finds the node that takes changes, where a URL names several. */
export interface NodeFinder {
  /** As the URL has them. */
  readonly named: readonly Node[];
  /** The URL of that node alone. Throws after ten seconds without one, with the answer of each node. */
  readonly leaderUrl: () => Promise<string>;
  /**
   * A socket that is connected to that node, or one that fails at once: the driver loses a connection for good by each error
   * that is thrown here.
   */
  readonly connect: () => Promise<Socket>;
}

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
export function openDatabase(
  options: ConnectionOptions,
  connections: number,
  heard: ClientListeners = {},
): DatabaseHandle {
  const client = openClient(options, connections, {
    ...heard,
    unreplicated: () => {
      unreplicated.set(db, unreplicatedCommits(db) + 1);
      heard.unreplicated?.();
    },
  });
  const db: Database = drizzle(client, { casing: "snake_case" });
  return { db, close: () => client.end({ timeout: 5 }) };
}

const unreplicated = new WeakMap<Database, number>();

/** How many commits on this pool were acknowledged without reaching a standby; see ClientListeners. */
export function unreplicatedCommits(db: Database): number {
  return unreplicated.get(db) ?? 0;
}

/** Handlers for unasked messages of a server, and the name of the client for it. */
export interface ClientListeners {
  /** In pg_stat_activity; `uam` by default, which is company that a restore refuses. */
  readonly name?: string;
  /** A notification, on whichever connection listens. */
  readonly notified?: (channel: string) => void;
  /** A commit was acknowledged that no standby has: somebody cancelled the wait for it, and a failover would lose the commit. */
  readonly unreplicated?: () => void;
}

/** The driver alone, for code that examines the server rather than stored data. */
export function openClient(options: ConnectionOptions, connections: number, heard: ClientListeners = {}): postgres.Sql {
  const settings: postgres.Options<Record<string, never>> = {
    max: connections,
    connect_timeout: 10,
    fetch_types: false,
    backoff: untilNextAttempt,
    // Other notices, such as "relation exists, skipping", tell an operator nothing.
    onnotice: ({ code, routine }) => {
      if (code === WARNING && routine === WAIT_FOR_STANDBY) heard.unreplicated?.();
    },
    connection: { application_name: heard.name ?? "uam", TimeZone: "UTC" },
  };
  const { notified } = heard;
  // The driver knows the option, its types do not.
  if (notified !== undefined) Object.assign(settings, { onnotify: notified });
  if ("url" in options) return openUrl(options, settings);
  return postgres({ ...settings, ...options, path: `${options.host}/.s.PGSQL.${options.port}` });
}

/** Where in PostgreSQL the warning comes from that a commit is on this server only (syncrep.c). */
const WAIT_FOR_STANDBY = "SyncRepWaitForLSN";
const WARNING = "01000";

/** Seconds. The driver's own waits grow to 20, in which nobody is served although the database is back. */
function untilNextAttempt(attempts: number): number {
  return Math.min(0.02 * 2 ** Math.min(attempts, 10), 1) * (0.5 + Math.random() / 2);
}

/**
 * Takes `?host=/directory` for the unix socket in that directory, as libpq does and the driver does not. The driver keeps its
 * options within reach of any holder of the pool, so it gets the password as a function.
 */
function openUrl(
  { url, nodes }: { readonly url: string; readonly nodes?: NodeFinder | undefined },
  settings: postgres.Options<Record<string, never>>,
): postgres.Sql {
  const { at } = requireUrl(url);
  const parsed = new URL(at(nodes?.named[0]));
  const password = decodeURIComponent(parsed.password);
  parsed.password = "";
  const secretly = {
    ...settings,
    ...(password === "" ? {} : { password: () => password }),
    // Whichever node it is that takes changes now.
    ...(nodes === undefined ? {} : { socket: nodes.connect }),
  };
  const directory = parsed.searchParams.get("host");
  if (!directory?.startsWith("/")) return postgres(parsed.href, secretly);
  const port = Number(parsed.port || parsed.searchParams.get("port") || 5432);
  parsed.searchParams.delete("host");
  parsed.searchParams.delete("port");
  // URL needs a host after a user name; the path counts.
  return postgres(parsed.href, { ...secretly, path: `${directory}/.s.PGSQL.${port}` });
}

function requireUrl(url: string) {
  const parsed = parseDatabaseUrl(url);
  if (parsed === undefined) throw new Error("the URL of the database was not checked");
  return parsed;
}

/**
 * A query with placeholders that is built once: building one takes about as long as the driver takes to send it. Drizzle has no public way
 * to run a prepared query elsewhere than where it was built, and each transaction is a place of its own. So this is the one place that
 * reaches into Drizzle: a prepared query keeps its pool or transaction as `client`. Throws if it does not, as another version might not.
 */
export function preparedOnce<Query extends object>(
  build: (db: Database | Transaction) => Query,
): (db: Database | Transaction) => Query {
  let built: Query | undefined;
  return (db) => {
    built ??= withoutClient(build(db));
    return Object.create(built, { client: { value: clientOf(db) } }) as Query;
  };
}

/**
 * A transaction that is over only when `work` is. The driver's own fails as soon as its connection is gone, while `work` goes on
 * elsewhere, on the host for instance. Here its statements fail at once from then on, so that nothing waits for the database.
 */
export async function transactionToItsEnd<T>(db: Database, work: (tx: Transaction) => Promise<T>): Promise<T> {
  let working: Promise<T> | undefined;
  try {
    return await db.transaction((tx) => {
      working = work(tx);
      return working;
    });
  } catch (error) {
    await working?.catch(() => {});
    throw error;
  }
}

/** Makes a value once for each database, and keeps it as long as the database: a record of the waiting callers, say. */
export function oncePerDatabase<Made>(make: (db: Database) => Made): (db: Database) => Made {
  const made = new WeakMap<Database, { readonly made: Made }>();
  return (db) => {
    const known = made.get(db) ?? { made: make(db) };
    made.set(db, known);
    return known.made;
  };
}

/** The query without the pool or transaction that it was built on, which may be over. */
function withoutClient<Query extends object>(query: Query): Query {
  if (!("client" in query)) throw new Error("not a prepared query of postgres.js");
  return Object.assign(query, { client: undefined });
}

/** The object on which Drizzle runs queries. */
function clientOf(db: Database | Transaction): unknown {
  const { session } = db._;
  if (!(session instanceof PostgresJsSession)) throw new Error("not a database of postgres.js");
  return session.client;
}

/**
 * The results of statements of one transaction, which are sent in one go and run in order. Throws the error of the first
 * one that failed, because the others only fail after it.
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

/** True if `error` is PostgreSQL's refusal of a null in the named column. */
export function isNullIn(error: unknown, column: string): boolean {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return cause instanceof postgres.PostgresError && cause.code === "23502" && cause.column_name === column;
}

/** True if `error` says that PostgreSQL gave up on a lock, after `lock_timeout`. */
export function isLockTimeout(error: unknown): boolean {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return cause instanceof postgres.PostgresError && cause.code === "55P03";
}

/** System calls that failed, the driver's own codes, and PostgreSQL's refusals to let one in (SQLSTATE 08, 28, 3D, 57P). */
const CONNECTION_CODES = /^(E[A-Z_]{4,}|CONNECT_TIMEOUT|CONNECTION_[A-Z]+|08\w{3}|28\w{3}|3D\w{3}|57P\d\d)$/;

/** Why there is no connection, if `error` is about that; undefined for any other failure. */
export function connectionFailure(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return CONNECTION_CODES.test(code) ? error.message || code : connectionFailure(error.cause);
}
