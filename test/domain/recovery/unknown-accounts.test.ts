/** Accounts that hosts have and a database that was set back does not know: shut there, and removed once an administrator accepts. */

import { afterEach, beforeEach, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { settleChanges } from "../../../src/domain/hosts/confirmation.ts";
import { retireHost } from "../../../src/domain/hosts/retirement.ts";
import { acceptHistory } from "../../../src/domain/recovery/divergence.ts";
import { deleteUser } from "../../../src/domain/users/users.ts";
import { MAX_UNKNOWN } from "../../../src/protocol/fleet.ts";
import type { AccountRef } from "../../../src/protocol/host.ts";
import { DAY } from "../../../src/shared/time/clock.ts";
import type { TestAgent } from "../../support/agent.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { joinedAgent } from "../../support/fleet.ts";
import { testSlow } from "../../support/thorough.ts";

let t: TestApp;
let one: TestAgent;
let other: TestAgent;
beforeEach(async () => {
  t = await createTestApp();
  await t.admin();
  one = await joinedAgent(t, "one");
  other = await joinedAgent(t, "other");
});
afterEach(() => t.close());

const LOST = { name: "ext_lost", uid: 63_001 };

async function next(agent: TestAgent) {
  t.clock.advance(10);
  return await agent.state();
}

/** The agent has applied what the log does not have, is told so, and says what it has that was not named. */
async function setBack(agent: TestAgent, unknown: readonly AccountRef[] = [LOST]): Promise<void> {
  await next(agent);
  agent.cursor = `999999.${"0".repeat(64)}`;
  expect(await next(agent)).toMatchObject({ full: true, cautious: true, removed: [] });
  expect(await agent.report({ unknown })).toMatchObject({ status: 200 });
}

async function held() {
  const rows = await t.db.execute<{ name: string; uid: number; record: string; hosts: number[] }>(
    sql`select name, uid, record_id as record, to_json(hosts) as hosts from removed_accounts order by id`,
  );
  return [...rows];
}
const problems = async () => [
  ...(await t.db.execute(sql`select host_id, text from host_problems where kind = 'unknown'`)),
];
/** The account as it is wanted somewhere. */
async function refOf(username: string): Promise<AccountRef> {
  const account = (await next(other)).accounts.find(({ name }) => name === `ext_${username}`);
  if (account === undefined) throw new Error(`${username} has no account`);
  return { name: account.name, uid: account.uid };
}

test("are shown, and removed by the record of whoever accepts, and by nothing else", async () => {
  await setBack(one);
  await setBack(other);
  expect(await problems()).toMatchObject([{ text: expect.stringContaining("ext_lost") }, {}]);
  await settleChanges(t.services);
  expect((await next(one)).removed).toEqual([]);
  one.cursor = "";
  expect((await next(one)).removed).toEqual([]);

  expect(await acceptHistory(t.system)).toEqual({ hosts: 2, removed: [{ ...LOST, hosts: 2 }], unheard: [] });
  const record = await t.lastAudit("fleet.accept");
  expect(record).toMatchObject({ result: "success", detail: { hosts: 2, accounts: 1, removed: "ext_lost" } });
  expect(await problems()).toEqual([]);
  expect(await next(one)).toMatchObject({ full: true, cautious: false, removed: [LOST] });
  await one.report();
  await settleChanges(t.services);
  expect((await held()).flatMap(({ hosts }) => hosts)).toEqual([other.id]);
  expect((await next(other)).removed).toEqual([LOST]);
  await other.report();
  await settleChanges(t.services);
  expect(await held()).toHaveLength(0);
});

test("a host that is away when that is accepted removes them when it comes, a day later too", async () => {
  await setBack(one);
  await acceptHistory(t.system);
  for (let day = 0; day < 2; day++) {
    t.clock.advance(DAY);
    await settleChanges(t.services);
  }
  expect((await next(one)).removed).toEqual([LOST]);
  // Its disk was set back, or what it heard was lost on the way.
  one.cursor = "";
  expect((await next(one)).removed).toEqual([LOST]);
});

test("a host that has not said yet what it has is named, and waits for another to accept", async () => {
  await setBack(one, []);
  other.cursor = `999999.${"0".repeat(64)}`;
  await next(other);
  expect(await acceptHistory(t.system)).toEqual({ hosts: 2, removed: [], unheard: ["other"] });
  await other.report({ unknown: [LOST] });
  expect((await next(other)).removed).toEqual([]);
  expect(await acceptHistory(t.system)).toEqual({ hosts: 0, removed: [{ ...LOST, hosts: 1 }], unheard: [] });
  expect((await next(other)).removed).toEqual([LOST]);
});

test("who accepts twice, or two at once, have them removed once", async () => {
  await setBack(one);
  const both = await Promise.all([acceptHistory(t.system), acceptHistory(t.system)]);
  expect(both.map(({ removed }) => removed.length).sort()).toEqual([0, 1]);
  expect(both.map(({ hosts }) => hosts).sort()).toEqual([0, 1]);
  const [row, ...more] = await held();
  expect([row?.hosts, more]).toEqual([[one.id], []]);
  await acceptHistory(t.system);
  expect(await held()).toEqual(row === undefined ? [] : [row]);
  expect((await next(one)).removed).toEqual([LOST]);
});

test("if accepting fails on the way, nobody has accepted", async () => {
  await setBack(one);
  await t.alter("alter table removed_accounts add constraint of_the_test check (record_id < 1)");
  await expect(acceptHistory(t.system)).rejects.toThrow();
  expect(await problems()).toHaveLength(1);
  expect(await next(one)).toMatchObject({ cautious: true, removed: [] });
  await t.alter("alter table removed_accounts drop constraint of_the_test");
  expect(await acceptHistory(t.system)).toMatchObject({ hosts: 1, removed: [LOST] });
});

test("an account made anew under the name, with another uid, stays; the one of before goes", async () => {
  await setBack(one);
  await t.user("lost");
  const made = await refOf("lost");
  expect(made.uid).not.toBe(LOST.uid);
  await acceptHistory(t.system);
  const told = await next(one);
  expect(told.removed).toEqual([LOST]);
  expect(told.accounts).toContainEqual(expect.objectContaining({ ...made, open: true }));
});

test("what is known is not removed: neither when it is reported, nor if it is known by the time somebody accepts", async () => {
  await t.user("known");
  const known = await refOf("known");
  await setBack(one, [known, LOST]);
  expect((await held()).map(({ name }) => name)).toEqual(["ext_lost"]);
  // As after another restore, of a newer backup.
  await t.db.execute(sql`update removed_accounts set name = ${known.name}, uid = ${known.uid}`);
  expect((await acceptHistory(t.system)).removed).toEqual([]);
  expect(await held()).toEqual([]);
  expect((await next(one)).removed).toEqual([]);
});

test("what is being removed already is no question any more", async () => {
  const { id } = await t.user("gone");
  const gone = await refOf("gone");
  await next(one);
  await deleteUser(t.system, id);
  expect((await next(one)).removed).toEqual([gone]);
  await one.report({ unknown: [gone] });
  expect((await held()).map(({ record }) => Number(record) > 0)).toEqual([true]);
});

testSlow("a host speaks for itself, bounded, and only of names that can be ours", async () => {
  await setBack(one);
  for (let round = 0; round < 3; round++) {
    const many = Array.from({ length: MAX_UNKNOWN }, (_, n) => ({ name: `ext_u${round}x${n}`, uid: 61_000 + n }));
    t.clock.advance(10);
    await next(one);
    expect(await one.report({ unknown: many })).toMatchObject({ status: 200 });
    expect(await held()).toHaveLength(MAX_UNKNOWN);
  }
  for (const bad of [
    { name: "root", uid: 0 },
    { name: "ext_a", uid: 999 },
    { name: "alice", uid: 61_000 },
    { name: "ext_../x", uid: 61_000 },
  ]) {
    t.clock.advance(10);
    expect(await one.report({ unknown: [bad] })).toMatchObject({ status: 400, signed: true });
  }
  const tooMany = Array.from({ length: MAX_UNKNOWN + 1 }, (_, n) => ({ name: `ext_v${n}`, uid: 61_000 + n }));
  expect(await one.report({ unknown: tooMany })).toMatchObject({ status: 400 });
  t.clock.advance(10);
  expect(await one.report({ unknown: [] })).toMatchObject({ status: 200 });
  expect([await held(), await problems()]).toEqual([[], []]);
});

testSlow("many hosts at once, and one that is forgotten, leave nothing behind", async () => {
  const more: TestAgent[] = [];
  for (let index = 0; index < 8; index++) more.push(await joinedAgent(t, `more-${index}`));
  await Promise.all([one, ...more].map((agent) => setBack(agent, [LOST, { name: "ext_lost2", uid: 63_002 }])));
  await retireHost(t.system, one.id, { force: true });
  expect((await acceptHistory(t.system)).removed).toEqual([
    { ...LOST, hosts: more.length },
    { name: "ext_lost2", uid: 63_002, hosts: more.length },
  ]);
  for (const agent of more) {
    expect((await next(agent)).removed).toHaveLength(2);
    await agent.report();
  }
  await settleChanges(t.services);
  expect(await held()).toEqual([]);
});
