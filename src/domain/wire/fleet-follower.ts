/**
 * Follows the audit log for the hosts: one in a process, from the first agent on. It knows the newest record, the effects of recent
 * records, and which user has an account where; so a change is computed once, however many hosts wait for it.
 */

import type { AccountRef } from "../../protocol/host.ts";
import { SECOND } from "../../shared/time/clock.ts";
import { watchLog } from "../audit/follow.ts";
import type { AuditHead } from "../audit/head.ts";
import { hex } from "../audit/seal.ts";
import { readHostsOfProfiles } from "../hosts/profile-limits.ts";
import type { Services } from "../operation/context.ts";
import { mayChangeHosts, mayRemove, maySetHosts, type Touch } from "./audit-effects.ts";
import type { News } from "./held-requests.ts";
import { type LogRecord, numberRemovals, readAfter, readHead, readRemovalsAfter, readTouches } from "./log-records.ts";
import { createMembership, type Membership } from "./membership.ts";
import { createWindow, type Entry, type Since } from "./recent-changes.ts";
import { createRecordSeals } from "./record-seals.ts";

/** An agent up to this many records behind is told only the changes; one that is further behind is told everything. */
const WINDOW = 100_000;
/** Records read at once. */
const BATCH = 5000;
/** A lease is granted only on a head that was read from the primary at most this long ago. */
export const FRESH = 5 * SECOND;
const PATIENCE = 2 * SECOND;

export interface FleetFollower {
  /** Whether the head was read from the primary just now; the first call starts the following. */
  isFresh(): Promise<boolean>;
  head(): AuditHead;
  readonly membership: Pick<Membership, "hostsOf">;
  /** Reads what was committed until now. Throws if the database does not answer. */
  look(): Promise<void>;
  /** The seal of a record in the log; undefined if there is no record of that number, or it was removed. */
  sealAt(id: number): Promise<string | undefined>;
  /** The effects on the host of all records after this one. */
  since(host: number, id: number): Since;
  stop(): Promise<void>;
}

/** Called with news, and when the log has another history than before. */
export interface Listener {
  readonly news: (news: News) => Promise<void>;
  readonly anotherHistory: () => void;
}

export function createFleetFollower(services: Pick<Services, "db" | "log">, listener: Listener): FleetFollower {
  const view = createLogView(services, listener);
  const reader = coalescing(view.readOn);
  const confirmer = coalescing(view.confirm);
  let started: Promise<() => Promise<void>> | undefined;

  async function start(): Promise<() => Promise<void>> {
    await view.load();
    return watchLog(services, loggingTrouble(services, reader.run));
  }

  const isRecent = () => performance.now() - view.readAt() <= FRESH;

  return {
    isFresh: async () => {
      if (started === undefined) {
        started = start();
        started.catch(() => {
          started = undefined;
        });
      }
      await started;
      if (isRecent()) return true;
      const looked = (view.isTelling() ? confirmer : reader).run().catch(() => {});
      await Promise.race([looked, new Promise((resolve) => setTimeout(resolve, PATIENCE))]);
      return isRecent();
    },
    head: view.head,
    membership: view.membership,
    look: reader.run,
    sealAt: view.sealAt,
    since: view.since,
    stop: async () => {
      const ending = started;
      started = undefined;
      await (await ending?.catch(() => undefined))?.();
      await Promise.allSettled([reader.current(), confirmer.current()]);
    },
  };
}

interface LogView extends Pick<FleetFollower, "head" | "membership" | "sealAt" | "since"> {
  /** Reads everything anew. */
  load(): Promise<void>;
  /** Reads what is new, and tells the listener. */
  readOn(): Promise<void>;
  /** Whether `readOn` has read, and waits for the listener. */
  isTelling(): boolean;
  /** Reads whether the head is still the newest. */
  confirm(): Promise<void>;
  /** When the head was read from the primary, by the process's clock. */
  readAt(): number;
}

