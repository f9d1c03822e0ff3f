/** The last records that touched hosts, in memory, for agents that come back after a while. */

import { mayRemove, type Touch } from "./audit-effects.ts";

/** A record that touched hosts; `hosts` are the affected hosts that the current grants no longer show. */
export interface Entry {
  readonly id: number;
  readonly touch: Touch;
  readonly hosts: ReadonlySet<number> | "all" | undefined;
}

/** The news for a host. */
export type Since =
  | { readonly kind: "nothing" }
  | { readonly kind: "whole" }
  | {
      readonly kind: "changes";
      readonly users: readonly number[];
      /** Whether it may have to remove accounts. */
      readonly removals: boolean;
    };

export interface Window {
  /** Begins anew: all that touched a host after the record `floor`. */
  begin(floor: number, entries: readonly Entry[]): void;
  add(entry: Entry): void;
  /** The news for the host after the record. */
  since(host: number, id: number): Since;
}

/** Keeps at most about `size` records. `hasAccount` says who has an account where. */
export function createWindow(size: number, hasAccount: (user: number, host: number) => boolean): Window {
  let floor = 0;
  let lastRemoval = 0;
  let entries: Entry[] = [];

  return {
    begin: (from, known) => {
      floor = from;
      entries = [...known];
      lastRemoval = entries.findLast(({ touch }) => mayRemove(touch))?.id ?? 0;
    },
    add: (entry) => {
      entries.push(entry);
      if (mayRemove(entry.touch)) lastRemoval = entry.id;
      if (entries.length <= size * 1.1) return;
      floor = entries.splice(0, entries.length - size).at(-1)?.id ?? floor;
    },
    since: (host, id) => {
      if (id < floor) return { kind: "whole" };
      const users = new Set<number>();
      for (let index = indexAfter(entries, id); index < entries.length; index++) {
        const { touch, hosts } = entries[index] as Entry;
        if (touch.kind === "all" || (touch.kind === "host" && touch.host === host)) return { kind: "whole" };
        const isNamed = hosts === "all" || hosts?.has(host) === true;
        if ((touch.kind === "group" || touch.kind === "profile") && isNamed) return { kind: "whole" };
        if (touch.kind === "user" && (isNamed || hasAccount(touch.user, host))) users.add(touch.user);
      }
      const removals = id < lastRemoval;
      return users.size === 0 && !removals ? { kind: "nothing" } : { kind: "changes", users: [...users], removals };
    },
  };
}

/** The index of the first entry after the record; entries are in the order of their ids. */
function indexAfter(entries: readonly Entry[], id: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.id ?? 0) <= id) low = middle + 1;
    else high = middle;
  }
  return low;
}
