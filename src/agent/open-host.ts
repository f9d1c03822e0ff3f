/** The host as the agent changes it, with what the service says about sessions. */

import { readAccounts } from "../host/account.ts";
import { createHost } from "../host/create-host.ts";
import type { HostSettings } from "../host/settings.ts";
import type { HostState } from "../protocol/fleet.ts";
import type { AccountRef, Host } from "../protocol/host.ts";
import type { Log } from "../shared/log.ts";
import type { Machine } from "../shared/system/kernel.ts";
import { isWithin, OLD_UIDS, type UidRange } from "../shared/system/uids.ts";
import { ACCOUNT_PREFIX } from "../shared/text/account-name.ts";
import { type AgentState, keyOf } from "./records.ts";

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

/** The accounts that the agent made, by name and uid, whatever groups they are in; and those that are in the group besides. */
export function madeHere(state: AgentState | undefined, markerGroup: string): readonly AccountRef[] {
  const { passwd } = readAccounts();
  const grouped = accountsOf(markerGroup).flatMap((name) => passwd.get(name) ?? []);
  const refs = [...(state?.records ?? []), ...grouped].map(({ name, uid }) => ({ name, uid }));
  return [...new Map(refs.map((ref) => [keyOf(ref), ref])).values()];
}

/** Names of further accounts with uids that only ours have: what the agent knew of them may be lost. */
export function unknownIn(range: UidRange, known: readonly AccountRef[]): readonly string[] {
  const names = new Set(known.map(({ name }) => name));
  const isOurs = (uid: number) => isWithin(uid, range) || isWithin(uid, OLD_UIDS);
  const entries = [...readAccounts().passwd.values()];
  const ours = entries.filter(({ name, uid }) => name.startsWith(ACCOUNT_PREFIX) && isOurs(uid));
  return ours.map(({ name }) => name).filter((name) => !names.has(name));
}
