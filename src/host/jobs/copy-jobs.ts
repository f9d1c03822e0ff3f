/** The copy that root keeps of jobs which are removed next. */

import type { AccountRef, JobsGone } from "../../protocol/host.ts";
import { attempt } from "../executor.ts";
import type { HostContext } from "../host-context.ts";

/** Copies the account's jobs; undefined if there are none. Never throws: a failed copy does not keep access from being taken away. */
export async function copyJobs(
  { executor, log }: Pick<HostContext, "executor" | "log">,
  { name, uid }: AccountRef,
): Promise<JobsGone | undefined> {
  let jobs: JobsGone | undefined;
  const problem = await attempt(async () => {
    jobs = (await executor.jobs.keep({ name, uid })) === "kept" ? "kept" : undefined;
  }, log);
  if (problem === undefined) return jobs;
  log.warn(`Jobs are removed without a copy: ${problem}`, { account: name });
  return "lost";
}
