/** The state of a host as text on the wire. */

import type { AccountState, Cursor, HostState } from "../../protocol/fleet.ts";
import type { HostKey } from "../../protocol/host.ts";
import { NEWER_KEY_TYPES } from "../../shared/product/ssh-key-types.ts";
import type { AuditHead } from "../audit/head.ts";
import type { AdmittedHost } from "../hosts/host-row.ts";

/** The part of an answer about accounts. */
export type ToldPart = Pick<HostState, "cursor" | "full" | "accounts" | "removed">;

/** The JSON of a HostState. */
export function stateText(
  { status, lease, leaseEnds, diverged, recordedLocks, applied, reads = [] }: AdmittedHost,
  told: ToldPart,
  endSessions: HostState["end_sessions"],
): string {
  const state: HostState = {
    ...told,
    accounts: status === "active" ? told.accounts.map((one) => readable(one, reads)) : told.accounts.map(shut),
    ...{ lease_ms: lease === 0 ? null : lease, lease_ends: leaseEnds, status, cautious: diverged },
    ...{ recorded_locks: recordedLocks, end_sessions: endSessions, applied },
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

/** A host that is not open needs no keys, and its account should hold no secrets. */
function shut(account: AccountState): AccountState {
  return { ...account, open: false, keys: [] };
}
