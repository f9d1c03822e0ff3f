/** SQL on the database that a service under test has embedded. */

import { join } from "node:path";
import postgres from "postgres";

/** The rows of one statement, as its superuser, on a connection of its own; throws where nobody answers in the data directory. */
export async function askEmbedded(dataDir: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const host = join(dataDir, "postgres/run");
  const client = postgres({ host, port: 5432, username: "postgres", database: "uam", max: 1, onnotice: () => {} });
  try {
    return await client.unsafe(text);
  } finally {
    await client.end({ timeout: 2 });
  }
}
