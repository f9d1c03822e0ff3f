/** Hours on a host: what an agent opens and shuts by itself, in and out of windows, cut off, restarted, and by wrong clocks. */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atTime, commonHours, endingSoon, hoursUntil, type Times, watchClock } from "../../src/agent/hours.ts";
import type { Moment } from "../../src/agent/lease.ts";
import { type AgentState, accountOf, followHours, mergeAnswer, NOTHING } from "../../src/agent/records.ts";
import type { AccountHours, AccountState, HostState } from "../../src/protocol/fleet.ts";
import { writeLock } from "../../src/shared/system/lock-journal.ts";
import { cursor, timesAt, toldAccount } from "../support/fleet-stub.ts";
import { testSlow } from "../support/thorough.ts";
import { until } from "../support/until.ts";
import { type AgentLab, openAgentLab } from "./lab.ts";

const at = (time: string) => new Date(`2026-11-27T${time}Z`).getTime();
const span = (from: string, to: string) => ({ from: `2026-11-27T${from}.000Z`, to: `2026-11-27T${to}.000Z` });
const UNTIL = "2026-12-05T08:00:00.000Z";
const MORNING = span("08:00:00", "12:00:00");
const EVENING = span("18:00:00", "20:00:00");
const HOURS: AccountHours = { until: UNTIL, windows: [MORNING, EVENING] };
const KEY = { id: 1, type: "ssh-ed25519", base64: "AAAA", fingerprint: `SHA256:${"a".repeat(43)}` };
const account = (more: Partial<AccountState> = {}) => toldAccount({ keys: [KEY], hours: HOURS, ...more });
const unsure = (time: number): Times => ({ ...timesAt(time), areSure: false });

test("endingSoon() names those whose sessions end with a window within ten minutes", () => {
  const open = atTime(account(), undefined, timesAt(at("11:50:00")));
  const soon = (one: Parameters<typeof endingSoon>[0][number], time: string) => endingSoon([one], timesAt(at(time)));
  expect(soon(open, "11:49:59")).toEqual([]);
  const { name, uid } = open;
  const text = "Your access ends at 12:00 (UTC), and this session with it.";
  expect(soon(open, "11:50:00")).toEqual([{ name, uid, at: new Date(MORNING.to), text }]);
  const told = (zone: string) => soon({ ...open, hours: { ...HOURS, zone } }, "11:50:00")[0]?.text;
  expect(told("Europe/Berlin")).toBe("Your access ends at 13:00 (Europe/Berlin), and this session with it.");
  expect(told("Mars/Olympus")).toBe(text);
  expect(soon({ ...open, open: false }, "11:50:00")).toEqual([]);
  expect(soon({ ...open, hours_end: "logins" }, "11:50:00")).toEqual([]);
  expect(soon({ ...open, hours: undefined }, "11:50:00")).toEqual([]);
  expect(soon({ ...open, hours: { ...HOURS, until: MORNING.to } }, "11:50:00")).toEqual([]);
});

