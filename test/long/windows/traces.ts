/** Removing the accounts of a test. */

import { spawnSync } from "node:child_process";
import { readAccounts } from "../../../src/host/account.ts";
import { processesOf, readProcesses } from "../../../src/host/processes/processes.ts";
import { until } from "../../support/until.ts";
import type { Account } from "./place.ts";

/** Ends what runs in them, and removes them. */
export async function forgetAccounts(accounts: readonly Pick<Account, "name" | "uid">[]): Promise<void> {
  for (const { name, uid } of accounts) {
    await until(() => {
      const left = processesOf(readProcesses(), uid).length;
      if (left > 0) spawnSync("pkill", ["-KILL", "-U", String(uid)]);
      return left === 0;
    });
    if (readAccounts().passwd.has(name)) await until(() => spawnSync("userdel", ["-f", "--", name]).status === 0);
  }
}
