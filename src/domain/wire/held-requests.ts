/** Requests of agents that are held until there is news for their host. */

import type { AccountState } from "../../protocol/fleet.ts";
import type { AccountRef } from "../../protocol/host.ts";
import { SECOND } from "../../shared/time/clock.ts";
import type { AuditHead } from "../audit/head.ts";
import type { UserState } from "./accounts-state.ts";
import type { KnownStates } from "./known-states.ts";

/** A request without news is held this long at most, at random, so that not all come back at once. */
const LONGEST_HOLD = { least: 50 * SECOND, most: 60 * SECOND };
/** Held requests are answered in portions, so that other work gets a turn. */
const PORTION = 100;

/** The effects of new audit records on the hosts. */
export interface News {
  /** The newest of them. */
  readonly at: AuditHead;
  /** The touched users, each with the hosts that the change concerns; users with the same grants share one set. */
  readonly users: ReadonlyMap<number, ReadonlySet<number>>;
  /** The accounts that a host has to remove. */
  readonly removed: ReadonlyMap<number, readonly AccountRef[]>;
  /** The hosts that are told everything anew. */
  readonly whole: ReadonlySet<number> | "all";
}

/** Why a request is held no longer. */
export type End =
  | { readonly kind: "nothing" }
  | { readonly kind: "again" }
  | { readonly kind: "whole" }
  | { readonly kind: "changes"; readonly states: ReadonlyMap<number, UserState>; readonly news: News };

/** A request to be held. */
export interface Holding {
  readonly host: number;
  /** How long the agent waits for news, in seconds. */
  readonly wait: number;
  /** Aborted once nobody waits for the answer. */
  readonly signal: AbortSignal;
}

/** The held requests, one for each host at most. */
export interface HeldRequests {
  /** Resolves when there is news, the time is over, or nobody waits any longer. Ends an older request of the host. */
  hold(request: Holding): Promise<End>;
  end(host: number, end: End): void;
  endAll(end: End): void;
  hosts(): readonly number[];
  /** Ends all of them, and holds none from now on. */
  release(): void;
}

export function createHeldRequests(): HeldRequests {
  const held = new Map<number, (end: End) => void>();
  let isReleased = false;

  function hold({ host, wait, signal }: Holding): Promise<End> {
    return new Promise((resolve) => {
      const { least, most } = LONGEST_HOLD;
      const time = Math.min(wait * SECOND, least + Math.random() * (most - least));
      // An agent has one request at a time: an older one belongs to a dead connection.
      held.get(host)?.({ kind: "nothing" });
      if (signal.aborted || isReleased || time <= 0) return resolve({ kind: "nothing" });
      const finish = (end: End) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", leave);
        if (held.get(host) === finish) held.delete(host);
        resolve(end);
      };
      const leave = () => finish({ kind: "nothing" });
      const timer = setTimeout(leave, time);
      signal.addEventListener("abort", leave);
      held.set(host, finish);
    });
  }

  function endAll(end: End): void {
    for (const finish of [...held.values()]) finish(end);
  }

  return {
    ...{ hold, endAll },
    end: (host, end) => held.get(host)?.(end),
    hosts: () => [...held.keys()],
    release: () => {
      isReleased = true;
      endAll({ kind: "nothing" });
    },
  };
}

/**
 * Ends the held requests that the news is about. States that concern many hosts are read once, and hosts with something to shut hear of it
 * first. Throws what reading threw; then each of these requests has been told to read by itself.
 */
export async function tellHeld(requests: HeldRequests, news: News, known: Pick<KnownStates, "read">): Promise<void> {
  const concerned = requests.hosts().filter((host) => concerns(news, host));
  if (concerned.length === 0) return;
  const users = [...news.users].flatMap(([user, hosts]) => (concerned.some((host) => hosts.has(host)) ? [user] : []));
  const states = new Map<number, UserState>();
  try {
    for (const one of await known.read(users)) states.set(one.user, one);
  } catch (error) {
    for (const host of concerned) requests.end(host, { kind: "again" });
    throw error;
  }
  const closes = (host: number) =>
    news.removed.has(host) ||
    news.users.entries().some(([user, hosts]) => hosts.has(host) && mayClose(states.get(user)?.state));
  const first = new Set(concerned.filter(closes));
  const inOrder = [...first, ...concerned.filter((host) => !first.has(host))];
  for (const [index, host] of inOrder.entries()) {
    const isWhole = news.whole === "all" || news.whole.has(host);
    requests.end(host, isWhole ? { kind: "whole" } : { kind: "changes", states, news });
    if (index % PORTION === PORTION - 1) await new Promise((resolve) => setImmediate(resolve));
  }
}

/** One with hours may be outside them now. */
function mayClose(state: AccountState | undefined): boolean {
  return state?.open !== true || state.hours !== undefined;
}

function concerns(news: News, host: number): boolean {
  const isTouched = news.users.values().some((hosts) => hosts.has(host));
  return isTouched || news.removed.has(host) || news.whole === "all" || news.whole.has(host);
}
