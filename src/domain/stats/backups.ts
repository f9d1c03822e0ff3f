/** Backups, as the log has them: how old the newest is, and whether that is too old. */

import { type SQL, sql } from "drizzle-orm";
import type { Services } from "../operation/context.ts";

/** A backup that is older than it may be. */
export interface OldBackup {
  /** When the newest was made. */
  readonly at: Date;
  /** Why the newest attempt since then failed; empty if nobody tried. */
  readonly problem: string;
}

/** The newest record of a backup with that result, by the index of records about one action. */
export function newestBackup(columns: SQL, result: "success" | "failed"): SQL {
  return sql`select ${columns} from audit
    where hashtextextended(action, 0) = hashtextextended('service.backup', 0)
      and action = 'service.backup' and result = ${sql.raw(`'${result}'`)} order by id desc limit 1`;
}

/** When the newest backup was made; undefined if none is on record. */
export async function lastBackup({ db }: Pick<Services, "db">): Promise<OldBackup | undefined> {
  const [row] = await db.execute<{ id: number; at: string; failed: number | null; detail: string | null }>(sql`
    select made.id::float8 as id, extract(epoch from made.created_at)::text as at,
      failed.id::float8 as failed, failed.detail as detail
    from (${newestBackup(sql`id, created_at`, "success")}) made
    left join (${newestBackup(sql`id, detail`, "failed")}) failed on true`);
  if (row === undefined) return undefined;
  const problem = row.failed !== null && row.failed > row.id ? reasonIn(row.detail ?? "{}") : "";
  return { at: new Date(Number(row.at) * 1000), problem };
}

/** Undefined while there is nothing to say: none was ever made, so that it may be done otherwise, or the newest is young enough. */
export async function oldBackup(
  services: Pick<Services, "db" | "clock"> & { readonly policy: Pick<Services["policy"], "backupMaxAge"> },
): Promise<OldBackup | undefined> {
  const { backupMaxAge } = services.policy;
  if (backupMaxAge === 0) return undefined;
  const last = await lastBackup(services);
  if (last === undefined || services.clock.now().getTime() - last.at.getTime() <= backupMaxAge) return undefined;
  return last;
}

function reasonIn(detail: string): string {
  const { err } = JSON.parse(detail) as { readonly err?: unknown };
  return typeof err === "string" ? err : "";
}
