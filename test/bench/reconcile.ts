/** Reconciling accounts that do not differ: how long it takes, and that it changes nothing. */

import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { execPath, geteuid } from "node:process";
import { describeMachine } from "./bench.ts";

/** Prints seconds for 10,000 unchanged accounts beside the floor, and what was written, which must be nothing. */
export async function benchReconcile(): Promise<void> {
  console.log(`\n## Reconciling 10,000 unchanged accounts in direct mode\n\n${describeMachine()}`);
  if (geteuid?.() !== 0) {
    console.log("left out: it needs root, for a mount namespace of its own");
    return;
  }
  const base = mkdtempSync("/var/lib/uam-bench-");
  chmodSync(base, 0o755);
  try {
    // The accounts exist only in that namespace: the host's own files are covered there, not changed.
    const run = join(import.meta.dir, "reconcile-namespace.ts");
    const args = ["--mount", "--propagation", "private", "--", execPath, run, base];
    const { status, error } = spawnSync("/usr/bin/unshare", args, { stdio: "inherit" });
    if (status !== 0) throw new Error("the benchmark of reconcile failed", { cause: error });
  } finally {
    rmdirSync(base);
  }
}