describe("atTime()", () => {
  const { expire_at } = account();
  test.each([
    ["before the first window", "07:59:59", { open: false, expire_at }],
    ["from the second at which it begins", "08:00:00", { open: true, expire_at: MORNING.to }],
    ["until the second before it ends", "11:59:59", { open: true, expire_at: MORNING.to }],
    ["no longer when it ends", "12:00:00", { open: false, expire_at }],
    ["in the next", "18:30:00", { open: true, expire_at: EVENING.to }],
    ["after the last that is known", "20:00:00", { open: false, expire_at }],
  ])("%s", (_, time, expected) => {
    expect(atTime(account(), undefined, timesAt(at(time)))).toMatchObject(expected);
  });

  test("opens only once both clocks say so, and shuts when the first of them does", () => {
    const between = (earliest: string, latest: string): Times => ({
      ...{ earliest: at(earliest), latest: at(latest), areSure: true },
    });
    expect(atTime(account(), undefined, between("07:59:59", "08:00:10")).open).toBe(false);
    expect(atTime(account(), undefined, between("11:59:55", "12:00:00")).open).toBe(false);
  });

  test("opens nothing while the clocks are not sure, and keeps what is open for no longer than before", () => {
    const ten = unsure(at("10:00:00"));
    expect(atTime(account(), undefined, ten).open).toBe(false);
    expect(atTime(account(), { open: false, expire_at }, ten).open).toBe(false);
    const before = { open: true, expire_at: span("08:00:00", "11:00:00").to };
    expect(atTime(account(), before, ten)).toMatchObject(before);
    expect(atTime(account(), { ...before, open: true }, unsure(at("12:00:00"))).open).toBe(false);
  });

  test("an account that was open at all hours does not stay so until the window begins by a clock that is ahead", () => {
    const ahead: Times = { earliest: at("07:30:00"), latest: at("08:30:00"), areSure: false };
    const always = { open: true, expire_at: UNTIL };
    expect(atTime(account(), always, ahead).open).toBe(false);
    // One that was opened in the window stays, whatever clock is set back.
    const opened = { open: true, expire_at: MORNING.to, hours: HOURS };
    expect(atTime(account(), opened, ahead)).toMatchObject({ open: true, expire_at: MORNING.to });
  });

  test("what was opened in one window is not open in the next before that has begun by both clocks", () => {
    const opened = { open: true, expire_at: MORNING.to, hours: HOURS };
    const between: Times = { earliest: at("11:00:00"), latest: at("18:30:00"), areSure: false };
    expect(atTime(account(), opened, between).open).toBe(false);
  });

  test("leaves an account without hours, and one that is shut, as they are", () => {
    const always = toldAccount();
    expect(atTime(always, undefined, unsure(at("10:00:00")))).toBe(always);
    const shut = account({ open: false });
    expect(atTime(shut, undefined, timesAt(at("10:00:00")))).toBe(shut);
  });
});

test("commonHours() and hoursUntil() take the earlier", () => {
  const other = { until: "2026-12-01T00:00:00.000Z", windows: [span("11:00:00", "19:00:00")] };
  expect(commonHours(HOURS, other)).toEqual({
    until: other.until,
    windows: [span("11:00:00", "12:00:00"), span("18:00:00", "19:00:00")],
  });
  expect(hoursUntil([account(), toldAccount(), account({ hours: other })])).toBe(other.until);
  expect(hoursUntil([toldAccount()])).toBeUndefined();
});

const TOLD: Omit<HostState, "accounts"> = {
  ...{ cursor: cursor(1), lease_ms: 1000, lease_ends: "logins", status: "active", full: true, cautious: false },
  ...{ removed: [], recorded_locks: [], end_sessions: "key" },
};
const merge = (before: AgentState | undefined, time: string, told: Partial<HostState>) =>
  mergeAnswer(before, { ...TOLD, accounts: [account()], ...told }, { times: timesAt(at(time)) });
const done = (state: AgentState): AgentState => ({
  ...state,
  records: state.records.map((record) => ({ ...record, made: true, todo: NOTHING })),
});

