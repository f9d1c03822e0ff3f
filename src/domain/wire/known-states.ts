/**
 * The accounts of users as they should be, remembered until a record touches them: many hosts that are told of the same users at
 * about the same time, after a change or after having been away, cost one reading.
 */

import type { Services } from "../operation/context.ts";
import { readUserStates, type UserState } from "./accounts-state.ts";

export interface KnownStates {
  /** Of these users, as they are or as they were when the last record that touched them had been read; of those who are gone there is none. */
  read(users: readonly number[]): Promise<readonly UserState[]>;
  /** These users were touched: what was read before, or is being read, is given to nobody who asks later. */
  forget(users: Iterable<number>): void;
  forgetAll(): void;
}

/** Users that are remembered; each costs about 2 kB. */
const MOST = 20_000;

/** Nobody is remembered yet. */
export function createKnownStates(services: Pick<Services, "db" | "clock">): KnownStates {
  const known = new Map<number, UserState>();
  /** Of each reading under way, who was touched meanwhile. */
  const readings = new Set<{ readonly touched: Set<number>; isVoid: boolean }>();
  let gathering: { readonly users: Set<number>; readonly found: Promise<ReadonlyMap<number, UserState>> } | undefined;

  /** An account that has run out since is shut, whatever was read. */
  function find(user: number): UserState | undefined {
    const one = known.get(user);
    return one?.state.open === true && new Date(one.state.expire_at) <= services.clock.now() ? undefined : one;
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
      // Found before anything is awaited: who is forgotten meanwhile was asked for before.
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
