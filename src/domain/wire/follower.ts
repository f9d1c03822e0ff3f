/**
 * Follows the audit log for the hosts: one in a process, from the first agent on. It knows the newest record, the effects of recent
 * records, and which user has an account where; so a change is computed once, however many hosts wait for it.
 */

import { sql } from "drizzle-orm";
import type { AccountRef } from "../../protocol/host.ts";
import { SECOND } from "../../shared/time/clock.ts";
import { watchLog } from "../audit/follow.ts";
import type { AuditHead } from "../audit/head.ts";
import { hex } from "../audit/seal.ts";
import type { Services } from "../operation/context.ts";
import { mayRemove, type Touch, touchOf } from "./audit-effects.ts";
import { either, type News, noteUser } from "./change-batch.ts";
import { createMembership, type Membership } from "./membership.ts";
import { createWindow, type Entry, type Since } from "./recent-changes.ts";

/** An agent up to this many records behind is told only the changes; one that is further behind is told everything. */
const WINDOW = 100_000;
/** Records read at once. */
const BATCH = 5000;
/** Remembered seals of records: agents' cursors are few different ones. */
const SEALS = 10_000;
/** A lease is granted only on a head that was read from the primary at most this long ago. */
export const FRESH = 5 * SECOND;
const PATIENCE = 2 * SECOND;

