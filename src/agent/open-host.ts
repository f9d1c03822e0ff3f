/** The host as the agent changes it, with what the service says about sessions. */

import { readAccounts } from "../host/account.ts";
import { createHost } from "../host/create-host.ts";
import type { HostSettings } from "../host/settings.ts";
import type { HostState } from "../protocol/fleet.ts";
import type { Host } from "../protocol/host.ts";
import type { Machine } from "../shared/kernel.ts";
import type { Log } from "../shared/log.ts";

/** Opens the host for each way in which sessions end once. Throws as `createHost` does. */
export function hostOpener(
  settings: Omit<HostSettings, "revokeEnds">,
  log: Log,
  machine: Machine,
): (endSessions: HostState["end_sessions"]) => Promise<Host> {
  const opened = new Map<HostState["end_sessions"], Host>();
  return async (endSessions) => {
    const known = opened.get(endSessions);
    if (known !== undefined) return known;
    const revokeEnds = endSessions === "all" ? "account" : endSessions;
    const host = await createHost({ ...settings, revokeEnds }, log, machine);
    opened.set(endSessions, host);
    return host;
  };
}

/** The names of the accounts on the host that are in the marker group. */
export function accountsOf(markerGroup: string): readonly string[] {
  return [...(readAccounts().groups.get(markerGroup)?.members ?? [])].sort();
}
