/** The account databases, changed and locked as account tools do it, so that whoever else is at them on this machine loses nothing. */

import { spawnSync } from "node:child_process";
import { linkSync, unlinkSync, writeFileSync } from "node:fs";
import { readAccounts } from "../../src/host/account.ts";
import { errorCode } from "../../src/host/safe-open.ts";
import { hostAccountOf } from "../../src/shared/text/account-name.ts";
import { HANG } from "./hang.ts";

const LOCK = "/etc/passwd.lock";
const PATIENCE = HANG;

/** Does the work while the lock is held, as shadow-utils hold it; `holder` is what they write there, a process number. */
export async function whileAccountsAreLocked(holder: string, work: () => Promise<void>): Promise<void> {
  const own = `${LOCK}.uam-test-${process.pid}`;
  writeFileSync(own, holder);
  try {
    await retried(() => linkSync(own, LOCK));
    await work().finally(() => unlinkSync(LOCK));
  } finally {
    unlinkSync(own);
  }
}

/** Until no other tool has the lock. */
async function retried(take: () => void): Promise<void> {
  for (const end = performance.now() + PATIENCE; ; await Bun.sleep(50)) {
    try {
      return take();
    } catch (error) {
      if (errorCode(error) !== "EEXIST" || performance.now() > end) throw error;
    }
  }
}

/** Edits a database by a script of sed(1), under its lock, with vipw(8). */
export function editAccounts(database: "shadow" | "group", script: string): void {
  const [program, ...options] = database === "shadow" ? ["vipw", "-s"] : ["vigr"];
  const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", VISUAL: `sed -i -e '${script}'` };
  for (let attempt = 1; ; attempt++) {
    const { status, stderr } = spawnSync(program, options, { env, encoding: "utf8" });
    if (status === 0) return;
    if (attempt === 100) throw new Error(`${program}: ${stderr}`);
    Bun.sleepSync(100);
  }
}

/** Removes the accounts of users whose names begin so, with what runs as them: also those that a run which was killed has left. */
export function forgetAccounts(prefix: string): void {
  for (const [name, { uid }] of readAccounts().passwd) {
    if (!name.startsWith(hostAccountOf(prefix))) continue;
    spawnSync("pkill", ["-KILL", "-U", String(uid)]);
    // Of what was killed some may be left for a moment.
    spawnSync("userdel", ["-f", "--", name]);
    if (readAccounts().groups.has(name)) spawnSync("groupdel", [name]);
  }
}
