/** What the tests of jobs plant for an account of this machine, and what root keeps of it. */

import { spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { KeptJobs } from "../../src/host/jobs/kept-jobs.ts";
import { KEPT_JOBS_DIRECTORY } from "../../src/host/settings.ts";
import { bunRuntime } from "../../src/runtime/bun.ts";

/** An account's crontab and one at job. */
export function jobPaths(name: string): { readonly crontab: string; readonly at: string } {
  return { crontab: `/var/spool/cron/crontabs/${name}`, at: "/var/spool/cron/atjobs/a0000101d0b3f2" };
}

/** Puts a job there as crontab(1) and at(1) do, for its owner. */
export function plantJob(path: string, uid: number, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  chownSync(path, uid, uid);
}

/** What the command says as root. */
export function shownJobs(command: "user" | "agent", name: string): readonly KeptJobs[] {
  const [program = "", ...args] = bunRuntime.program;
  const { stdout } = spawnSync(program, [...args, command, "jobs", name, "--json"], { encoding: "utf8", cwd: "/" });
  return (JSON.parse(stdout) as { readonly items: readonly KeptJobs[] }).items;
}

/** Removes what tests left of these accounts. */
export function forgetJobsOf(...names: readonly string[]): void {
  for (const path of names.flatMap((name) => Object.values(jobPaths(name)))) rmSync(path, { force: true });
  const copies = existsSync(KEPT_JOBS_DIRECTORY) ? readdirSync(KEPT_JOBS_DIRECTORY) : [];
  for (const copy of copies.filter((file) => names.some((name) => file.startsWith(`${name}~`)))) {
    rmSync(join(KEPT_JOBS_DIRECTORY, copy));
  }
}
