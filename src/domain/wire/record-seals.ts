/** The seals of records that agents name in their cursors: few different ones, so they are remembered. */

import { sql } from "drizzle-orm";
import type { Database } from "../../store/client.ts";
import type { AuditHead } from "../audit/head.ts";
import { hex } from "../audit/seal.ts";

const MOST = 10_000;

export interface RecordSeals {
  remember(record: AuditHead): void;
  /** Forgets all of them, because the log has another history. */
  forget(): void;
  /** The seal of a record in the log; undefined if there is no record of that number, or it was removed. */
  at(id: number): Promise<string | undefined>;
}

export function createRecordSeals(db: Database): RecordSeals {
  const seals = new Map<number, string>();
  /** Seals being read: after a start thousands of agents ask for the same few. */
  const readings = new Map<number, Promise<string | undefined>>();
  let history = 0;

  function remember({ id, seal }: AuditHead): void {
    seals.delete(id);
    seals.set(id, seal);
    if (seals.size > MOST) seals.delete(seals.keys().next().value ?? 0);
  }

  async function read(id: number): Promise<string | undefined> {
    const before = history;
    const [row] = await db.execute<{ mac: Uint8Array }>(sql`select mac from audit where id = ${id}`);
    if (row === undefined) return undefined;
    // Not of a history that was left meanwhile.
    if (history === before) remember({ id, seal: hex(row.mac) });
    return hex(row.mac);
  }

  return {
    remember,
    forget: () => {
      history++;
      readings.clear();
      seals.clear();
    },
    at: async (id) => {
      const known = seals.get(id);
      if (known !== undefined) return known;
      const reading =
        readings.get(id) ??
        read(id).finally(() => {
          if (readings.get(id) === reading) readings.delete(id);
        });
      readings.set(id, reading);
      return await reading;
    },
  };
}
