/** A connection of its own for COPY, on the one driver whose COPY survives a reader that leaves. */

import type { Readable, Writable } from "node:stream";
import type { SQL } from "drizzle-orm";
import { PgDialect } from "drizzle-orm/pg-core";
import { Client, type ClientConfig } from "pg";
import { from, to } from "pg-copy-streams";
import { UamError } from "../../shared/errors.ts";
import { parseDatabaseUrl } from "../../shared/net/database-url.ts";
import type { ConnectionOptions, Executor } from "../client.ts";

/** A COPY under way; `rowCount` is right once the stream has ended. */
type Copy<S> = S & { readonly rowCount: number };

/** One connection, used by one at a time. */
export interface CopyClient extends Executor {
  /**
   * Aborted when the connection is lost or the work is to end; for pipelines, which would otherwise wait without end.
   */
  readonly signal: AbortSignal;
  /** Commits; aborting the signal comes too late from then on, so that nobody is told of a change that it was not made. */
  commit(): Promise<void>;
  copyTo(statement: string): Copy<Readable>;
  copyFrom(statement: string): Copy<Writable>;
}

/** How the name of every connection of this program in pg_stat_activity begins. */
export const APPLICATION = "uam";

/**
 * Runs `work` on a new connection and always ends that afterwards; an abandoned COPY ends with it. Aborting `signal` ends
 * it at once, and the server rolls back uncommitted changes.
 */
export async function withCopyClient<T>(
  options: ConnectionOptions,
  signal: AbortSignal,
  work: (client: CopyClient) => Promise<T>,
): Promise<T> {
  const client = await connect(options);
  const stop = new AbortController();
  const lost = Promise.withResolvers<never>();
  const lose = (error: unknown) => {
    lost.reject(error);
    stop.abort(error);
    // Calls that wait for an answer of the server fail with this.
    client.connection.stream.destroy();
  };
  // Without a listener a lost connection would end the process.
  client.on("error", lose);
  const abort = () => lose(new UamError("conflict", "Stopped before the end; nothing was changed."));
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  const commit = async () => {
    signal.removeEventListener("abort", abort);
    await client.query("commit");
  };
  const working = work({ ...copyClient(client, stop.signal), commit });
  try {
    return await Promise.race([working, lost.promise]);
  } catch (error) {
    lose(error);
    await working.catch(() => {});
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
    await client.end();
  }
}

function copyClient(client: Client, signal: AbortSignal): Omit<CopyClient, "commit"> {
  const dialect = new PgDialect();
  return {
    signal,
    // The driver gives rows as unknown objects; the caller states their type, as with any other executor.
    execute: async (query: SQL | string) => {
      const { sql, params } = typeof query === "string" ? { sql: query, params: [] } : dialect.sqlToQuery(query);
      // Without parameters the simple protocol: it takes every statement.
      const { rows } = params.length === 0 ? await client.query(sql) : await client.query(sql, [...params]);
      return rows;
    },
    copyTo: (statement) => client.query(to(statement)),
    copyFrom: (statement) => client.query(from(statement)),
  };
}

async function connect(options: ConnectionOptions): Promise<Client> {
  const modes = sslModes(options);
  const where = await address(options);
  for (const [index, ssl] of modes.entries()) {
    const client = new Client({ ...where, ssl, application_name: `${APPLICATION}-copy` });
    try {
      await client.connect();
      return client;
    } catch (cause) {
      if (index < modes.length - 1) continue;
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new UamError("internal", `The database cannot be reached: ${reason}`, { cause });
    }
  }
  throw new Error("there is no way to connect");
}

async function address(options: ConnectionOptions): Promise<ClientConfig> {
  if (!("url" in options)) {
    return { host: options.host, port: options.port, user: options.username, database: options.database };
  }
  const url = new URL((await options.nodes?.leaderUrl()) ?? options.url);
  for (const name of ["sslmode", "ssl", "sslrootcert"]) url.searchParams.delete(name);
  return { connectionString: url.href };
}

const NO_QUERY = new URLSearchParams();

/**
 * The TLS modes to try, in order. They are those of the pool's driver for the URL: its `require` is libpq's and does
 * not verify.
 */
function sslModes(options: ConnectionOptions): readonly NonNullable<ClientConfig["ssl"]>[] {
  const query = "url" in options ? (parseDatabaseUrl(options.url)?.query ?? NO_QUERY) : NO_QUERY;
  const mode = query.get("sslrootcert") === "system" ? "verify-full" : (query.get("sslmode") ?? query.get("ssl"));
  switch (mode) {
    case null:
    case "disable":
    case "false":
      return [false];
    case "prefer":
      return [{ rejectUnauthorized: false }, false];
    case "require":
    case "allow":
      return [{ rejectUnauthorized: false }];
    default:
      return [{ rejectUnauthorized: true }];
  }
}
