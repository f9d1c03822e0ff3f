/**
 * The state that the service wants of the host, and the outstanding work. Pure: an answer and what was known before make what
 * is to be done now; apply.ts does it.
 */

import type { AccountState, HostProblem, HostState } from "../protocol/fleet.ts";
import type { Account, AccountRef } from "../protocol/host.ts";
import type { HostProfile } from "../protocol/profile.ts";
import { hasOtherNetworks, keysOf, sameKeys } from "./account-keys.ts";
import { NEVER_TOLD, restrained } from "./cautious.ts";
import { atTime, openedAt, sameHours, type Timed, type Times, windowAt } from "./hours.ts";
import { lessening, profilesAfter, reprofiler } from "./profiles.ts";

/** The outstanding work for an account, the closings first. */
export interface Todo {
  readonly remove: boolean;
  readonly shut: boolean;
  /** Fingerprints of keys that are gone, and whose sessions have to end. */
  readonly take: readonly string[];
  /** Keys are good from fewer networks, or for a shorter time. */
  readonly narrow: boolean;
  /** Its profile allows less than before: what was begun with more has to end. */
  readonly profile?: boolean;
  readonly open: boolean;
}

/** `open` and `expire_at` are as they are to be now, by its `hours`; an agent that knows no hours could read it, too. */
export interface AccountRecord extends Timed {
  /** True once the host had the account: if it is missing later, somebody else removed it. */
  readonly made: boolean;
  /** The service once named it and no longer knows it: its database was set back. */
  readonly unknown?: true;
  readonly todo: Todo;
  readonly problem: Pick<HostProblem, "kind" | "text"> | undefined;
  /** True while sshd may still let in what was taken away: the host failed at that, or the account is one of before, and not put right yet. */
  readonly mayAdmit?: true | undefined;
}

/** All that an agent remembers of what it was told. */
export interface AgentState {
  readonly version: 1;
  /** A number that no other state has: /run holds that of the newest. States of before have none. */
  readonly answer?: number | undefined;
  readonly cursor: string;
  readonly lease_ms: number | null;
  readonly lease_ends: HostState["lease_ends"];
  readonly status: HostState["status"];
  readonly end_sessions: HostState["end_sessions"];
  /** A uid is never reused for another account, and a name may come again with another: unless the service's database was set back. */
  readonly records: readonly AccountRecord[];
  /** As the service says them; undefined where it knows none. */
  readonly profiles?: readonly HostProfile[] | undefined;
  /** True once an agent that keeps hours was told everything: before, hours of its accounts may be missing. */
  readonly keepsHours?: boolean | undefined;
  /** The uid of every account there ever was a record of. Absent in what an older version stored. */
  readonly given?: readonly number[];
}

export const NOTHING: Todo = { remove: false, shut: false, take: [], narrow: false, open: false };

/**
 * The state after an answer. `before` is what was known, and `found` the accounts that the host has under our name: where the
 * answer is full, those that it does not name are shut, not removed. What is told of an account whose state may be an old copy is done whatever
 * that says of the host.
 */
export function mergeAnswer(
  before: AgentState | undefined,
  answer: HostState,
  {
    times,
    found = [],
    isBelieved = true,
  }: { readonly times: Times; readonly found?: readonly AccountRef[]; readonly isBelieved?: boolean },
): AgentState {
  const profiles = profilesAfter(before?.profiles, answer);
  const about = { answer, times, isLess: lessening(before?.profiles, profiles) };
  const old = new Map((before?.records ?? []).map((record) => [keyOf(record), record]));
  const there = new Set(found.map(keyOf));
  const merged = new Map(old);
  for (const account of answer.accounts) {
    const known = old.get(keyOf(account));
    const trusted = isBelieved ? known : known && unsure(known);
    merged.set(keyOf(account), mergeAccount(trusted, account, { ...about, isThere: there.has(keyOf(account)) }));
  }
  if (answer.full) {
    // One that has the name of another is a conflict, and left alone.
    const names = new Set(answer.accounts.map(({ name }) => name));
    for (const ref of found) {
      if (!merged.has(keyOf(ref)) && !names.has(ref.name)) merged.set(keyOf(ref), stranger(ref.name, ref.uid));
    }
    const named = new Set(answer.accounts.map(keyOf));
    for (const [key, record] of merged) if (!named.has(key)) merged.set(key, unnamed(record));
  }
  for (const ref of answer.removed) {
    merged.set(keyOf(ref), toRemove(merged.get(keyOf(ref)) ?? stranger(ref.name, ref.uid)));
  }
  const follow = reprofiler(before?.profiles, profiles);
  const records = [...merged.values()].map((record) => switched(follow(record), before?.status, answer.status));
  const { cursor, lease_ms, lease_ends, status, end_sessions } = answer;
  const given = [...new Set([...givenTo(before), ...records.map(({ uid }) => uid)])];
  const keepsHours = answer.full || before?.keepsHours === true;
  return { version: 1, cursor, lease_ms, lease_ends, status, end_sessions, records, given, keepsHours, profiles };
}

