/** Group commit: stores the items of many requests of one moment with one statement, or a few. */

import { UamError } from "../../shared/errors.ts";

/** Something of one host. */
export interface HostItem {
  readonly host: number;
}

/** How long the first item waits for others, in milliseconds. */
const GATHERING = 20;
/**
 * Most items in one call: of thousands that come at once, the first are stored while the last are still being checked.
 */
const MOST = 1000;
/** Most items that one host may have waiting; its agent has one request under way at a time. */
const MAX_WAITING = 4;

interface Waiting<I, O> {
  readonly item: I;
  readonly resolve: (outcome: O) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Returns a function that resolves once the item is stored, with the result of `store` for it. `store` gets the items of a moment,
 * at most one of each host, and runs one call at a time. Throws `limited` for a host that has too many waiting.
 */
export function createGroupCommit<I extends HostItem, O>(
  store: (items: readonly I[]) => Promise<readonly O[]>,
): (item: I) => Promise<O> {
  let waiting: Waiting<I, O>[] = [];
  let isScheduled = false;
  const counts = new Map<number, number>();

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      const batch = takeOneOfEach();
      try {
        const outcomes = await store(batch.map(({ item }) => item));
        batch.forEach(({ resolve, reject }, index) => {
          const outcome = outcomes[index];
          if (outcome === undefined) reject(new Error("an item of a group commit has no outcome"));
          else resolve(outcome);
        });
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isScheduled = false;
  }

  function takeOneOfEach(): readonly Waiting<I, O>[] {
    const hosts = new Set<number>();
    const batch: Waiting<I, O>[] = [];
    const rest: Waiting<I, O>[] = [];
    for (const one of waiting) {
      (batch.length === MOST || hosts.has(one.item.host) ? rest : batch).push(one);
      hosts.add(one.item.host);
    }
    waiting = rest;
    counts.clear();
    for (const { item } of rest) counts.set(item.host, (counts.get(item.host) ?? 0) + 1);
    return batch;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      const before = counts.get(item.host) ?? 0;
      if (before >= MAX_WAITING) {
        reject(new UamError("limited", "The host sends too many requests at once", { retryAfter: 1 }));
        return;
      }
      counts.set(item.host, before + 1);
      waiting.push({ item, resolve, reject });
      if (isScheduled) return;
      isScheduled = true;
      setTimeout(() => void run(), GATHERING);
    });
}
