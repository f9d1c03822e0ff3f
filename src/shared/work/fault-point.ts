/**
 * Fault points: places between the steps of a change at which a test ends or stops the process. The build leaves out every call, so
 * the binary has neither the names nor the variable. A call must be a line of its own, because the build looks for that.
 */

import { appendFileSync, readFileSync, rmSync } from "node:fs";
import process from "node:process";

/** All of them: each names the step that has happened, and the one that has not. */
export const FAULT_POINTS = [
  "operation: begun, nothing done",
  "operation: done, not recorded",
  "operation: recorded, not committed",
  "operation: committed, not answered",
  "operation: failed, host not set back",
  "operation: host set back, failure not recorded",
  "operation: failure recorded, not answered",
  "closing: begun, not noted",
  "closing: noted, host untouched",
  "closing: host done, not stored",
  "closing: found unfinished, not continued",
  "access: given in the database, host untouched",
  "account: uid taken, not used",
  "account: intent noted, not made",
  "account: made, intent still noted",
  "account: remains removed, intent still noted",
  "account: no longer granted, not removed",
  "key: stored, not in the file",
  "networks: wider in the database, not in the file",
  "networks: narrowed, what was added not given",
  "reconcile: difference seen, not repaired",
  "reconcile: repaired, not recorded",
  "lock: written down, account open",
  "lock: account shut, not recorded",
  "lock: recorded, still written down",
  "lock: no longer written down, mark still there",
  "start: database open, host not reconciled",
  "start: host reconciled, not serving",
  "host: a change made",
  "key file: draft written, not in place",
  "key file: in place, not synced",
  "trash: to be emptied",
  "file: draft written, not in place",
  "file: in place, not synced",
  "file: removed, not synced",
  "mail: claimed, not sent",
  "mail: sent, not noted",
  "webhook: delivered, not noted",
  "stream: written, not noted",
  "fleet: report taken, not stored",
  "agent: told, nothing stored",
  "agent: orders stored, host untouched",
  "agent: host done, not stored",
  "agent: all stored, not reported",
  "agent: reported, not noted",
  "agent: lease written, link as it was",
  "agent: lease ended, accounts as they were",
  "agent: next key kept, not sent",
  "agent: next key sent, not adopted",
  "agent: next key adopted, not dated",
  "agent: own key made, token not spent",
  "agent: token spent, nothing kept",
  "agent: own key kept, service's name not",
] as const;

export type FaultPoint = (typeof FAULT_POINTS)[number];

/**
 * The content of the file that the variable names, written by a test; `trace` writes the name of each point into another
 * file.
 */
export type Fault =
  | { readonly point: FaultPoint; readonly nth: number; readonly action: "kill" | "stop" }
  | { readonly action: "trace"; readonly into: string };

/** The variable with the path of that file; read at each point, so that a service need not be started again for another fault. */
export const FAULT_VARIABLE = "UAM_TEST_FAULT";

const file = process.env[FAULT_VARIABLE];
let armed = "";
let passed = 0;

/**
 * Does nothing, unless a test asks for it: then it ends the process at once, or stops it until somebody continues it.
 */
export function faultPoint(name: FaultPoint): void {
  if (file === undefined) return;
  const text = read(file);
  if (text === "") return;
  const fault = JSON.parse(text) as Fault;
  if (fault.action === "trace") {
    appendFileSync(fault.into, `${name}\n`);
    return;
  }
  if (fault.point !== name) return;
  if (text !== armed) [armed, passed] = [text, 0];
  passed++;
  if (passed !== fault.nth) return;
  // Before, so that it happens once.
  rmSync(file, { force: true });
  process.kill(process.pid, fault.action === "kill" ? "SIGKILL" : "SIGSTOP");
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