describe("what an agent has to do by the hours", () => {
  const night = done(merge(undefined, "07:00:00", {}));

  test("nothing until a window begins; then it opens, and at its end it shuts; later windows of an account are kept", () => {
    expect(night.records[0]).toMatchObject({ open: false, keys: [KEY], hours: HOURS });
    expect(followHours(night, timesAt(at("07:59:59")))).toBe(night);
    const opened = followHours(night, timesAt(at("08:00:00")));
    expect(opened.records[0]).toMatchObject({ open: true, expire_at: MORNING.to, todo: { open: true, shut: false } });
    const open = done(opened);
    expect(followHours(open, timesAt(at("11:59:59")))).toBe(open);
    const shut = followHours(open, timesAt(at("12:00:00")));
    expect(shut.records[0]).toMatchObject({ open: false, todo: { ...NOTHING, shut: true }, hours: HOURS });
    expect(followHours(done(shut), timesAt(at("18:00:00"))).records[0]).toMatchObject({ open: true });
  });

  test("a full answer with later windows is nothing to do, and is remembered", () => {
    const later = { ...HOURS, until: "2026-12-06T08:00:00.000Z" };
    for (const [time, state] of [
      ["07:00:00", night] as const,
      ["09:00:00", done(followHours(night, timesAt(at("09:00:00"))))] as const,
    ]) {
      const [record] = merge(state, time, { accounts: [account({ hours: later })] }).records;
      expect(record).toMatchObject({ todo: NOTHING, hours: later, open: state.records[0]?.open });
    }
  });

  test("narrower hours shut it at once or end its keys earlier, and wider ones are written", () => {
    const open = done(followHours(night, timesAt(at("09:00:00"))));
    const after = (windows: AccountHours["windows"]) =>
      merge(open, "09:00:00", { full: false, accounts: [account({ hours: { until: UNTIL, windows } })] }).records[0];
    expect(after([EVENING])).toMatchObject({ open: false, todo: { shut: true } });
    const shorter = span("08:00:00", "10:00:00");
    expect(after([shorter])).toMatchObject({ open: true, expire_at: shorter.to, todo: { narrow: true } });
    const longer = span("08:00:00", "13:00:00");
    expect(after([longer])).toMatchObject({ expire_at: longer.to, todo: { narrow: false, open: true } });
  });

  test("what the service no longer names, has shut or removes has no windows left that could open it", () => {
    const gone = (told: Partial<HostState>) => merge(night, "07:00:00", told).records[0]?.hours;
    expect(gone({ accounts: [] })).toBeUndefined();
    expect(gone({ accounts: [account({ open: false, hours: undefined })] })).toBeUndefined();
    expect(gone({ accounts: [], removed: [{ name: "ext_alice", uid: 41_001 }] })).toBeUndefined();
  });

  test("while the history went back, it is open in no window that it was not open in before", () => {
    const told = {
      ...account(),
      hours: { until: "2026-12-09T00:00:00.000Z", windows: [span("08:00:00", "22:00:00")] },
    };
    const [record] = merge(night, "07:00:00", { cautious: true, accounts: [told] }).records;
    expect(record?.hours).toEqual(HOURS);
    const always = merge(night, "07:00:00", { cautious: true, accounts: [toldAccount({ keys: [KEY] })] });
    expect(always.records[0]?.hours?.windows).toEqual(HOURS.windows);
    const shut = done(merge(undefined, "07:00:00", { accounts: [toldAccount({ open: false })] }));
    expect(merge(shut, "09:00:00", { cautious: true }).records[0]).toMatchObject({ open: false, keys: [] });
  });

  test("an account whose window ended while nobody looked is not open, whatever its record says", () => {
    const open = done(followHours(night, timesAt(at("09:00:00"))));
    const isOpen = (time: string) =>
      open.records.map((record) => {
        const about = { status: "active", locked: new Set<string>(), times: timesAt(at(time)) } as const;
        return accountOf(record, about).open;
      });
    expect([isOpen("09:00:00"), isOpen("12:00:00")]).toEqual([[true], [false]]);
  });

  test("what an agent that knew no hours has stored is asked for anew", () => {
    const { keepsHours: _, ...older } = night;
    expect(merge(older, "07:00:00", { full: false, accounts: [] }).keepsHours).toBe(false);
    expect(merge(older, "07:00:00", {}).keepsHours).toBe(true);
  });
});

describe("watchClock()", () => {
  let directory: string;
  let now: Moment;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "uam-clock-"));
    now = { boot: 100, wall: at("10:00:00") / 1000 };
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  test("knows both clocks, whichever is ahead, and is not sure where they are a minute apart", () => {
    const clocks = watchClock(directory, () => now);
    expect(clocks.times()).toEqual({ ...timesAt(at("10:00:00")), areSure: false });
    clocks.heard("2026-11-27T10:00:01.000Z");
    now = { boot: 110, wall: now.wall + 10 };
    expect(clocks.times()).toEqual({ earliest: at("10:00:10"), latest: at("10:00:11"), areSure: true });
    for (const [wall, areSure] of [
      [61, true],
      [62, false],
      [-59, true],
      [-60, false],
    ] as const) {
      now = { boot: 110, wall: at("10:00:10") / 1000 + wall };
      expect([wall, clocks.times().areSure]).toEqual([wall, areSure]);
    }
  });

  test("goes on after a restart, and neither after a boot nor with a damaged file", () => {
    watchClock(directory, () => now).heard("2026-11-27T10:00:00.000Z");
    now = { boot: 3700, wall: at("11:00:00") / 1000 };
    expect(watchClock(directory, () => now).times().areSure).toBe(true);
    now = { ...now, boot: 20 };
    expect(watchClock(directory, () => now).times().areSure).toBe(false);
    now = { ...now, boot: 3700 };
    writeFileSync(join(directory, "clock"), "3600 yesterday\n");
    expect(watchClock(directory, () => now).times().areSure).toBe(false);
  });
});

