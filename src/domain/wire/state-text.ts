/** The state of a host as text on the wire. */

import type { AccountState, Cursor, HostState } from "../../protocol/fleet.ts";
import type { HostKey } from "../../protocol/host.ts";
import { NEWER_KEY_TYPES } from "../../shared/product/ssh-key-types.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import type { AuditHead } from "../audit/head.ts";
import type { AdmittedHost } from "../hosts/host-row.ts";
import type { ToldAccount } from "./accounts-state.ts";
import { allowedAt } from "./allowed-state.ts";
import { limitedBy } from "./hours-state.ts";
import { boundBy } from "./profiles-state.ts";

/** The part of an answer about accounts. */
export type ToldPart = Pick<HostState, "cursor" | "full" | "removed"> & { readonly accounts: readonly ToldAccount[] };

/** The JSON of a HostState. */
export function stateText(
  {
    status,
    lease,
    leaseEnds,
    diverged,
    recordedLocks,
    applied,
    reads = [],
    hours,
    groupHours = [],
    ...host
  }: AdmittedHost,
  told: ToldPart,
  { endSessions, now }: { readonly endSessions: HostState["end_sessions"]; readonly now: Date },
): string {
  const keepsHours = hours !== undefined;
  const within = limitedBy(groupHours, now);
  const bind = boundBy(host.profiles);
  const allowed = allowedAt(host.id, now);
  const bound = (account: ToldAccount) => bind(allowed(account), host.holdsProfiles === true);
  const known = (account: ToldAccount) => {
    const one = within(bound(account));
    return keepsHours || one.hours === undefined ? readable(one, reads) : shut(one);
  };
  const state: HostState = {
    ...told,
    accounts: told.accounts.map(status === "active" ? known : (account) => shut(bound(account))),
    ...{ lease_ms: lease === 0 ? null : lease, lease_ends: leaseEnds, status, cautious: diverged },
    ...{ recorded_locks: recordedLocks, end_sessions: endSessions, applied },
    ...(keepsHours ? { now: formatTimestamp(now) } : {}),
    ...(host.holdsProfiles === true ? { profiles: host.profiles?.all ?? [] } : {}),
  };
  return JSON.stringify(state);
}

/** The place of the log's newest record; "" of an empty log. */
export function cursorAt({ id, seal }: AuditHead): Cursor {
  return id === 0 ? "" : `${id}.${seal}`;
}

/** An older agent would take a key of an unknown type for damaged, and the whole account with it. */
function readable(account: AccountState, reads: readonly string[]): AccountState {
  const isUnknown = ({ type }: HostKey) => NEWER_KEY_TYPES.some((newer) => newer === type) && !reads.includes(type);
  return account.keys.some(isUnknown) ? { ...account, keys: account.keys.filter((key) => !isUnknown(key)) } : account;
}

/** A host that is not open needs no keys, and its account should hold no secrets. An agent that keeps no hours would leave one open. */
function shut({ hours: _, hours_end: __, ...account }: AccountState): AccountState {
  return { ...account, open: false, keys: [] };
}
