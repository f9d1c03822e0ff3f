/** Reads records for many followers: those that have got equally far share one query. */

import { setTimeout as sleep } from "node:timers/promises";
import { recordsAfter } from "../../domain/audit/follow.ts";
import type { Database } from "../../store/client.ts";
import type { AuditRow } from "../../store/schema-audit.ts";

/** Milliseconds for which what was read is kept. */
const KEPT = 20;

export interface Tail {
  /** The records after that number, oldest first; a number of them. */
  after(id: number): Promise<readonly AuditRow[]>;
  /** There may be more than was read. */
  moved(): void;
}

export function createTail(db: Database, limit: number): Tail {
  const reading = new Map<number, Promise<readonly AuditRow[]>>();
  return {
    after(id) {
      const known = reading.get(id);
      if (known !== undefined) return known;
      const read = recordsAfter(db, id, limit).finally(() => {
        // Kept for those who come next, but not for long: the log goes on.
        void sleep(KEPT, undefined, { ref: false }).then(() => reading.delete(id));
      });
      reading.set(id, read);
      return read;
    },
    moved: () => reading.clear(),
  };
}
