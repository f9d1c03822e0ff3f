/** The answer to a host: everything, the changes, or no news, for which the request is held. */

import type { Cursor } from "../../protocol/fleet.ts";
import { parseCursor } from "../../protocol/fleet.ts";
import type { AccountRef } from "../../protocol/host.ts";
import { UamError } from "../../shared/errors.ts";
import { SECOND } from "../../shared/time/clock.ts";
import { shorterLease } from "../../shared/time/lease.ts";
import { createGate } from "../../shared/work/bounded.ts";
import type { AuditHead } from "../audit/head.ts";
import { type AdmittedHost, readHost } from "../hosts/host-row.ts";
import type { Services } from "../operation/context.ts";
import { noteDivergence } from "../recovery/divergence.ts";
import { closedFirst, readRemoved, readUsersOf, type UserState } from "./accounts-state.ts";
import type { News } from "./change-batch.ts";
import { createFollower, type Follower } from "./follower.ts";
import { createKnownStates } from "./known-states.ts";
import { cursorAt, stateText, type ToldPart } from "./state-text.ts";

/** An agent's request. */
export interface StateRequest {
  readonly host: AdmittedHost;
  /** The position that it has applied; "" for nothing. */
  readonly since: Cursor;
  /** How long the agent waits for news, in seconds. */
  readonly wait: number;
  /** Aborted once nobody waits for the answer. */
  readonly signal: AbortSignal;
}

/** The answers to agents, and the requests that wait for one. */
export interface States {
  /** Whether a lease may be granted now: throws `internal`, reason `agent.no_head`, if the log's head could not be read from the primary just now. */
  requireHead(): Promise<void>;
  /**
   * The JSON of a HostState. Throws `invalid` for a text that is not a cursor, `limited` if too many hosts are being told everything, and
   * as `requireHead` does.
   */
  answer(request: StateRequest): Promise<string>;
  /** Whether the log has that very record. */
  knows(cursor: Cursor): Promise<boolean>;
  /** How many requests are held. */
  waiting(): number;
  /** Answers all waiting requests at once; holds none from now on. */
  release(): void;
  stop(): Promise<void>;
}

/** A request without news is held this long at most, at random, so that not all come back at once. */
const LONGEST_HOLD = { least: 50 * SECOND, most: 60 * SECOND };
/** Hosts that are told everything at once. */
const WHOLE_SLOTS = 50;
/** Of those, this many read from the database at once: its connections are needed for changes. */
const WHOLE_READS = 4;
/** An agent keeps a cursor for as long as nothing concerns it, but not one that is further behind than this. */
const OLD_CURSOR = 5000;
/** Waiting requests are answered in portions, so that other work gets a turn. */
const PORTION = 100;

/** The possible news for a host; it is told only its own part. */
interface Told {
  /** The newest record that it includes. */
  readonly at: AuditHead;
  readonly states: readonly UserState[];
  readonly removed: readonly AccountRef[];
}

/** Why a request is held no longer. */
type End =
  | { readonly kind: "nothing" }
  | { readonly kind: "again" }
  | { readonly kind: "whole" }
  | { readonly kind: "changes"; readonly states: ReadonlyMap<number, UserState>; readonly news: News };

interface Waiter {
  readonly end: (end: End) => void;
}

