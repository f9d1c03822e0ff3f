/** How old the newest backup is. */

import type { Services } from "../domain/operation/context.ts";
import { lastBackup, oldBackup } from "../domain/stats/backups.ts";
import { formatDuration } from "../shared/time/duration.ts";
import { formatTimestamp } from "../shared/time/timestamp.ts";
import { areaOf, type Finding } from "./finding.ts";

const SET_UP = "docs/backup.md has a timer for it; UAM_BACKUP_MAX_AGE=off if the database is backed up otherwise";

/** A fault if the newest backup is older than it may be, and a note if none was ever made where that matters. */
export async function checkBackups(
  services: Pick<Services, "db" | "clock" | "policy">,
  matters: boolean,
): Promise<readonly Finding[]> {
  const area = areaOf("backup");
  const { backupMaxAge } = services.policy;
  if (backupMaxAge === 0) return [area.ok("Backups are made otherwise: UAM_BACKUP_MAX_AGE is off")];
  const old = await oldBackup(services);
  if (old !== undefined) {
    const why =
      old.problem === "" ? "and nobody tried since" : `since then it failed: ${old.problem.replace(/\.$/, "")}`;
    const finding = `The newest backup is of ${formatTimestamp(old.at)}, older than ${formatDuration(backupMaxAge)}; ${why}`;
    return [area.fault(finding, `journalctl -u uam-backup; ${SET_UP}`)];
  }
  const last = await lastBackup(services);
  if (last !== undefined) return [area.ok(`The newest backup is of ${formatTimestamp(last.at)}`)];
  return matters ? [area.note("No backup was ever made", SET_UP)] : [];
}