/** The host may have the account, open or shut, whatever this says of it. */
function unsure(record: AccountRecord): AccountRecord {
  return { ...record, made: false, mayAdmit: true, todo: { ...record.todo, shut: !record.open } };
}

/** The record once the host is locked, open again, or retiring. */
function switched(
  record: AccountRecord,
  from: HostState["status"] | undefined,
  to: HostState["status"],
): AccountRecord {
  if (to === "retiring") return toRemove(record);
  if (from === to || record.todo.remove) return record;
  return to === "locked"
    ? { ...record, todo: { ...record.todo, shut: record.open || record.todo.shut, open: record.open } }
    : { ...record, todo: { ...record.todo, open: record.open } };
}

/** The state at that time: accounts whose window has ended are to be shut, and those whose window has begun opened. The same object if nothing changes. */
export function followHours(state: AgentState, times: Times): AgentState {
  const records = state.records.map((record) => followed(record, times));
  return records.every((record, index) => record === state.records[index]) ? state : { ...state, records };
}

function followed(record: AccountRecord, times: Times): AccountRecord {
  if (record.hours === undefined || record.todo.remove) return record;
  const { open, expire_at, outside } = atTime({ ...record, open: true }, record, times);
  const isAsBefore = open === record.open && outside === record.outside;
  if (isAsBefore && (!open || expire_at === record.expire_at)) return record;
  if (!open) return { ...record, open, outside, todo: { ...NOTHING, shut: true } };
  const narrow = record.todo.narrow || isNarrower(record, { expire_at, outside });
  return { ...record, open, expire_at, outside, todo: { ...record.todo, narrow, open: true } };
}

/** Whether an open account is to let its keys in for a shorter time, or no longer. */
function isNarrower(record: AccountRecord, { expire_at, outside }: Pick<Timed, "expire_at" | "outside">): boolean {
  if (!record.open) return false;
  return record.outside === outside ? expire_at < record.expire_at : outside === true;
}

/** The uid of every account that the agent was ever told of, also of those that are gone. */
export function givenTo(state: Pick<AgentState, "records" | "given"> | undefined): readonly number[] {
  return state?.given ?? (state?.records ?? []).map(({ uid }) => uid);
}

/** The circumstances that decide, besides its record, whether an account is open. */
export interface Present {
  readonly status: HostState["status"];
  /** The names of accounts that `uam lock` shut. */
  readonly locked: ReadonlySet<string>;
  readonly times: Times;
}

/** The account as it is to be now: shut outside its hours, where the host is not to let anybody in, or where `uam lock` shut it. */
export function accountOf(record: AccountRecord, { status, locked, times }: Present): Account {
  const { name, uid, hours, profile } = record;
  // Where only logins end, its keys have the end of their window, and it is as its record says until that is followed.
  const isInside =
    hours === undefined || record.hours_end === "logins" || windowAt(hours, times, openedAt(record)) !== undefined;
  const open = record.open && isInside && status === "active" && !locked.has(name) && !record.todo.remove;
  const keys = record.outside === true ? record.keys.map((key) => ({ ...key, networks: [] })) : record.keys;
  return { name, uid, keys, expireAt: new Date(record.expire_at), open, ...(profile === undefined ? {} : { profile }) };
}

export function isPending({ todo }: AccountRecord): boolean {
  return isClosing(todo) || todo.open;
}

export function isClosing(todo: Todo): boolean {
  return todo.remove || todo.shut || todo.narrow || todo.profile === true || todo.take.length > 0;
}

/** Whether sshd may still let in what was taken away: the host failed at it, or an account of before was not put right yet. */
export function mayAdmit({ records }: Pick<AgentState, "records">): boolean {
  return records.some((record) => record.mayAdmit === true && isPending(record));
}

/** A record whose problem is gone, because somebody brought the account back: opened or shut again. */
export function cleared(record: AccountRecord): AccountRecord {
  if (record.problem === undefined) return record;
  return { ...record, problem: undefined, todo: { ...NOTHING, open: record.open, shut: !record.open } };
}

/** Whether two answers, merged, want the same of the host; the cursor may differ. */
export function sameOrders(one: AgentState | undefined, other: AgentState): boolean {
  if (one === undefined) return false;
  if (one.status !== other.status || one.lease_ms !== other.lease_ms || one.lease_ends !== other.lease_ends)
    return false;
  if (one.keepsHours !== other.keepsHours) return false;
  if (JSON.stringify(one.profiles) !== JSON.stringify(other.profiles)) return false;
  if (one.end_sessions !== other.end_sessions || one.records.length !== other.records.length) return false;
  const known = new Set(one.records);
  return other.records.every((record) => known.has(record));
}

