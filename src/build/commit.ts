/** The commit that is built. */

import { systemClock } from "../shared/time/clock.ts";
import { PROJECT } from "./packages.ts";

/** Its first twelve digits; outside a repository, "unknown". */
export function shortCommit(): string {
  return git("rev-parse", "--short=12", "HEAD") ?? "unknown";
}

/** When it was made, in whole seconds; outside a repository, now. */
export function changeDate(): Date {
  const seconds = Number(git("log", "-1", "--format=%ct") ?? Math.floor(systemClock.now().getTime() / 1000));
  return new Date(seconds * 1000);
}

/** Git's answer about the checkout, without blanks around it; undefined if it fails. */
export function git(...argv: readonly string[]): string | undefined {
  const { success, stdout } = Bun.spawnSync(["git", "-C", PROJECT, ...argv], { stderr: "ignore" });
  return success ? stdout.toString().trim() : undefined;
}
