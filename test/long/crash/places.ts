/** For each fault point a deed that passes it, and at which pass the process is to die there: one walk over all of them. */

import type { FaultPoint } from "../../../src/shared/work/fault-point.ts";

/** Which of the two worlds it is in: a service on its own host, or an agent. */
export interface Place {
  readonly world: "service" | "agent";
  readonly deed: string;
  readonly nth?: number;
}

const on = (deed: string, nth = 1): Place => ({ world: "service", deed, nth });
const agent = (deed: string, nth = 1): Place => ({ world: "agent", deed, nth });

export const PLACES: Readonly<Record<FaultPoint, Place>> = {
  "operation: begun, nothing done": on("disable"),
  "operation: done, not recorded": on("create"),
  "operation: recorded, not committed": on("upload"),
  "operation: committed, not answered": on("enable"),
  "operation: failed, host not set back": on("create a second of that name"),
  "operation: host set back, failure not recorded": on("create a second of that name"),
  "operation: failure recorded, not answered": on("create a second of that name"),
  "closing: begun, not noted": on("delete"),
  "closing: noted, host untouched": on("revoke"),
  "closing: host done, not stored": on("disable"),
  "closing: found unfinished, not continued": on("a deletion that was begun"),
  "access: given in the database, host untouched": on("extend"),
  "account: uid taken, not used": on("create"),
  "account: intent noted, not made": on("create"),
  "account: made, intent still noted": on("create"),
  "account: remains removed, intent still noted": on("an account half made"),
  "account: no longer granted, not removed": on("another host"),
  "key: stored, not in the file": on("upload"),
  "networks: wider in the database, not in the file": on("widen"),
  "networks: narrowed, what was added not given": on("one network for another"),
  "reconcile: difference seen, not repaired": on("a key that somebody added"),
  "reconcile: repaired, not recorded": on("a key that somebody added"),
  "lock: written down, account open": on("uam lock"),
  "lock: account shut, not recorded": on("uam lock"),
  "lock: recorded, still written down": on("uam lock"),
  "lock: no longer written down, mark still there": on("uam lock"),
  "start: database open, host not reconciled": on("expiry"),
  "start: host reconciled, not serving": on("recycling"),
  "host: a change made": on("delete", 20),
  "key file: draft written, not in place": on("revoke"),
  "key file: in place, not synced": on("narrow"),
  "trash: to be emptied": on("delete"),
  "file: draft written, not in place": on("uam lock"),
  "file: in place, not synced": on("uam lock"),
  "file: removed, not synced": on("uam lock"),
  "mail: claimed, not sent": on("update"),
  "mail: sent, not noted": on("update"),
  "webhook: delivered, not noted": on("rename a key"),
  "stream: written, not noted": on("rename a key"),
  "fleet: report taken, not stored": agent("a new key"),
  "agent: told, nothing stored": agent("revoke"),
  "agent: orders stored, host untouched": agent("disable"),
  "agent: host done, not stored": agent("delete"),
  "agent: all stored, not reported": agent("a new key"),
  "agent: reported, not noted": agent("a new key"),
  "agent: lease written, link as it was": agent("create"),
  "agent: lease ended, accounts as they were": agent("lock the host"),
  "agent: next key kept, not sent": agent("a new key"),
  "agent: next key sent, not adopted": agent("a new key"),
  "agent: next key adopted, not dated": agent("a new key"),
  "agent: own key made, token not spent": agent("join"),
  "agent: token spent, nothing kept": agent("join"),
  "agent: own key kept, service's name not": agent("join"),
};