interface Merging {
  readonly answer: HostState;
  readonly times: Times;
  readonly isLess: ReturnType<typeof lessening>;
  /** Whether the host has the account already. */
  readonly isThere: boolean;
}

function mergeAccount(old: AccountRecord | undefined, told: AccountState, merging: Merging): AccountRecord {
  const { answer, times, isLess, isThere } = merging;
  const wanted = wantedAt(old, answer.cautious ? restrained(old, told) : told, times);
  // Half removed counts as never made: if it is gone, it is made anew.
  const made = old?.made === true && !old.todo.remove;
  if (!wanted.open) {
    const isShut = old !== undefined && !old.open && !isClosing(old.todo) && old.problem === undefined;
    return { ...wanted, made, todo: { ...NOTHING, shut: !isShut }, problem: isShut ? undefined : old?.problem };
  }
  const kept = keysOf(wanted);
  const take = [...(old?.todo.take ?? []), ...(old?.open ? old.keys.map((key) => key.fingerprint) : [])];
  const gone = [...new Set(take)].filter((fingerprint) => !kept.has(fingerprint));
  const isSame = old !== undefined && made && !isPending(old) && old.problem === undefined && sameAccount(old, wanted);
  // A full answer says again what is known; one that names the account alone asks for it.
  if (isSame && answer.full) {
    const { hours, end } = wanted;
    return sameHours(old.hours, hours) && old.end === end ? old : { ...old, hours, end };
  }
  // An earlier end is taken from the keys in the same way: no step that gives access may be what brings it.
  const narrow = old !== undefined && (old.todo.narrow || hasOtherNetworks(old.keys, kept) || isNarrower(old, wanted));
  const mayBeLess = old?.open === true && old.profile !== wanted.profile && isLess(old.profile, wanted.profile);
  const profile = mayBeLess || old?.todo.profile === true ? { profile: true } : {};
  // What one of before lets in is known once it is opened, or shut.
  const mayAdmit = !made && (isThere || old?.mayAdmit === true) ? { mayAdmit: true as const } : {};
  const todo = { ...NOTHING, take: gone, narrow, ...profile, open: true };
  return { ...wanted, made, todo, problem: old?.problem, ...mayAdmit };
}

/** What ends outside the hours by other networks of a key cannot be told from what may go on: all of it ends. */
function wantedAt(old: AccountRecord | undefined, told: AccountState, times: Times): Timed {
  if (told.hours === undefined || told.hours_end !== "logins") return atTime<Timed>(told, old, times);
  const wanted = atTime<Timed>({ ...told, end: told.expire_at }, old, times);
  const mustShut = wanted.outside === true && old !== undefined && hasOtherNetworks(old.keys, keysOf(wanted));
  return mustShut ? { ...wanted, open: false, outside: undefined } : wanted;
}

function stranger(name: string, uid: number): AccountRecord {
  return {
    name,
    uid,
    expire_at: NEVER_TOLD,
    open: false,
    keys: [],
    made: true,
    todo: { ...NOTHING, shut: true },
    problem: undefined,
  };
}

/** One that a full answer does not name: what the service told of once, it has forgotten. */
function unnamed(record: AccountRecord): AccountRecord {
  const after = shutOut(record);
  return record.unknown === true || record.expire_at === NEVER_TOLD ? after : { ...after, unknown: true };
}

/** The accounts that the service once named and no longer knows, and that are not being removed; in a lasting order. */
export function unknownOf({ records }: Pick<AgentState, "records">): readonly AccountRef[] {
  const unknown = records.filter((record) => record.unknown === true && !record.todo.remove);
  return unknown
    .map(({ name, uid }) => ({ name, uid }))
    .toSorted((a, b) => a.uid - b.uid || (a.name < b.name ? -1 : 1));
}

/** Which account a record is about: a database that was set back may give out a uid again, to another name. */
export function keyOf({ name, uid }: AccountRef): string {
  return `${uid} ${name}`;
}

function shutOut(record: AccountRecord): AccountRecord {
  if (record.todo.remove || (!record.open && !isClosing(record.todo))) {
    return record.hours === undefined ? record : { ...record, keys: [], hours: undefined };
  }
  return { ...record, open: false, keys: [], hours: undefined, todo: { ...NOTHING, shut: true } };
}

function toRemove(record: AccountRecord): AccountRecord {
  if (record.todo.remove) return record;
  return { ...record, open: false, keys: [], hours: undefined, todo: { ...NOTHING, remove: true } };
}

function sameAccount(one: Timed, other: Timed): boolean {
  return (
    one.name === other.name &&
    one.open === other.open &&
    one.outside === other.outside &&
    one.hours_end === other.hours_end &&
    one.expire_at === other.expire_at &&
    one.profile === other.profile &&
    (one.hours === undefined) === (other.hours === undefined) &&
    sameKeys(one.keys, other.keys)
  );
}
