/** The answer to a host: everything, the changes, or no news, for which the request is held. */

import type { Cursor } from "../../protocol/fleet.ts";
import { parseCursor } from "../../protocol/fleet.ts";
import type { AccountRef } from "../../protocol/host.ts";
import { UamError } from "../../shared/errors.ts";
import { shorterLease } from "../../shared/time/lease.ts";
import { createGate } from "../../shared/work/bounded.ts";
import type { AuditHead } from "../audit/head.ts";
import { type AdmittedHost, readHost } from "../hosts/host-row.ts";
import type { Services } from "../operation/context.ts";
import { noteDivergence } from "../recovery/divergence.ts";
import { closedFirst, readRemoved, readUsersOf, type UserState } from "./accounts-state.ts";
import { createFleetFollower, type FleetFollower } from "./fleet-follower.ts";
import { createHeldRequests, type End, tellHeld } from "./held-requests.ts";
import { needsHours } from "./hours-state.ts";
import { createKnownStates, type KnownStates } from "./known-states.ts";
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

/** Hosts that are told everything at once. */
const WHOLE_SLOTS = 50;
/** Of those, this many read from the database at once: its connections are needed for changes. */
const WHOLE_READS = 4;
/** An agent keeps a cursor for as long as nothing concerns it, but not one that is further behind than this. */
const OLD_CURSOR = 5000;
/** The possible news for a host; it is told only its own part. */
interface Told {
  /** The newest record that it includes. */
  readonly at: AuditHead;
  readonly states: readonly UserState[];
  readonly removed: readonly AccountRef[];
}

interface Sources {
  readonly db: Services["db"];
  readonly follower: FleetFollower;
  readonly known: KnownStates;
}

export function createStates(services: Services): States {
  const { db, policy } = services;
  const write = (host: AdmittedHost, told: ToldPart) =>
    stateText(host, told, { endSessions: policy.endSessions, now: services.clock.now() });
  const requests = createHeldRequests();
  const known = createKnownStates(services);
  const follower: FleetFollower = createFleetFollower(services, {
    news: async (news) => {
      // At once: later requests see the follower's new head.
      known.forget(news.users.keys());
      await tellHeld(requests, news, known).catch((error: unknown) => {
        // The change is known all the same.
        const sentence = "the changes cannot be read for the waiting hosts; each request reads them by itself";
        services.log.error(sentence, { error });
      });
    },
    anotherHistory: () => {
      known.forgetAll();
      requests.endAll({ kind: "again" });
    },
  });
  const sources: Sources = { db, follower, known };
  const readWhole = createWholeReader(sources);

  async function whole(host: AdmittedHost): Promise<string> {
    const told = await readWhole.read(host.id);
    // After the head: a lock that the cursor includes must not be missed.
    const now = (await readHost(services, host.id)) ?? host;
    // A longer lease than the one that was stored with the request comes with the next answer.
    const lease = shorterLease(host.lease, now.lease);
    return write({ ...now, lease, ...saidBy(host) }, told);
  }

  /** Not urgent: it waits while many hosts are told everything. What it would be told while its history is not accepted opens nothing. */
  function isShortOfHours(host: AdmittedHost): boolean {
    const mayOpen = host.status === "active" && !host.diverged;
    return mayOpen && !readWhole.isFull() && needsHours(host.id, host.hours, services.clock.now());
  }

  async function answer(request: StateRequest): Promise<string> {
    const { host, since } = request;
    if (since === "") return await whole(host);
    // A request that does not wait is told the latest state, even if the follower has not heard of it; and a host must not forget a lock
    // without learning, in the same answer, what replaced it.
    if (request.wait === 0 || host.recordedLocks.length > 0) await follower.look();
    const place = parseCursor(since);
    if (place === undefined) throw new UamError("invalid", "since is not a cursor of this service");
    if (!(await isOurs(follower, place))) {
      await noteDivergence(services, host);
      return await whole({ ...host, diverged: true });
    }
    if ((await follower.sealAt(place.id)) === undefined || isShortOfHours(host)) return await whole(host);
    const hold = () => requests.hold({ host: host.id, wait: request.wait, signal: request.signal });
    const missed = await readMissed(sources, host, { place: { id: place.id, cursor: since }, hold });
    if (missed.kind === "whole") return await whole(host);
    if (missed.kind === "changes") return write(await boundNow(services, host, missed.told), missed.told);
    const end = await missed.end;
    await requireFresh(follower);
    if (end.kind === "again") return await answer({ ...request, wait: 0 });
    if (end.kind === "whole") return await whole(host);
    const told = end.kind === "changes" ? partIn(end, host, follower) : undefined;
    if (told === undefined) return write(host, { cursor: missed.cursor, full: false, accounts: [], removed: [] });
    return write(await boundNow(services, host, told), told);
  }

  return {
    requireHead: () => requireFresh(follower),
    answer,
    knows: async (text) => {
      const place = parseCursor(text);
      return place !== undefined && (await follower.isFresh()) && (await isOurs(follower, place));
    },
    waiting: () => requests.hosts().length,
    release: requests.release,
    stop: async () => {
      requests.endAll({ kind: "nothing" });
      await follower.stop();
    },
  };
}

