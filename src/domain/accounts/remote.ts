/** Whether there is any host with an agent: if there is none, nothing else of the fleet happens. */

import { sql } from "drizzle-orm";
import { SECOND } from "../../shared/time/clock.ts";
import type { Database } from "../../store/client.ts";
import type { Services } from "../operation/context.ts";

/** A negative answer is kept for this long: hosts rarely join, and no change should pay for the question. */
const BELIEVED = 5 * SECOND;

const known = new WeakMap<Database, { found: boolean; askedAt: number }>();

/** Whether there is a host besides the service's own, as of a few seconds ago. */
export async function hasRemoteHosts({ db, autocommit }: Pick<Services, "db" | "autocommit">): Promise<boolean> {
  const before = known.get(db);
  if (before !== undefined && (before.found || performance.now() - before.askedAt < BELIEVED)) return before.found;
  const askedAt = performance.now();
  const [row] = await autocommit.execute<{ found: boolean }>(
    sql`select exists (select 1 from hosts where kind = 'remote') as found`,
  );
  const found = row?.found === true;
  known.set(db, { found, askedAt });
  return found;
}

/** Whether there was none when somebody asked last: for whoever cannot ask now. */
export function hadNoRemoteHosts({ db }: Pick<Services, "db">): boolean {
  return known.get(db)?.found === false;
}

/** A host has just joined here. */
export function noteRemoteHost({ db }: Pick<Services, "db">): void {
  known.set(db, { found: true, askedAt: performance.now() });
}