describe("an agent whose account has a window", () => {
  let lab: AgentLab;
  beforeEach(async () => {
    lab = await openAgentLab();
  });
  afterEach(() => lab.close());

  /** A window that begins and ends so many seconds from now, by the service's clock. */
  function tell(from: number, to: number): void {
    const now = Date.now() + lab.stub.clockOffset;
    const moment = (seconds: number) => new Date(now + seconds * 1000).toISOString();
    const hours = { until: moment(8 * 86_400), windows: [{ from: moment(from), to: moment(to) }] };
    lab.stub.tell({ full: true, accounts: [account({ hours })] });
  }
  /** Time goes by, on every clock. */
  function pass(seconds: number): void {
    lab.skew.boot += seconds;
    lab.skew.wall += seconds;
    lab.stub.clockOffset += seconds * 1000;
  }
  const alice = () => lab.host.accounts.get("ext_alice");
  const isOpen = () => until(() => alice()?.open === true);
  const isShut = () => until(() => alice()?.open === false);
  const someTurns = () => lab.compared(6);

  test("opens and shuts it to the second while it is cut off", async () => {
    tell(60, 120);
    lab.start();
    await until(() => lab.stub.reports.length > 0);
    expect(alice()?.open ?? false).toBe(false);
    lab.stub.gone = true;
    pass(60);
    await isOpen();
    expect(lab.isOpen()).toBe(true);
    pass(60);
    await isShut();
    expect(lab.host.calls.filter((call) => call.startsWith("shutAccount")).length).toBeGreaterThan(0);
  });

  test("opens none once its lease has ended: sshd refuses every key", async () => {
    lab.stub.next = { lease_ms: 100_000 };
    tell(200, 300);
    lab.start();
    await until(() => lab.isOpen());
    lab.stub.gone = true;
    pass(210);
    await until(() => !lab.isOpen());
  });

  test("does what is due after a restart, in its window and out of it, and without the service", async () => {
    tell(60, 120);
    lab.start();
    await until(() => lab.stub.reports.length > 0);
    await lab.stop();
    lab.stub.gone = true;
    pass(61);
    lab.start();
    await isOpen();
    await lab.stop();
    pass(60);
    lab.start();
    await isShut();
  });

  testSlow("after a boot it opens nothing before the service has answered", async () => {
    tell(60, 120);
    lab.start();
    await until(() => lab.stub.reports.length > 0);
    await lab.stop();
    lab.stub.gone = true;
    rmSync(lab.files.directory, { recursive: true });
    pass(61);
    lab.skew.boot = -100;
    lab.start();
    await someTurns();
    expect([alice()?.open ?? false, lab.isOpen()]).toEqual([false, false]);
    lab.stub.gone = false;
    await isOpen();
  });

  testSlow.each([300, -300])(
    "opens nothing with a clock that is off by %d seconds, reports, and opens once it is right",
    async (seconds) => {
      tell(30, 700);
      lab.start();
      await until(() => lab.stub.reports.length > 0);
      lab.skew.wall += seconds;
      pass(60);
      const { length } = lab.stub.reports;
      await until(() => lab.stub.reports.length > length);
      await someTurns();
      expect(alice()?.open ?? false).toBe(false);
      lab.skew.wall -= seconds;
      await isOpen();
    },
  );

  testSlow.each([300, -300])(
    "shuts by the earlier clock if its own is set by %d seconds in a window",
    async (seconds) => {
      tell(-10, 200);
      lab.start();
      await isOpen();
      lab.skew.wall += seconds;
      if (seconds < 0) {
        await someTurns();
        expect(alice()?.open).toBe(true);
        pass(200);
      }
      await isShut();
    },
  );

  test("an account that uam lock shut stays shut when its window begins", async () => {
    tell(60, 600);
    lab.start();
    await until(() => lab.stub.reports.length > 0);
    writeLock(lab.directory, { id: crypto.randomUUID(), uid: 0, username: "alice", operator: "root", at: new Date() });
    pass(60);
    await someTurns();
    expect(alice()?.open ?? false).toBe(false);
  });

  test("says until when it knows hours, and asks for all of it where what is stored knew none", async () => {
    tell(60, 120);
    lab.start();
    await until(() => lab.stub.requests.some((request) => /hours=2\d{3}-/.test(request)));
    expect(lab.stub.requests.find((request) => request.includes("/agent/state"))).toContain("hours=none");
  });
});
