/** SQL on the database that a service under test has embedded. */

import { join } from "node:path";
import postgres from "postgres";
import { isDatabaseLost } from "../../src/shared/database-lost.ts";
import { HANG } from "./hang.ts";

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

/**
 * What `ask` answers, for somebody who makes database servers fail: where the connection was lost on the way, or is not to be had,
 * because a server ends or begins, it asks again as long as there is somebody who starts one. Only for what may be done twice.
 */
export async function askThroughRestarts<T>(ask: () => Promise<T>, isServed: () => boolean): Promise<T> {
  const end = performance.now() + HANG;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isDatabaseLost(error) || !isServed() || performance.now() > end) throw error;
      await Bun.sleep(100);
    }
  }
}
