/** Ending the SSH connections that come from outside the networks from where an account's keys may be used. */

import { setTimeout as sleep } from "node:timers/promises";
import type { Account, HostKey } from "../../protocol/host.ts";
import type { SshSession } from "../../protocol/logins.ts";
import { hasAddress } from "../../shared/net/networks.ts";
import type { HostSessions } from "../executor.ts";

const ROUNDS = 10;
const PAUSE = 50;

/**
 * Ends every connection from outside, those that are still logging in among them: sshd may have found the key in the file just
 * before that was rewritten. False if logins from outside keep appearing; strangers who
 * keep knocking are not waited for, because they meet the new file. Throws if one could not be ended.
 */
export async function endOutsideSessions(account: Account, sessions: HostSessions): Promise<boolean> {
  for (let round = 0; round < ROUNDS; round++) {
    const outside = (await sessions.list(account)).filter((session) => !isInside(session, account.keys));
    if (round > 0 && !outside.some(({ isLoggedIn }) => isLoggedIn)) return true;
    for (const { id } of outside) await sessions.end(account, id);
    await sleep(PAUSE);
  }
  return false;
}

/**
 * Whether the key that is proven to have opened the session may be used from its address; without that proof, whether each of
 * the keys may. Where the kernel names no address, only keys that may be used from anywhere are. Pure.
 */
export function isInside(
  { from, fingerprint }: Pick<SshSession, "from" | "fingerprint">,
  keys: readonly HostKey[],
): boolean {
  const proven = keys.filter((key) => key.fingerprint === fingerprint);
  return (proven.length > 0 ? proven : keys).every(({ networks }) => hasAddress(networks, from));
}
