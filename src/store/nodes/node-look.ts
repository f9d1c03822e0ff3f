/** A look at one node of the database: whether it takes changes, asked on a connection that stays for the next look. */

import type { DatabaseUrl, Node } from "../../shared/net/database-url.ts";
import { openClient } from "../client.ts";

/** A node that takes changes. */
export interface Look {
  readonly node: Node;
  /** Rises with each promotion. */
  readonly timeline: number;
  readonly refusal?: undefined;
  /** Whether it still takes changes; false also if it does not answer. */
  readonly again: () => Promise<boolean>;
  /** Closes the connection. */
  readonly end: () => void;
}

/** One that takes none, and why. */
export interface Refusal {
  readonly node: Node;
  readonly refusal: string;
}

export type Glance = Look | Refusal;

/** Never throws; answers within `patience` milliseconds. */
export async function lookAt(url: DatabaseUrl, node: Node, patience: number): Promise<Glance> {
  const client = openClient({ url: url.at(node) }, 1, { name: "watch of uam" });
  const end = () => void client.end({ timeout: 0 }).catch(() => {});
  const ask = () => inTime(client.unsafe<Answer[]>(QUESTION), patience);
  try {
    const [answer] = await ask();
    const refusal = answer === undefined ? "says nothing" : refusalOf(answer);
    if (answer === undefined || refusal !== undefined) {
      end();
      return { node, refusal: refusal ?? "says nothing" };
    }
    const again = async () => {
      const [now] = await ask().catch(() => []);
      return now !== undefined && refusalOf(now) === undefined;
    };
    return { node, timeline: Number.parseInt(answer.timeline ?? "0", 16), again, end };
  } catch (error) {
    end();
    return { node, refusal: error instanceof Error ? error.message || "does not answer" : String(error) };
  }
}

interface Answer {
  readonly standby: boolean;
  readonly readonly: string;
  readonly timeline: string | null;
}

/** The first eight digits of a WAL file's name are the timeline; a standby has none to write to. */
const QUESTION = `select pg_is_in_recovery() as standby, current_setting('transaction_read_only') as readonly,
  case when pg_is_in_recovery() then null else left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline`;

function refusalOf({ standby, readonly }: Answer): string | undefined {
  if (standby) return "is a standby";
  return readonly === "on" ? "is read-only" : undefined;
}

async function inTime<T>(work: PromiseLike<T>, patience: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(late.reject, patience, new Error("does not answer"));
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
