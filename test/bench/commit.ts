/** Another commit of this repository, built beside this one, to be measured in turns with it. */

import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "../../src/build/packages.ts";
import type { Candidate } from "./hot-paths.ts";
import { BenchUsageError } from "./options.ts";

/** The full name of the commit. Throws BenchUsageError for what names none. */
export function resolveCommit(name: string): string {
  const { status, stdout } = git("rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`);
  if (status !== 0) throw new BenchUsageError(`There is no commit ${JSON.stringify(name)} in this repository.`);
  return stdout.trim();
}

/** Builds that commit in a folder of its own, lets `work` use the binary, and removes all of it. */
export async function withCommit<T>(commit: string, work: (rival: Candidate) => Promise<T>): Promise<T> {
  const directory = mkdtempSync("/var/tmp/uam-bench-against-");
  const tree = join(directory, "tree");
  const binary = join(directory, "uam");
  try {
    must("git", ["-C", PROJECT, "worktree", "add", "--quiet", "--detach", tree, commit], PROJECT);
    console.log(`building ${commit.slice(0, 12)}`);
    must(process.execPath, ["install", "--frozen-lockfile", "--silent"], tree);
    must(process.execPath, ["src/build/build.ts"], tree);
    copyFileSync(join(tree, "dist/uam"), binary);
    return await work({ name: commit.slice(0, 12), binary });
  } finally {
    if (existsSync(tree)) git("worktree", "remove", "--force", tree);
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Builds this commit, as it is here. */
export function buildHere(): void {
  console.log("building this one");
  must(process.execPath, ["src/build/build.ts"], PROJECT);
}

function git(...args: readonly string[]) {
  return spawnSync("git", ["-C", PROJECT, ...args], { encoding: "utf8" });
}

function must(program: string, args: readonly string[], cwd: string): void {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} failed: ${error ?? `${stdout}${stderr}`}`);
}