/** The log as this process has read it. One thing at a time: `load`, then `readOn` again and again, with `confirm` while it tells. */
function createLogView({ db, log }: Pick<Services, "db" | "log">, listener: Listener): LogView {
  const membership = createMembership(db);
  const window = createWindow(WINDOW, (user, host) => membership.hostsOf(user).has(host));
  const seals = createRecordSeals(db);
  let head: AuditHead = { id: 0, seal: "" };
  let readAt = Number.NEGATIVE_INFINITY;
  let telling: Promise<void> | undefined;

  async function load(): Promise<void> {
    const began = performance.now();
    const now = await readHead(db);
    await membership.load();
    const floor = Math.max(0, now.id - WINDOW);
    const touches = await readTouches(db, floor, now.id);
    // The group's members at that time, and who had the profile, are unknown.
    const isForMany = ({ kind }: Touch) => kind === "group" || kind === "profile";
    window.begin(
      floor,
      touches.map(({ id, touch }) => ({ id, touch, hosts: isForMany(touch) ? "all" : undefined })),
    );
    seals.forget();
    if (now.id > 0) seals.remember(now);
    head = now;
    readAt = began;
  }

  async function readOn(): Promise<void> {
    for (;;) {
      const began = performance.now();
      const records = await readNext(db, head);
      if (records === undefined) {
        log.error("the audit log has another history than a moment ago: the database was set back");
        await load();
        return listener.anotherHistory();
      }
      if (records.length > 0) await take(records);
      const isNewest = records.length < BATCH;
      // Telling thousands of hosts takes its time. The head is known all the same, and they are told by it when they ask.
      if (isNewest) readAt = began;
      await telling?.finally(() => {
        telling = undefined;
      });
      if (isNewest) return;
    }
  }

  async function confirm(): Promise<void> {
    const began = performance.now();
    const newest = await readHead(db);
    if (newest.id === head.id && newest.seal === head.seal) readAt = Math.max(readAt, began);
  }

  async function take(records: readonly LogRecord[]): Promise<void> {
    const touched = records.flatMap(({ id, action, touch }) => (touch === undefined ? [] : [{ id, action, touch }]));
    const before = hostsTouched(touched, membership);
    const regranted = touched.flatMap(({ touch, action }) =>
      touch.kind === "user" && maySetHosts(action) ? [touch.user] : [],
    );
    if (records.some(({ action }) => mayChangeHosts(action))) await membership.reloadHosts();
    await membership.reloadUsers([...new Set(regranted)]);
    const removed = touched.some(({ touch }) => mayRemove(touch)) ? await readRemovalsAfter(db, head.id) : new Map();
    const profiles = touched.flatMap(({ touch }) => (touch.kind === "profile" ? [touch.profile] : []));
    const bound = profiles.length > 0 ? await readHostsOfProfiles(db, profiles) : new Map();
    // From here until the listener knows nothing is waited for: who asks meanwhile finds all of it or none.
    const { entries, news } = effectsOf(touched, { before, membership, removed, bound });
    for (const entry of entries) window.add(entry);
    const newest = records.at(-1);
    if (newest !== undefined) head = { id: newest.id, seal: hex(newest.mac) };
    seals.remember(head);
    telling = listener.news({ ...news, at: head });
  }

  return {
    ...{ load, readOn, confirm, membership, since: window.since, sealAt: seals.at },
    isTelling: () => telling !== undefined,
    head: () => head,
    readAt: () => readAt,
  };
}

/** The next records; undefined if the log has another history than a moment ago. */
async function readNext(db: Services["db"], head: AuditHead): Promise<readonly LogRecord[] | undefined> {
  const records = await readAfter(db, head, BATCH);
  const removes = records?.some(({ touch }) => touch !== undefined && mayRemove(touch)) === true;
  // The records that number what is removed are told together with it.
  return removes && (await numberRemovals(db)) ? ((await readAfter(db, head, BATCH)) ?? records) : records;
}

interface Touched {
  readonly id: number;
  readonly touch: Touch;
}

