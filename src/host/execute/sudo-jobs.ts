/** Copies of jobs that are to be removed, in sudo mode: the service asks this very program, run as root, and learns nothing of them. */

import type { AccountRef } from "../../protocol/host.ts";
import { UamError } from "../../shared/errors.ts";
import type { Log } from "../../shared/log.ts";
import { presenceIn, readAccounts, requireRef } from "../account.ts";
import { describeJobsCopy, type HostJobs } from "../executor.ts";
import { forgetJobs, keepJobs } from "../jobs/kept-jobs.ts";
import { forgetJobsCommand, keepJobsCommand, type SudoCommand } from "./sudo-commands.ts";
import { runSudo } from "./sudo-run.ts";

/** Taking access away does not wait longer for a copy. */
const TIMEOUT = 10_000;

/** The service's side: `uam host keep-jobs` and `forget-jobs` through sudo. */
export function createSudoJobs(log: Log, program: readonly string[]): HostJobs {
  return {
    async keep(account) {
      const { message, fields } = describeJobsCopy(account);
      log.debug(`host: ${message}`, fields);
      return (await ask(keepJobsCommand(account, program))) === "kept" ? "kept" : "none";
    },
    async forget() {
      await ask(forgetJobsCommand(program));
    },
  };
}

async function ask(command: SudoCommand): Promise<unknown> {
  const { exitCode, stdout, stderr } = await runSudo(command, { timeout: TIMEOUT });
  if (exitCode === 0) return JSON.parse(stdout);
  const said = stderr
    .trim()
    .split("\n")
    .at(-1)
    ?.replace(/^uam: /, "");
  throw new UamError("internal", said || `Root's copy of jobs cannot be made: exit code ${exitCode}`);
}

/**
 * Root's side. Of an account that is somebody else's, whatever the service asks for, nothing is copied; of one that is gone, what
 * is left is.
 */
export async function rootKeepJobs(account: AccountRef): Promise<"none" | "kept"> {
  requireRef(account);
  return presenceIn(readAccounts(), account) === "foreign" ? "none" : await keepJobs(account);
}

/** Root's side. */
export async function rootForgetJobs(): Promise<"done"> {
  forgetJobs();
  return "done";
}
