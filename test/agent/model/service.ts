/**
 * The model's service: what its database holds of one host, as immutable data, so that a backup is a reference. It says what
 * docs/fleet-protocol.md says, and shares no code with src/domain.
 */

import type { AccountState, HostState } from "../../../src/protocol/fleet.ts";
import type { AccountRef, HostKey } from "../../../src/protocol/host.ts";

/** An account, and the record that last changed it. */
export interface Stored extends AccountState {
  readonly record: number;
}

/** All that a restore brings back. Times are milliseconds of the service's clock, which is the true one. */
export interface Data {
  /** The seal of each record, by its number less one. */
  readonly seals: readonly string[];
  readonly accounts: ReadonlyMap<string, Stored>;
  readonly removed: readonly (AccountRef & { readonly record: number })[];
  readonly status: "active" | "locked";
  readonly lease: number;
  /** Until when the host may be open at the latest, as far as this database knows. */
  readonly leaseUntil: number;
  /** The newest record that the host has confirmed. */
  readonly applied: number;
  readonly diverged: boolean;
  readonly nextUid: number;
}

/** The record in this history; "" for none. */
export function cursorOf({ seals }: Data, id: number = seals.length): string {
  return id === 0 ? "" : `${id}.${seals[id - 1]}`;
}

/** The number of the record that the cursor names, if this history has it; 0 for "", undefined for another history. */
export function placeOf({ seals }: Data, cursor: string): number | undefined {
  if (cursor === "") return 0;
  const [id = "", seal] = cursor.split(".");
  return seals[Number(id) - 1] === seal ? Number(id) : undefined;
}

/** The answer to a host that has applied that cursor. `keepsHours`: what agents of before did not. */
export function answerTo(data: Data, since: string, now: number): { readonly data: Data; readonly answer: HostState } {
  const place = placeOf(data, since);
  const after = place === undefined ? { ...data, diverged: true } : data;
  const full = place === undefined || place === 0;
  const from = full ? 0 : place;
  const accounts = [...after.accounts.values()].filter(({ record }) => record > from);
  const removed = after.removed.filter(({ record }) => record > from);
  const answer: HostState = {
    cursor: cursorOf(after),
    lease_ms: after.lease,
    lease_ends: "logins",
    status: after.status,
    full: full || after.diverged,
    cautious: after.diverged,
    accounts: (full || after.diverged ? [...after.accounts.values()] : accounts)
      .map(({ record: _, ...account }) => (isOpenAt(now, after, account) ? clipped(account) : shut(account)))
      .sort((one, other) => Number(one.open) - Number(other.open)),
    removed: removed.map(({ name, uid }) => ({ name, uid })),
    recorded_locks: [],
    end_sessions: "key",
    now: new Date(now).toISOString(),
  };
  return { data: after, answer };
}

function isOpenAt(now: number, { status }: Data, { open, expire_at }: AccountState): boolean {
  return status === "active" && open && now < Date.parse(expire_at);
}

/** No window that is told goes beyond the end of the access. */
function clipped(account: AccountState): AccountState {
  const { hours, expire_at } = account;
  if (hours === undefined) return account;
  const windows = hours.windows.map(({ from, to }) => ({ from, to: to < expire_at ? to : expire_at }));
  return { ...account, hours: { ...hours, windows: windows.filter(({ from, to }) => from < to) } };
}

function shut({ hours: _, ...account }: AccountState): AccountState {
  return { ...account, open: false, keys: [] };
}

/** The data after a record that says so of the account. */
export function recorded(data: Data, seal: string, change: Partial<Data>): Data {
  return { ...data, seals: [...data.seals, seal], ...change };
}

/** Whether a login with that key from that address is allowed by the stored state at that time. */
export function isAllowed(account: AccountState | undefined, status: string, login: Login, at: number): boolean {
  if (account === undefined || !account.open || status !== "active" || Date.parse(account.expire_at) <= at)
    return false;
  const { hours } = account;
  if (hours !== undefined && !hours.windows.some(({ from, to }) => Date.parse(from) <= at && at < Date.parse(to)))
    return false;
  return account.keys.some((key) => key.fingerprint === login.fingerprint && reaches(key, login.from));
}

/** An attempt: an account's name, a key, and the network that it comes from. */
export interface Login {
  readonly name: string;
  readonly fingerprint: string;
  readonly from: string;
}

export function reaches({ networks }: Pick<HostKey, "networks">, from: string): boolean {
  return networks === undefined || networks.includes(from);
}