/** The host with the profiles of now: one that an account was given since the request came is told with the account's own news, and with no other. */
async function boundNow(services: Services, host: AdmittedHost, { accounts }: ToldPart): Promise<AdmittedHost> {
  const isBound = accounts.some(({ profile, groups = [] }) => profile !== undefined || groups.length > 0);
  if (!isBound || host.holdsProfiles !== true) return host;
  const { profiles } = (await readHost(services, host.id)) ?? host;
  return { ...host, profiles };
}

/** What the request itself said. */
function saidBy({ applied, reads, hours, holdsProfiles }: AdmittedHost) {
  return { applied, reads, hours, holdsProfiles };
}

async function requireFresh(follower: FleetFollower): Promise<void> {
  if (await follower.isFresh().catch(() => false)) return;
  throw new UamError("internal", "The newest audit record cannot be read, so that no lease can be granted", {
    reason: "agent.no_head",
  });
}

/** Whether the log has that record, or may have had it; false for a record of another history. */
async function isOurs(
  follower: FleetFollower,
  { id, seal }: { readonly id: number; readonly seal: string },
): Promise<boolean> {
  // Another replica may have read on already.
  if (id > follower.head().id) await follower.look();
  const stored = await follower.sealAt(id);
  if (stored !== undefined) return stored === seal;
  // Either retention has removed it, or it never existed.
  return id <= follower.head().id;
}

interface Place {
  readonly id: number;
  readonly cursor: Cursor;
}

type Missed =
  | { readonly kind: "whole" }
  | { readonly kind: "changes"; readonly told: ToldPart }
  /** `cursor` is the place, or a newer one if that is old; `end` is what `hold` returned. */
  | { readonly kind: "nothing"; readonly cursor: Cursor; readonly end: Promise<End> };

/** Reads what a host at that place has missed; `hold` is called at the same instant at which there is nothing. */
async function readMissed(
  { db, follower, known }: Sources,
  host: AdmittedHost,
  { place, hold }: { readonly place: Place; readonly hold: () => Promise<End> },
): Promise<Missed> {
  let from = place;
  for (;;) {
    const news = follower.since(host.id, from.id);
    if (news.kind === "whole") return news;
    const at = follower.head();
    if (news.kind === "nothing") {
      const cursor = at.id - from.id > OLD_CURSOR ? cursorAt(at) : from.cursor;
      // Nothing is awaited since the window was asked, so no news is missed.
      return { kind: "nothing", cursor, end: hold() };
    }
    const removed = news.removals ? await readRemoved(db, host.id, from.id) : [];
    const states = await known.read(news.users);
    const told = partOf({ at, states, removed }, host, follower);
    if (told !== undefined) return { kind: "changes", told };
    from = { id: at.id, cursor: cursorAt(at) };
  }
}

function partIn({ news, states }: Extract<End, { kind: "changes" }>, host: AdmittedHost, follower: FleetFollower) {
  const { at, users, removed } = news;
  const own = [...users].flatMap(([user, hosts]) => (hosts.has(host.id) ? (states.get(user) ?? []) : []));
  return partOf({ at, states: own, removed: removed.get(host.id) ?? [] }, host, follower);
}

/** Undefined if none of it is the host's. */
function partOf(
  { at, states, removed }: Told,
  host: AdmittedHost,
  { membership }: FleetFollower,
): ToldPart | undefined {
  // A user who has no account there is not named.
  const present = states.filter(({ user }) => membership.hostsOf(user).has(host.id));
  const accounts = closedFirst(present.map(({ state }) => state));
  const uids = new Set(accounts.map(({ uid }) => uid));
  const gone = removed.filter(({ uid }) => !uids.has(uid));
  if (accounts.length + gone.length === 0) return undefined;
  return { cursor: cursorAt(at), full: false, accounts, removed: gone };
}

interface WholeReader {
  /** All that a host is told; throws `limited` while too many hosts are. */
  read(host: number): Promise<ToldPart>;
  isFull(): boolean;
}

function createWholeReader({ db, follower, known }: Sources): WholeReader {
  const gate = createGate({ concurrency: WHOLE_READS, maxQueue: WHOLE_SLOTS, retryAfter: 1 });
  let slots = WHOLE_SLOTS;
  const read = async (host: number): Promise<ToldPart> => {
    if (slots === 0) {
      throw new UamError("limited", `${WHOLE_SLOTS} hosts are being told everything; try again`, {
        retryAfter: 1 + Math.floor(Math.random() * 10),
        reason: "agent.busy",
      });
    }
    slots--;
    try {
      return await gate(async () => {
        await follower.look();
        // Before the rest, which is at least as new.
        const at = follower.head();
        const states = await known.read(await readUsersOf(db, host));
        const accounts = closedFirst(states.map(({ state }) => state));
        const present = new Set(accounts.map(({ uid }) => uid));
        const removed = (await readRemoved(db, host, 0)).filter(({ uid }) => !present.has(uid));
        return { cursor: cursorAt(at), full: true, accounts, removed };
      });
    } finally {
      slots++;
    }
  };
  return { read, isFull: () => slots === 0 };
}
