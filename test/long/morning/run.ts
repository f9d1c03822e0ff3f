/**
 * A morning: users whose hours begin at the same second, on real accounts in direct mode, and a user who reads their keys meanwhile. Prints how
 * long it takes until the last is open, and how long the reads wait. As root: the accounts exist in a mount namespace of its own. Options:
 * `--users COUNT` (10000), `--memory`: a host in memory in place of the real one, without root. Exit code 1 if an account is not open at the end, or a key file is not as it should be.
 */

import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: { users: { type: "string", default: "10000" }, memory: { type: "boolean", default: false } },
});
const run = join(import.meta.dir, "namespace.ts");
if (values.memory) {
  process.exitCode = spawnSync(process.execPath, [run, "", values.users], { stdio: "inherit" }).status ?? 1;
} else if (process.geteuid?.() !== 0) {
  console.log("left out: it needs root, for a mount namespace of its own");
} else {
  const base = mkdtempSync("/var/lib/uam-morning-");
  chmodSync(base, 0o755);
  const args = ["--mount", "--propagation", "private", "--", process.execPath, run, base, values.users];
  process.exitCode = spawnSync("/usr/bin/unshare", args, { stdio: "inherit" }).status ?? 1;
  rmdirSync(base);
}
