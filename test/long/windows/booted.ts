/** The same on another Debian, booted: its sshd and its systemd. */

import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { requireMachine } from "../../debian/cannot-boot.ts";
import { boot } from "../../debian/container.ts";
import { copyTree, RELEASE, removeCopies, requireTree, type Suite } from "../../debian/tree.ts";

const PROJECT = join(import.meta.dir, "../../..");
/** What a run needs of the project. */
const PARTS = ["src", "test", "drizzle", "docs", "node_modules", "package.json", "tsconfig.json", "bunfig.toml"];
/** Seconds for a run. */
const PATIENCE = 4 * 3600;

/** Runs this suite there with these options, prints what it said, and returns whether all was well. */
export async function runBooted(suite: Suite, options: readonly string[]): Promise<boolean> {
  requireMachine();
  removeCopies();
  const directory = await copyTree(await requireTree(suite), `windows-${suite}`);
  try {
    const place = join(directory, "opt/uam");
    mkdirSync(place, { recursive: true });
    for (const part of PARTS)
      cpSync(join(PROJECT, part), join(place, part), { recursive: true, verbatimSymlinks: true });
    cpSync(process.execPath, join(place, "bun"));
    const container = await boot(directory, `uam-windows-${suite}`, suite !== RELEASE);
    try {
      console.log(await container.sh('. /etc/os-release; echo "$PRETTY_NAME"; ssh -V 2>&1'));
      const command = ["./bun", "test/long/windows/run.ts", ...options].join(" ");
      const { status, stdout, stderr } = await container.attempt(`cd /opt/uam && ${command}`, PATIENCE);
      console.log(stdout + stderr);
      return status === 0;
    } finally {
      await container.stop();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