export function createStates(services: Services): States {
  const { db, policy } = services;
  const write = (host: AdmittedHost, told: ToldPart) => stateText(host, told, policy.endSessions);
  const waiters = new Map<number, Waiter>();
  const known = createKnownStates(services);
  let slots = WHOLE_SLOTS;
  const read = createGate({ concurrency: WHOLE_READS, maxQueue: WHOLE_SLOTS, retryAfter: 1 });
  let isReleased = false;
  const follower: Follower = createFollower(services, {
    news: (news) => {
      // At once: later requests see the follower's new head.
      known.forget(news.touched);
      return wake(news);
    },
    anotherHistory: () => {
      known.forgetAll();
      endAll({ kind: "again" });
    },
  });

  function endAll(end: End): void {
    for (const waiter of waiters.values()) waiter.end(end);
  }

  /** Reads states that concern many hosts once. Hosts with something to shut hear of it first. */
  async function wake(news: News): Promise<void> {
    if (waiters.size === 0) return;
    const concerned = [...waiters.keys()].filter((host) => concerns(news, host));
    if (concerned.length === 0) return;
    const users = new Set(concerned.flatMap((host) => news.users.get(host) ?? []));
    const states = new Map<number, UserState>();
    try {
      for (const one of await known.read([...users])) states.set(one.user, one);
    } catch (error) {
      // The change is known all the same: each waiting request reads it by itself.
      services.log.error("the changes cannot be read for the waiting hosts; each request reads them by itself", {
        error,
      });
      for (const host of concerned) waiters.get(host)?.end({ kind: "again" });
      return;
    }
    const closes = (host: number) =>
      news.removed.has(host) || (news.users.get(host) ?? []).some((user) => states.get(user)?.state.open !== true);
    const first = new Set(concerned.filter(closes));
    const inOrder = [...first, ...concerned.filter((host) => !first.has(host))];
    for (const [index, host] of inOrder.entries()) {
      const isWhole = news.whole === "all" || news.whole.has(host);
      waiters.get(host)?.end(isWhole ? { kind: "whole" } : { kind: "changes", states, news });
      if (index % PORTION === PORTION - 1) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  function hold({ host, wait, signal }: StateRequest): Promise<End> {
    return new Promise((resolve) => {
      const { least, most } = LONGEST_HOLD;
      const time = Math.min(wait * SECOND, least + Math.random() * (most - least));
      // An agent has one request at a time: an older one belongs to a dead connection.
      waiters.get(host.id)?.end({ kind: "nothing" });
      if (signal.aborted || isReleased || time <= 0) return resolve({ kind: "nothing" });
      const waiter: Waiter = {
        end: (end) => {
          clearTimeout(timer);
          signal.removeEventListener("abort", leave);
          if (waiters.get(host.id) === waiter) waiters.delete(host.id);
          resolve(end);
        },
      };
      const leave = () => waiter.end({ kind: "nothing" });
      const timer = setTimeout(leave, time);
      signal.addEventListener("abort", leave);
      waiters.set(host.id, waiter);
    });
  }

  async function whole(host: AdmittedHost): Promise<string> {
    if (slots === 0) {
      throw new UamError("limited", `${WHOLE_SLOTS} hosts are being told everything; try again`, {
        retryAfter: 1 + Math.floor(Math.random() * 10),
        reason: "agent.busy",
      });
    }
    slots--;
    try {
      const { at, accounts, removed } = await read(async () => {
        await follower.look();
        // Before the rest, which is at least as new.
        const at = follower.head();
        const states = await known.read(await readUsersOf(db, host.id));
        const accounts = closedFirst(states.map(({ state }) => state));
        const present = new Set(accounts.map(({ uid }) => uid));
        const removed = (await readRemoved(db, host.id, 0)).filter(({ uid }) => !present.has(uid));
        return { at, accounts, removed };
      });
      // After the head: a lock that the cursor includes must not be missed.
      const now = (await readHost(services, host.id)) ?? host;
      // A longer lease than the one that was stored with the request comes with the next answer.
      const lease = shorterLease(host.lease, now.lease);
      return write(
        { ...now, lease, applied: host.applied, reads: host.reads },
        { cursor: cursorAt(at), full: true, accounts, removed },
      );
    } finally {
      slots++;
    }
  }

  async function requireHead(): Promise<void> {
    if (await follower.isFresh().catch(() => false)) return;
    throw new UamError("internal", "The newest audit record cannot be read, so that no lease can be granted", {
      reason: "agent.no_head",
    });
  }

  /** Whether the log has that record, or may have had it; false for a record of another history. */
  async function isOurs({ id, seal }: { readonly id: number; readonly seal: string }): Promise<boolean> {
    // Another replica may have read on already.
    if (id > follower.head().id) await follower.look();
    const stored = await follower.sealAt(id);
    if (stored !== undefined) return stored === seal;
    // Either retention has removed it, or it never existed.
    return id <= follower.head().id;
  }

  async function answer(request: StateRequest): Promise<string> {
    const { host, since } = request;
    if (since === "") return await whole(host);
    // A request that does not wait is told the latest state, even if the follower has not heard of it; and a host must not forget a lock
    // without learning, in the same answer, what replaced it.
    if (request.wait === 0 || host.recordedLocks.length > 0) await follower.look();
    const place = parseCursor(since);
    if (place === undefined) throw new UamError("invalid", "since is not a cursor of this service");
    if (!(await isOurs(place))) {
      await noteDivergence(services, host);
      return await whole({ ...host, diverged: true });
    }
    if ((await follower.sealAt(place.id)) === undefined) return await whole(host);
    let from = { id: place.id, cursor: since };
    for (;;) {
      const news = follower.since(host.id, from.id);
      if (news.kind === "whole") return await whole(host);
      const at = follower.head();
      if (news.kind === "nothing") {
        // At the same instant as the window was asked, so that no news lies before it.
        if (at.id - from.id > OLD_CURSOR) from = { id: at.id, cursor: cursorAt(at) };
        break;
      }
      const removed = news.removals ? await readRemoved(db, host.id, from.id) : [];
      const states = await known.read(news.users);
      const told = changes(host, { at, states, removed });
      if (told !== undefined) return told;
      from = { id: at.id, cursor: cursorAt(at) };
    }
    // Nothing is awaited since the window was asked, so no news is missed.
    const end = await hold(request);
    await requireHead();
    switch (end.kind) {
      case "again":
        return await answer({ ...request, wait: 0 });
      case "whole":
        return await whole(host);
      case "changes": {
        const { at, users, removed } = end.news;
        const states = (users.get(host.id) ?? []).flatMap((user) => end.states.get(user) ?? []);
        const told = changes(host, { at, states, removed: removed.get(host.id) ?? [] });
        return told ?? unchanged(host, from.cursor);
      }
      case "nothing":
        return unchanged(host, from.cursor);
    }
  }

  function unchanged(host: AdmittedHost, cursor: Cursor): string {
    return write(host, { cursor, full: false, accounts: [], removed: [] });
  }

  /** Undefined if none of it is the host's. */
  function changes(host: AdmittedHost, { at, states, removed }: Told): string | undefined {
    // A user who has no account there is not named.
    const present = states.filter(({ user }) => follower.membership.hostsOf(user).has(host.id));
    const accounts = closedFirst(present.map(({ state }) => state));
    const uids = new Set(accounts.map(({ uid }) => uid));
    const gone = removed.filter(({ uid }) => !uids.has(uid));
    if (accounts.length + gone.length === 0) return undefined;
    return write(host, { cursor: cursorAt(at), full: false, accounts, removed: gone });
  }

  return {
    requireHead,
    answer,
    knows: async (text) => {
      const place = parseCursor(text);
      return place !== undefined && (await follower.isFresh()) && (await isOurs(place));
    },
    waiting: () => waiters.size,
    release: () => {
      isReleased = true;
      endAll({ kind: "nothing" });
    },
    stop: async () => {
      endAll({ kind: "nothing" });
      await follower.stop();
    },
  };
}

function concerns(news: News, host: number): boolean {
  return news.users.has(host) || news.removed.has(host) || news.whole === "all" || news.whole.has(host);
}
