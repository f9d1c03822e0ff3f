/** The effects of new audit records on the hosts. */

import type { AccountRef } from "../../protocol/host.ts";
import type { AuditHead } from "../audit/head.ts";

/** The effects of new records on the hosts. */
export interface News {
  /** The touched users, on any host. */
  readonly touched: ReadonlySet<number>;
  /** The newest of them. */
  readonly at: AuditHead;
  /** The users of each host that were touched; hosts touched by the same users share one list. */
  readonly users: ReadonlyMap<number, readonly number[]>;
  /** The accounts that a host has to remove. */
  readonly removed: ReadonlyMap<number, readonly AccountRef[]>;
  /** The hosts that are told everything anew. */
  readonly whole: ReadonlySet<number> | "all";
}

/** The union; no copy if one is empty, because the window may keep many. */
export function either(one: ReadonlySet<number>, other: ReadonlySet<number>): ReadonlySet<number> {
  if (one.size === 0) return other;
  return other.size === 0 ? one : one.union(other);
}

/** Adds that a user of these hosts was touched; hosts that were touched by the same users share a list. */
export function noteUser(users: Map<number, readonly number[]>, user: number, hosts: ReadonlySet<number>): void {
  const extended = new Map<readonly number[], readonly number[]>();
  const alone = [user];
  for (const host of hosts) {
    const known = users.get(host);
    if (known === undefined) users.set(host, alone);
    else if (!known.includes(user)) {
      const longer = extended.get(known) ?? [...known, user];
      extended.set(known, longer);
      users.set(host, longer);
    }
  }
}
