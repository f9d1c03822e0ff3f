/**
 * The wanted accounts of users, remembered until a record touches them: many hosts that are told of the same users at about the
 * same time, after a change or after an absence, cost one reading.
 */

import type { Services } from "../operation/context.ts";
import { readUserStates, type UserState } from "./accounts-state.ts";
import { isFar } from "./hours-state.ts";

export interface KnownStates {
  /** The states of these users, no older than the last record that touched them; deleted users have none. */
  read(users: readonly number[]): Promise<readonly UserState[]>;
  /** These users were touched: earlier readings, and those under way, are not given to later callers. */
  forget(users: Iterable<number>): void;
  forgetAll(): void;
}

/** Users that are remembered; each costs about 2 kB. */
const MOST = 20_000;

/** Nobody is remembered yet. */
export function createKnownStates(services: Pick<Services, "db" | "clock">): KnownStates {
  const known = new Map<number, UserState>();
  /** The users that were touched during each reading under way. */
  const readings = new Set<{ readonly touched: Set<number>; isVoid: boolean }>();
  let gathering: { readonly users: Set<number>; readonly found: Promise<ReadonlyMap<number, UserState>> } | undefined;

  /** An account past its expiry is shut, even if it was open when read. */
  function find(user: number): UserState | undefined {
    const one = known.get(user);
    if (one === undefined || !one.state.open) return one;
    const now = services.clock.now();
    return new Date(one.state.expire_at) > now && isFar(one.state, now) ? one : undefined;
  }

  async function readNow(users: ReadonlySet<number>): Promise<ReadonlyMap<number, UserState>> {
    const reading = { touched: new Set<number>(), isVoid: false };
    readings.add(reading);
    try {
      const found = new Map((await readUserStates(services, [...users])).map((one) => [one.user, one]));
      for (const [user, one] of found) {
        if (reading.isVoid || reading.touched.has(user)) continue;
        known.delete(user);
        known.set(user, one);
      }
      for (const user of known.keys()) {
        if (known.size <= MOST) break;
        known.delete(user);
      }
      return found;
    } finally {
      readings.delete(reading);
    }
  }

  /** Those who ask in the same turn are read together. */
  function readTogether(users: readonly number[]): Promise<ReadonlyMap<number, UserState>> {
    if (gathering === undefined) {
      const all = new Set<number>();
      const found = Promise.resolve().then(() => {
        gathering = undefined;
        return readNow(all);
      });
      gathering = { users: all, found };
    }
    for (const user of users) gathering.users.add(user);
    return gathering.found;
  }

  return {
    read: async (users) => {
      // Looked up before the first await: users that are forgotten meanwhile were asked for before that.
      const here = users.map((user) => [user, find(user)] as const);
      const missing = here.flatMap(([user, one]) => (one === undefined ? [user] : []));
      if (missing.length === 0) return here.flatMap(([, one]) => one ?? []);
      const fresh = await readTogether(missing);
      return here.flatMap(([user, one]) => one ?? fresh.get(user) ?? []);
    },
    forget: (users) => {
      for (const user of users) {
        known.delete(user);
        for (const { touched } of readings) touched.add(user);
      }
    },
    forgetAll: () => {
      known.clear();
      for (const reading of readings) reading.isVoid = true;
    },
  };
}
