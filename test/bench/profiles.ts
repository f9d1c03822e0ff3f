/** Profiles: whether sshd takes longer over a login because there are many of them, and many accounts. */

import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { execPath, geteuid } from "node:process";
import { describeMachine } from "./bench.ts";

/** Prints how long `sshd -T -C` and a login take with 10,000 accounts in 20 profiles, beside one account in one, in turns. */
export async function benchProfiles(): Promise<void> {
  console.log(`\n## A login with 10,000 accounts in 20 profiles\n\n${describeMachine()}`);
  if (geteuid?.() !== 0) {
    console.log("left out: it needs root, for a mount namespace of its own and an sshd");
    return;
  }
  const base = mkdtempSync("/var/lib/uam-bench-");
  chmodSync(base, 0o755);
  try {
    // The accounts exist only in that namespace: the host's own files are covered there, not changed.
    const run = join(import.meta.dir, "profiles-namespace.ts");
    const args = ["--mount", "--propagation", "private", "--", execPath, run, base];
    const { status, error } = spawnSync("/usr/bin/unshare", args, { stdio: "inherit" });
    if (status !== 0) throw new Error("the benchmark of profiles failed", { cause: error });
  } finally {
    rmdirSync(base);
  }
}
