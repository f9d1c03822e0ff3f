/** The profiles of the host, as the service says them: which accounts they concern, and that the host holds them. */

import type { AccountState, HostState } from "../protocol/fleet.ts";
import { MAX_TEXT } from "../protocol/fleet.ts";
import type { Host } from "../protocol/host.ts";
import type { HostProfile, ProfileState } from "../protocol/profile.ts";
import { isWithin } from "../protocol/profile-order.ts";

type Profiles = readonly HostProfile[] | undefined;

/** Those after an answer: until an administrator accepts that the history went back, those that are known stay as they were. */
export function profilesAfter(before: Profiles, { profiles, cautious, full }: HostState): Profiles {
  if (profiles === undefined) return full ? undefined : before;
  if (!cautious) return profiles;
  const known = before ?? [];
  const names = new Set(known.map(({ name }) => name));
  return [...known, ...profiles.filter(({ name }) => !names.has(name))];
}

/**
 * Whether what was begun by the profile of one name before an answer may be more than that of another allows after it. No name: no profile. What is not
 * known may have been more, and allows nothing.
 */
export function lessening(
  before: Profiles,
  after: Profiles,
): (from: string | undefined, to: string | undefined) => boolean {
  const [old, now] = [before, after].map((all) => new Map((all ?? []).map((profile) => [profile.name, profile])));
  return (from, to) => {
    if ((from !== undefined && !old?.has(from)) || (to !== undefined && !now?.has(to))) return from !== to;
    return !isWithin(from === undefined ? undefined : old?.get(from), to === undefined ? undefined : now?.get(to));
  };
}

interface Reprofiled extends Pick<AccountState, "open" | "profile"> {
  readonly todo: { readonly remove: boolean; readonly open: boolean; readonly profile?: boolean };
}

/** Has open accounts follow a profile that says something else than before; what was begun ends where that is less. */
export function reprofiler(before: Profiles, after: Profiles): <T extends Reprofiled>(record: T) => T {
  const known = new Map((before ?? []).map((profile) => [profile.name, JSON.stringify(profile)]));
  const isOther = (one: HostProfile) => (known.get(one.name) ?? JSON.stringify(one)) !== JSON.stringify(one);
  const changed = new Set((after ?? []).filter(isOther).map(({ name }) => name));
  const isLess = lessening(before, after);
  return (record) => {
    const { profile = "", open, todo } = record;
    if (!open || todo.remove || todo.profile === true || !changed.has(profile)) return record;
    return isLess(profile, profile) ? ending(record) : { ...record, todo: { ...todo, open: true } };
  };
}

/** With what was begun to end, if it is open. */
function ending<T extends Reprofiled>(record: T): T {
  const { open, todo } = record;
  return !open || todo.remove || todo.profile === true
    ? record
    : { ...record, todo: { ...todo, profile: true, open: true } };
}

/** The part of what is stored that says what the host is to hold. */
interface Stored {
  readonly profiles?: Profiles;
  readonly end_sessions: HostState["end_sessions"];
  readonly records: readonly Reprofiled[];
}

/** Has the host hold profiles, and knows which it holds. */
export interface Holding {
  /**
   * Before accounts are worked on: what gives less counts at once, and what cannot be held opens no account. Nothing is done where they are as they were,
   * and all were held.
   */
  hold(host: Host, profiles: Profiles): Promise<void>;
  /** The same, whatever was held: somebody may have changed the host. Returns what is stored, its records as `followed` has them. */
  look<T extends Stored>(
    openHost: (endSessions: HostState["end_sessions"]) => Promise<Host>,
    stored: T | undefined,
  ): Promise<T | undefined>;
  /**
   * The records, with what has to end in those whose profile was held wider than it is, as a change left it that a crash cut short; the same objects else.
   * Says it once.
   */
  followed<T extends Reprofiled>(records: readonly T[]): readonly T[];
  /** Why nobody is let in by the profile, as a sentence: sshd may hold to an older one, which allows more. */
  problemOf(profile: string | undefined): string | undefined;
  /** As it was the last time; undefined where there are none. */
  states(): readonly ProfileState[] | undefined;
}

export function createHolding(): Holding {
  let states: readonly ProfileState[] | undefined;
  let known: string | undefined;
  let lessened: readonly string[] = [];
  async function hold(host: Host, profiles: Profiles): Promise<void> {
    known = JSON.stringify(profiles);
    const held = await host.holdProfiles(profiles ?? [], "take", async (names) => {
      lessened = [...lessened, ...names];
    });
    states = profiles === undefined ? undefined : held.map(clipped);
  }
  function followed<T extends Reprofiled>(records: readonly T[]): readonly T[] {
    const names = new Set(lessened);
    lessened = [];
    return names.size === 0
      ? records
      : records.map((record) => (names.has(record.profile ?? "") ? ending(record) : record));
  }
  return {
    hold: async (host, profiles) => {
      const isHeld = states === undefined ? profiles === undefined : states.every(({ state }) => state === "applied");
      if (!isHeld || known !== JSON.stringify(profiles)) await hold(host, profiles);
    },
    look: async (openHost, stored) => {
      if (stored?.profiles === undefined) return stored;
      await hold(await openHost(stored.end_sessions), stored.profiles);
      return { ...stored, records: followed(stored.records) };
    },
    followed,
    problemOf: (profile) => {
      if (profile === undefined) return undefined;
      const state = states?.find(({ name }) => name === profile);
      if (state?.state === "applied") return undefined;
      return `The profile ${profile} is not held here: ${state?.problem ?? "the service did not say what it is"}`;
    },
    states: () => states,
  };
}

function clipped(state: ProfileState): ProfileState {
  return state.state === "applied" ? state : { ...state, problem: state.problem.slice(0, MAX_TEXT) };
}