/** The hosts of the touched users, and of the touched groups. */
interface Hosts {
  readonly users: ReadonlyMap<number, ReadonlySet<number>>;
  readonly groups: ReadonlyMap<number, ReadonlySet<number>>;
}

function hostsTouched(touched: readonly Touched[], { hostsOf, membersOf }: Membership): Hosts {
  const touches = touched.map(({ touch }) => touch);
  return {
    users: new Map(touches.flatMap((touch) => (touch.kind === "user" ? [[touch.user, hostsOf(touch.user)]] : []))),
    groups: new Map(
      touches.flatMap((touch) => (touch.kind === "group" ? [[touch.group, membersOf(touch.group)]] : [])),
    ),
  };
}

interface MembershipChange {
  /** Before these records. */
  readonly before: Hosts;
  /** After them. */
  readonly membership: Pick<Membership, "hostsOf" | "membersOf">;
  readonly removed: ReadonlyMap<number, readonly AccountRef[]>;
  /** The hosts where somebody has a touched profile. */
  readonly bound: ReadonlyMap<number, ReadonlySet<number>>;
}

/** The effects of records on the hosts: what is kept for later, and what is told now. */
function effectsOf(
  touched: readonly Touched[],
  { before, membership, removed, bound }: MembershipChange,
): { readonly entries: readonly Entry[]; readonly news: Omit<News, "at"> } {
  const users = new Map<number, ReadonlySet<number>>();
  const whole = new Set<number>();
  let isForAll = false;
  const entries = touched.map(({ id, touch }): Entry => {
    if (touch.kind === "all") isForAll = true;
    else if (touch.kind === "host") whole.add(touch.host);
    else if (touch.kind === "group") {
      const hosts = membership.membersOf(touch.group).union(before.groups.get(touch.group) ?? new Set<number>());
      for (const host of hosts) whole.add(host);
      return { id, touch, hosts };
    } else if (touch.kind === "profile") {
      // Who had it before, and no longer has, is told by the record of that.
      const hosts = bound.get(touch.profile) ?? new Set<number>();
      for (const host of hosts) whole.add(host);
      return { id, touch, hosts };
    } else {
      const now = membership.hostsOf(touch.user);
      const hosts = touch.regrants ? either(now, before.users.get(touch.user) ?? new Set<number>()) : now;
      users.set(touch.user, either(hosts, users.get(touch.user) ?? new Set()));
      // The hosts that the user lost: nothing else would tell when a host asks later.
      if (touch.regrants) return { id, touch, hosts };
    }
    return { id, touch, hosts: undefined };
  });
  return { entries, news: { users, removed, whole: isForAll ? "all" : whole } };
}

/** The union; no copy where one holds it already, because the window may keep many. */
function either(one: ReadonlySet<number>, other: ReadonlySet<number>): ReadonlySet<number> {
  if (one.size === 0 || one === other) return other;
  return other.size === 0 ? one : one.union(other);
}

/** Runs `work` one at a time; calls that come meanwhile get another run after it. */
function coalescing(work: () => Promise<void>): {
  readonly run: () => Promise<void>;
  readonly current: () => Promise<void> | undefined;
} {
  let running: Promise<void> | undefined;
  let isOutdated = false;
  function run(): Promise<void> {
    if (running !== undefined) {
      isOutdated = true;
      return running;
    }
    running = (async () => {
      do {
        isOutdated = false;
        await work();
      } while (isOutdated);
    })().finally(() => {
      running = undefined;
    });
    return running;
  }
  return { run, current: () => running };
}

/** Logs once that the log cannot be read, and once that it can be again. */
function loggingTrouble({ log }: Pick<Services, "log">, look: () => Promise<void>): () => void {
  let isFailing = false;
  return () => {
    look().then(
      () => {
        if (isFailing) log.info("the audit log can be read again");
        isFailing = false;
      },
      (error: unknown) => {
        if (!isFailing) log.error("the audit log cannot be read; no host gets a lease until it can", { error });
        isFailing = true;
      },
    );
  };
}
