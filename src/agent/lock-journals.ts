/** The journals of `uam lock` on an agent's host: on the disk, and in /run where the disk had no room. */

import type { Log } from "../shared/log.ts";
import { type LockEntry, readLocks, removeLock } from "../shared/system/lock-journal.ts";

interface Places {
  readonly directory: string;
  readonly runDirectory: string;
  readonly log: Log;
}

/** The accounts that it shut, and that the service has not recorded. */
export function locksIn({ directory, runDirectory, log }: Places): readonly LockEntry[] {
  return [directory, runDirectory].flatMap((place) => readLocks(place, log));
}

/** Forgets those that the service has recorded. */
export function forgetLocks({ directory, runDirectory, log }: Places, recorded: ReadonlySet<string>): void {
  for (const place of [directory, runDirectory]) {
    for (const { id } of readLocks(place, log)) if (recorded.has(id)) removeLock(place, id);
  }
}
