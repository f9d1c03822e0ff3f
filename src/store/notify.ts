/** Receives other connections' commits, by PostgreSQL's NOTIFY. */

import { type SQL, sql } from "drizzle-orm";
import { type Database, preparedOnce, type Transaction } from "./client.ts";

/** Tells all listeners of the channel, when the transaction commits and only then. */
export async function notify(tx: Transaction, channel: string): Promise<void> {
  await tell(tx).execute({ channel });
}

/** The same as part of a statement, for each row that it returns. */
export function notified(channel: string): SQL {
  return sql`pg_notify(${channel}::text, '')`;
}

const tell = preparedOnce((tx) =>
  tx
    .select({ told: sql`1` })
    .from(sql`pg_notify(${sql.placeholder("channel")}, '')`)
    .prepare("notify"),
);

/**
 * Calls `heard` after each commit that notified the channel, on a connection of its own that is opened again when it is lost;
 * also each time it is open, because notifications may have been missed before. Returns the function that ends it.
 */
export async function listen(db: Database, channel: string, heard: () => void): Promise<() => Promise<void>> {
  const { unlisten } = await db.$client.listen(channel, heard, heard);
  return unlisten;
}
