/** The part of `uam lock` that root does itself where the service runs as another user: root's own commands need no sudo. */

import type { AccountRef } from "../../../protocol/host.ts";
import { publicMessage } from "../../../shared/errors.ts";
import { withoutPrefix } from "../../../shared/text/account-name.ts";
import { type CliEnvironment, commandLog, loadConfig } from "../../terminal/environment.ts";
import { ALREADY_SHUT } from "./lock.ts";

/**
 * Shuts the account, as direct mode does, and returns the arguments with which the service's user notes and records it; for any other
 * command, and where root cannot shut it, the arguments as they were. Never throws.
 */
export async function lockAsRoot(args: readonly string[], environment: CliEnvironment): Promise<readonly string[]> {
  const [command, submitted = "", ...more] = args;
  if (command !== "lock" || submitted.startsWith("-") || more.length > 0) return args;
  try {
    const config = await loadConfig(environment);
    const log = await commandLog(environment, config, true);
    const { hostOpener } = await import("../../../agent/open-host.ts");
    const { policyOf } = await import("../../../server/compose.ts");
    const { hostSettingsOf } = await import("../../../server/host-settings.ts");
    const { parseUsername } = await import("../../../domain/accounts/username.ts");
    const { findLockable } = await import("../../../domain/lifecycle/locks.ts");
    // Root's work with the settings of sudo mode: nothing is done that the service could not undo, such as shutting the home.
    const host = await hostOpener({ ...hostSettingsOf(config), mode: "direct" }, log, environment.runtime)("all");
    const known = await knownThere(config.dataDir, environment);
    const account = await findLockable(host, policyOf(config), parseUsername(withoutPrefix(submitted)), known);
    const { owed } = account === undefined ? { owed: ["there is no account"] } : await host.shutAccount(account);
    if (account === undefined || owed.length > 0) return args;
    environment.err(`The account ${account.name} is shut.\n`);
    return [...args, ALREADY_SHUT, String(account.uid)];
  } catch (error) {
    environment.err(`uam: Root could not shut the account (${publicMessage(error)}); trying as the service does.\n`);
    return args;
  }
}

/** The accounts that an agent stored. The directory belongs to the service's user, so nothing in it may keep root from locking an account. */
async function knownThere(directory: string, environment: CliEnvironment): Promise<readonly AccountRef[]> {
  const { findIdentity, readState } = await import("../../../agent/store.ts");
  try {
    return findIdentity(directory) === undefined ? [] : (readState(directory)?.records ?? []);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    environment.err(`uam: What the agent stored cannot be read (${why}); the account is looked for without it.\n`);
    return [];
  }
}