export interface Follower {
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

interface Row extends Record<string, unknown> {
  readonly id: string;
  readonly mac: Uint8Array;
  readonly action: string;
  readonly resource_id: string;
  readonly subject_id: string | null;
  readonly standby: boolean;
}

export function createFollower(services: Pick<Services, "db" | "log">, listener: Listener): Follower {
  const { db, log } = services;
  const membership = createMembership(db);
  let head: AuditHead = { id: 0, seal: "" };
  let readAt = Number.NEGATIVE_INFINITY;
  const window = createWindow(WINDOW, (user, host) => membership.hostsOf(user).has(host));
  const seals = new Map<number, string>();
  /** Seals being read: after a start thousands of agents ask for the same few. */
  const readings = new Map<number, Promise<string | undefined>>();
  let history = 0;
  let started: Promise<() => Promise<void>> | undefined;
  let looking: Promise<void> | undefined;
  let isOutdated = false;
  let isFailing = false;

  function remember(id: number, seal: string): void {
    seals.delete(id);
    seals.set(id, seal);
    if (seals.size > SEALS) seals.delete(seals.keys().next().value ?? 0);
  }

  /** Reads everything anew. */
  async function load(): Promise<void> {
    const began = performance.now();
    const [row] = await db.execute<{ id: string; mac: Uint8Array; standby: boolean }>(
      sql`select id, mac, pg_is_in_recovery() as standby from audit_head`,
    );
    if (row?.standby === true) throw new Error("the database is a standby, not the primary");
    const now = { id: Number(row?.id ?? 0), seal: row === undefined ? "" : hex(row.mac) };
    await membership.load();
    const floor = Math.max(0, now.id - WINDOW);
    const rows = await db.execute<Row>(sql`
      select id, action, resource_id, subject_id from audit where id > ${floor} and id <= ${now.id}
        and (subject_id is not null or action like 'host%' or action = 'fleet.accept') order by id`);
    const entries = rows.flatMap((one): Entry[] => {
      const touch = touchOf(asRecord(one));
      // The group's members at that time are unknown.
      const hosts = touch?.kind === "group" ? "all" : undefined;
      return touch === undefined ? [] : [{ id: Number(one.id), touch, hosts }];
    });
    window.begin(floor, entries);
    history++;
    readings.clear();
    seals.clear();
    if (now.id > 0) remember(now.id, now.seal);
    head = now;
    readAt = began;
  }

  async function readAfterHead(): Promise<readonly Row[] | undefined> {
    const rows = await db.execute<Row>(sql`
      select id, mac, action, resource_id, subject_id, pg_is_in_recovery() as standby
      from audit where id >= ${head.id} order by id limit ${BATCH}`);
    const [first] = rows;
    if (first?.standby === true) throw new Error("the database is a standby, not the primary");
    if (head.id === 0) return rows;
    // Our own newest record must still be there, unchanged.
    const isSame = first !== undefined && Number(first.id) === head.id && hex(first.mac) === head.seal;
    return isSame ? rows.slice(1) : undefined;
  }

  async function readOn(): Promise<void> {
    for (;;) {
      const began = performance.now();
      let rows = await readAfterHead();
      if (rows === undefined) {
        log.error("the audit log has another history than a moment ago: the database was set back");
        await load();
        return listener.anotherHistory();
      }
      if (rows.some((row) => mayRemove(touchOf(asRecord(row)) ?? NOTHING)) && (await numberRemovals())) {
        // The records that numbered them are told together with them.
        rows = (await readAfterHead()) ?? rows;
      }
      if (rows.length > 0) await take(rows);
      readAt = began;
      if (rows.length < BATCH - 1) return;
    }
  }

  /** Older replicas store accounts to be removed without a record number. They get a number that is certainly not too early. */
  async function numberRemovals(): Promise<boolean> {
    const rows = await db.execute(
      sql`update removed_accounts set record_id = (select id from audit_head) where record_id = 0 returning 1`,
    );
    return rows.length > 0;
  }

  async function take(rows: readonly Row[]): Promise<void> {
    const touched = rows.flatMap((row) => {
      const touch = touchOf(asRecord(row));
      return touch === undefined ? [] : [{ id: Number(row.id), touch, row }];
    });
    const users = new Set(touched.flatMap(({ touch }) => (touch.kind === "user" ? [touch.user] : [])));
    const groups = new Set(touched.flatMap(({ touch }) => (touch.kind === "group" ? [touch.group] : [])));
    const usersBefore = new Map([...users].map((user) => [user, membership.hostsOf(user)]));
    const groupsBefore = new Map([...groups].map((group) => [group, membership.membersOf(group)]));
    const regranted = touched.flatMap(({ touch, row }) =>
      touch.kind === "user" && (touch.regrants || row.action === "user.create") ? [touch.user] : [],
    );
    if (rows.some(({ action }) => /^host(_group)?\./.test(action))) await membership.reloadHosts();
    await membership.reloadUsers([...new Set(regranted)]);
    const removals = touched.filter(({ touch }) => mayRemove(touch));
    const removed = removals.length === 0 ? new Map() : await readRemovalsAfter(head.id);

    const news = { users: new Map<number, readonly number[]>(), removed, whole: new Set<number>() };
    let isForAll = false;
    for (const { id, touch } of touched) {
      let concerned: Entry["hosts"];
      if (touch.kind === "all") isForAll = true;
      else if (touch.kind === "host") news.whole.add(touch.host);
      else if (touch.kind === "group") {
        concerned = membership.membersOf(touch.group).union(groupsBefore.get(touch.group) ?? new Set());
        for (const host of concerned) news.whole.add(host);
      } else {
        const before = usersBefore.get(touch.user) ?? new Set();
        const hosts = touch.regrants ? either(membership.hostsOf(touch.user), before) : membership.hostsOf(touch.user);
        noteUser(news.users, touch.user, hosts);
        // The hosts that the user lost: nothing else would tell when a host asks later.
        if (touch.regrants) concerned = hosts;
      }
      window.add({ id, touch, hosts: concerned });
    }
    const newest = rows.at(-1);
    if (newest !== undefined) head = { id: Number(newest.id), seal: hex(newest.mac) };
    remember(head.id, head.seal);
    await listener.news({ ...news, touched: users, at: head, whole: isForAll ? "all" : news.whole });
  }

  async function readRemovalsAfter(id: number): Promise<Map<number, AccountRef[]>> {
    const rows = await db.execute<{ name: string; uid: number; hosts: readonly number[] }>(
      sql`select name, uid, to_json(hosts) as hosts from removed_accounts where record_id > ${id} order by id`,
    );
    const found = new Map<number, AccountRef[]>();
    for (const { name, uid, hosts } of rows) {
      const ref = { name, uid: Number(uid) };
      for (const host of hosts) {
        const known = found.get(host);
        if (known === undefined) found.set(host, [ref]);
        else known.push(ref);
      }
    }
    return found;
  }

  async function readSeal(id: number): Promise<string | undefined> {
    const before = history;
    const [row] = await db.execute<{ mac: Uint8Array }>(sql`select mac from audit where id = ${id}`);
    if (row === undefined) return undefined;
    // Not of a history that was left meanwhile.
    if (history === before) remember(id, hex(row.mac));
    return hex(row.mac);
  }

  /** One at a time; requests that come meanwhile are handled afterwards. */
  function look(): Promise<void> {
    if (looking !== undefined) {
      isOutdated = true;
      return looking;
    }
    looking = (async () => {
      do {
        isOutdated = false;
        await readOn();
      } while (isOutdated);
    })().finally(() => {
      looking = undefined;
    });
    return looking;
  }

  function lookQuietly(): void {
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
  }

  async function start(): Promise<() => Promise<void>> {
    await load();
    return watchLog(services, lookQuietly);
  }

  const isRecent = () => performance.now() - readAt <= FRESH;

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
      const looked = look().catch(() => {});
      await Promise.race([looked, new Promise((resolve) => setTimeout(resolve, PATIENCE))]);
      return isRecent();
    },
    head: () => head,
    membership,
    look,
    sealAt: async (id) => {
      const known = seals.get(id);
      if (known !== undefined) return known;
      const reading =
        readings.get(id) ??
        readSeal(id).finally(() => {
          if (readings.get(id) === reading) readings.delete(id);
        });
      readings.set(id, reading);
      return await reading;
    },
    since: window.since,
    stop: async () => {
      const ending = started;
      started = undefined;
      await (await ending?.catch(() => undefined))?.();
      await looking?.catch(() => {});
    },
  };
}

const NOTHING: Touch = { kind: "host", host: 0 };

function asRecord({ action, resource_id, subject_id }: Row) {
  return { action, resourceId: resource_id, subjectId: subject_id === null ? null : Number(subject_id) };
}
