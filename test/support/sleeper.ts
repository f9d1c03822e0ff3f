/** A process of a uid that does nothing. Needs root. */

import { type ChildProcess, spawn } from "node:child_process";
import { readProcess } from "../../src/host/processes/processes.ts";
import { until } from "./until.ts";

/** Sleeps for minutes, and is the uid's by now: before that, nothing that ends the uid's processes would end it. */
export async function startSleeper(uid: number): Promise<ChildProcess> {
  const as = ["--reuid", String(uid), "--regid", String(uid), "--clear-groups"];
  const child = spawn("/usr/bin/setpriv", [...as, "--", "/bin/sleep", "600"], { stdio: "ignore" });
  await until(() => readProcess(child.pid ?? 0)?.uids.every((each) => each === uid) === true);
  return child;
}
