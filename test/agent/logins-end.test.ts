/** Hours with which only logins end, on a host: no key is left in a file, and what runs goes on. */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Times } from "../../src/agent/hours.ts";
import { type AgentState, accountOf, followHours, mergeAnswer, NOTHING } from "../../src/agent/records.ts";
import type { AccountState, HostState } from "../../src/protocol/fleet.ts";
import { parseHostState } from "../../src/protocol/fleet-answers.ts";
import { cursor, timesAt, toldAccount } from "../support/fleet-stub.ts";
import { until } from "../support/until.ts";
import { type AgentLab, openAgentLab } from "./lab.ts";

const at = (time: string) => new Date(`2026-11-27T${time}Z`).getTime();
const span = (from: string, to: string) => ({ from: `2026-11-27T${from}.000Z`, to: `2026-11-27T${to}.000Z` });
const MORNING = span("08:00:00", "12:00:00");
const EVENING = span("18:00:00", "20:00:00");
const HOURS = { until: "2026-12-05T08:00:00.000Z", windows: [MORNING, EVENING] };
const KEY = { id: 1, type: "ssh-ed25519", base64: "AAAA", fingerprint: `SHA256:${"a".repeat(43)}` };
const account = (more: Partial<AccountState> = {}) =>
  toldAccount({ keys: [KEY], hours: HOURS, hours_end: "logins", ...more });
const END = account().expire_at;
const TOLD: Omit<HostState, "accounts"> = {
  ...{ cursor: cursor(1), lease_ms: 1000, lease_ends: "logins", status: "active", full: true, cautious: false },
  ...{ removed: [], recorded_locks: [], end_sessions: "key" },
};
const merge = (before: AgentState | undefined, times: Times, told: Partial<HostState> = {}) =>
  mergeAnswer(before, { ...TOLD, accounts: [account()], ...told }, { times });
const done = (state: AgentState): AgentState => ({
  ...state,
  records: state.records.map((record) => ({ ...record, made: true, todo: NOTHING })),
});
const shown = ({ records }: AgentState, times: Times) =>
  records.map((record) => accountOf(record, { status: "active", locked: new Set(), times }))[0];
const unsure = (time: string): Times => ({ ...timesAt(at(time)), areSure: false });

describe("an account whose logins alone end with its hours", () => {
  const night = done(merge(undefined, timesAt(at("07:00:00"))));
  const open = done(followHours(night, timesAt(at("08:00:00"))));
  const outside = followHours(open, timesAt(at("12:00:00")));

  test("is shut until its first window, and at the end of one it stays open until its end, without a key", () => {
    expect(night.records[0]).toMatchObject({ open: false });
    expect(shown(open, timesAt(at("11:59:59")))).toMatchObject({ open: true, expireAt: new Date(MORNING.to) });
    expect(outside.records[0]).toMatchObject({ open: true, todo: { shut: false, narrow: true, open: true, take: [] } });
    const account = shown(outside, timesAt(at("12:00:00")));
    expect(account).toMatchObject({ open: true, expireAt: new Date(END), keys: [{ ...KEY, networks: [] }] });
    const idle = done(outside);
    expect(followHours(idle, timesAt(at("17:59:59")))).toBe(idle);
    const evening = followHours(idle, timesAt(at("18:00:00")));
    expect(evening.records[0]).toMatchObject({ open: true, expire_at: EVENING.to, todo: { ...NOTHING, open: true } });
    expect(shown(evening, timesAt(at("18:00:00")))?.keys).toEqual([KEY]);
  });

  test("is as in its window until that is followed: a comparison between ends nothing", () => {
    expect(shown(open, timesAt(at("12:00:00")))).toEqual(shown(open, timesAt(at("11:00:00"))) as never);
  });

  test("loses its keys by both clocks, and gets them by none, while they are not sure", () => {
    expect(followHours(open, unsure("12:00:00")).records[0]).toMatchObject({ outside: true, todo: { narrow: true } });
    const idle = done(outside);
    expect(followHours(idle, unsure("18:30:00"))).toBe(idle);
    expect(merge(undefined, unsure("09:00:00")).records[0]?.open).toBe(false);
  });

  test("loses them at once by fewer hours, and is shut where the sessions are to end, too", () => {
    const evening = { ...HOURS, windows: [EVENING] };
    const fewer = merge(open, timesAt(at("09:00:00")), { accounts: [account({ hours: evening })] }).records[0];
    expect(fewer).toMatchObject({ open: true, outside: true, todo: { narrow: true, shut: false } });
    const idle = done(outside);
    const told = (more: Partial<AccountState>) =>
      merge(idle, timesAt(at("13:00:00")), { full: false, accounts: [account(more)] }).records[0];
    expect(told({ hours_end: undefined })).toMatchObject({ open: false, todo: { shut: true } });
    expect(told({ open: false, hours: undefined })).toMatchObject({ open: false, todo: { shut: true } });
    expect(told({ keys: [] })?.todo.take).toEqual([KEY.fingerprint]);
    // Whose sessions would end by that cannot be told any more.
    const networks = ["192.0.2.0/24"];
    expect(told({ keys: [{ ...KEY, networks }] })).toMatchObject({ open: false, todo: { shut: true } });
    const sooner = "2026-11-28T00:00:00.000Z";
    expect(told({ expire_at: sooner })).toMatchObject({ outside: true, expire_at: sooner, todo: { narrow: true } });
  });

  test("is nothing to do when all is told again, and remembers a later end", () => {
    const idle = done(outside);
    expect(merge(idle, timesAt(at("13:00:00"))).records[0]).toBe(idle.records[0] as never);
    const later = "2027-12-05T08:00:00.000Z";
    const [record] = merge(open, timesAt(at("09:00:00")), { accounts: [account({ expire_at: later })] }).records;
    expect(record).toMatchObject({ end: later, todo: NOTHING, expire_at: MORNING.to });
  });

  test("is what the wire says, and nothing else is", () => {
    const state = (hours_end: unknown) => ({ ...TOLD, accounts: [{ ...account(), hours_end }] });
    expect(parseHostState(state("logins"))?.accounts[0]?.hours_end).toBe("logins");
    expect(parseHostState(state("sessions"))).toBeUndefined();
  });
});

describe("an agent with such an account", () => {
  let lab: AgentLab;
  beforeEach(async () => {
    lab = await openAgentLab();
  });
  afterEach(() => lab.close());

  test("takes the keys at the end of a window and ends nothing, cut off and after a restart", async () => {
    const now = Date.now() + lab.stub.clockOffset;
    const moment = (seconds: number) => new Date(now + seconds * 1000).toISOString();
    const windows = [
      { from: moment(-10), to: moment(60) },
      { from: moment(120), to: moment(180) },
    ];
    lab.stub.tell({ full: true, accounts: [account({ hours: { until: moment(8 * 86_400), windows } })] });
    const pass = (seconds: number) => {
      lab.skew.boot += seconds;
      lab.skew.wall += seconds;
      lab.stub.clockOffset += seconds * 1000;
    };
    const alice = () => lab.host.accounts.get("ext_alice");
    lab.start();
    await until(() => alice()?.open === true);
    expect(alice()?.file).toHaveLength(1);
    lab.stub.gone = true;
    lab.host.calls.length = 0;
    pass(60);
    await until(() => alice()?.file.length === 0);
    expect(alice()?.open).toBe(true);
    await lab.stop();
    lab.start();
    pass(60);
    await until(() => alice()?.file.length === 1);
    expect(lab.host.calls.filter((call) => /^(shutAccount|narrowKeys|takeKey)/.test(call))).toEqual([]);
  });
});
