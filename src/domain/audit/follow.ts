/**
 * Following the audit log: its ids have no gaps and are in the order of commit, so a follower only has to keep the last id
 * it saw. Writers of the log never wait for followers.
 */

import { asc, gt } from "drizzle-orm";
import { SECOND } from "../../shared/time/clock.ts";
import { createBell } from "../../shared/work/bell.ts";
import type { Database } from "../../store/client.ts";
import { listen } from "../../store/notify.ts";
import { type AuditRow, audit } from "../../store/schema-audit.ts";
import type { Services } from "../operation/context.ts";

/** audit_append() in drizzle/ notifies it with the new record's id. */
const AUDIT_CHANNEL = "audit";
/** How often a follower looks without being told: a notification may be missed. */
const POLL = SECOND;

/** The records after `id`, oldest first; at most `limit`. Records that retention has deleted are left out. */
export async function recordsAfter(db: Database, id: number, limit: number): Promise<readonly AuditRow[]> {
  return await db.select().from(audit).where(gt(audit.id, id)).orderBy(asc(audit.id)).limit(limit);
}

/**
 * Calls `look` as soon as there may be newer records: now, after each commit of one, and each second. On a connection of its own,
 * which is opened again when it is lost. Returns the function that ends it.
 */
export function watchLog({ db, log }: Pick<Services, "db" | "log">, look: () => void): () => Promise<void> {
  const listening = listen(db, AUDIT_CHANNEL, look).catch((error: unknown) => {
    log.warn("the database sends no notifications about the audit log; it is read each second instead", { error });
    return async () => {};
  });
  const timer = setInterval(look, POLL);
  return async () => {
    clearInterval(timer);
    await (await listening)();
  };
}

/**
 * Batches of records after a number, oldest first: first the existing records, then new ones as they are written, until the signal
 * aborts.
 */
export async function* followRecords(
  services: Pick<Services, "db" | "log">,
  { after, limit }: { readonly after: number; readonly limit: number },
  signal: AbortSignal,
): AsyncGenerator<readonly AuditRow[], void> {
  const bell = createBell();
  const stopWatching = watchLog(services, bell.ring);
  signal.addEventListener("abort", bell.ring, { once: true });
  try {
    for (let seen = after; !signal.aborted; ) {
      const rung = bell.next();
      const records = await recordsAfter(services.db, seen, limit);
      if (records.length > 0) yield records;
      seen = records.at(-1)?.id ?? seen;
      if (records.length < limit && !signal.aborted) await rung;
    }
  } finally {
    await stopWatching();
  }
}
