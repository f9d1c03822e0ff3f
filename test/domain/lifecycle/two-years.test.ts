/** Many users through two years of joining, extending, disabling, expiring and recycling, against a model of the rules. */

import { afterAll, beforeAll, describe, expect } from "bun:test";
import { sql } from "drizzle-orm";
import { cleanUp } from "../../../src/domain/lifecycle/clean-up.ts";
import { beat, HOLD } from "../../../src/domain/lifecycle/heartbeat.ts";
import { expireDue, recycleDue } from "../../../src/domain/lifecycle/lifecycle.ts";
import { remindExpiring } from "../../../src/domain/lifecycle/reminders.ts";
import { type Services, systemContext } from "../../../src/domain/operation/context.ts";
import { dropSetting, updateSetting } from "../../../src/domain/settings/settings.ts";
import { extendUser } from "../../../src/domain/users/extend.ts";
import { createUser, deleteUser, disableUser, enableUser } from "../../../src/domain/users/users.ts";
import { DAY } from "../../../src/shared/time/clock.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { createFakeHost } from "../../support/fake-host.ts";
import { isThorough, testSlow } from "../../support/thorough.ts";

/** Some 10 ms each on two cores; `bun run test:long two-years` has 10,000. */
const PEOPLE = Number(process.env.UAM_TEST_PEOPLE ?? (isThorough ? 1000 : 25));
const DAYS = 730;
const LAST_JOIN = 640;
const LANES = 8;

/** A user as the rules require. */
interface Person {
  readonly id: number;
  readonly username: string;
  readonly uid: number;
  /** When a mail last told them their date. */
  toldAt: number;
  expireAt: number;
  status: "active" | "disabled" | "expired";
  disabled: boolean;
}

let app: TestApp;
let services: Services;
const host = createFakeHost(0);
const people = new Map<number, Person>();
const uids = new Set<number>();
/** What the audit log and the outbox must get today, as `action id` and dedupe keys. */
let events: string[] = [];
let mails: string[] = [];
const seen = { audit: 0, outbox: 0 };
let joined = 0;
let hold = 0;
let period = 30 * DAY;

beforeAll(async () => {
  app = await createTestApp();
  services = { ...app.services, host };
}, 180_000);
afterAll(() => app.close());

describe("two years", () => {
  testSlow(
    `of ${PEOPLE} users: states, accounts, audit and mail are as the rules say after each day`,
    async () => {
      const operator = { ...app.system, host };
      for (let day = 0; day < DAYS; day++) {
        app.clock.advance(DAY);
        // A shorter period takes effect a day after it was set.
        if (day === 299) await updateSetting(operator, "policy.recycle_period", "10d");
        if (day === 500) await dropSetting(operator, "policy.recycle_period");
        period = day >= 300 && day < 500 ? 10 * DAY : 30 * DAY;
        await inLanes(daysWork(operator));
        // Four times the service is stopped for some days; otherwise its heartbeat ran all night.
        const stopped = day % 180 > 100 && day % 180 < 104;
        if (!stopped) await tick(day);
        await compareUsers(stopped);
        await compareRecords();
        if (day % 30 === 29) await forgetMail();
      }
      expect(joined).toBe(PEOPLE);
      expect(uids.size).toBe(PEOPLE);
      const [twice] = await app.db.execute(sql`
      select resource_id from audit where action = 'lifecycle.recycle' and result = 'success' group by 1 having count(*) > 1`);
      expect(twice).toBeUndefined();
      const [failed] = await app.db.execute(sql`select * from audit where result = 'failed' limit 1`);
      expect(failed).toBeUndefined();
    },
    3_600_000,
  );
});

/** What administrators do on a day: each user at most one thing. */
function daysWork(operator: typeof app.system): (() => Promise<void>)[] {
  const now = app.clock.now().getTime();
  const work: (() => Promise<void>)[] = [];
  for (const person of people.values()) {
    const chance = random();
    const over = person.status === "expired" || person.expireAt <= now;
    if (chance < 0.006) {
      if (!over || person.expireAt + period > now)
        work.push(() => extend(operator, person, 1 + Math.floor(random() * 60)));
    } else if (chance < 0.009 && !over) {
      const isDisabled = person.disabled;
      person.disabled = !isDisabled;
      if (isDisabled) person.toldAt = now;
      else mails.push(`disabled:${person.id}:${now}`);
      person.status = isDisabled ? "active" : "disabled";
      events.push(`${isDisabled ? "user.enable" : "user.disable"} ${person.id}`);
      work.push(async () => void (await (isDisabled ? enableUser : disableUser)(operator, person.id)));
    } else if (chance < 0.0095) {
      people.delete(person.id);
      events.push(`user.delete ${person.id}`);
      mails.push(`deleted:${person.id}`);
      work.push(() => deleteUser(operator, person.id));
    }
  }
  const target = Math.min(PEOPLE, Math.ceil((PEOPLE * (now - start)) / (LAST_JOIN * DAY)));
  for (; joined < target; joined++)
    work.push(
      (
        (number) => () =>
          join(operator, number)
      )(joined),
    );
  return work;
}

const start = new Date("2026-11-20T08:00:00.000Z").getTime();

async function join(operator: typeof app.system, number: number): Promise<void> {
  const username = `p-${number}`;
  const supervisor = number % 3 === 0 ? "chief@example.org" : "The chief";
  const input = { username, email: `${username}@example.org`, supervisor, ttlDays: 1 + (number % 120) };
  const { id, uid, createdAt, expireAt } = await createUser(operator, input);
  expect(uids.has(uid)).toBe(false);
  uids.add(uid);
  people.set(id, {
    ...{ id, username, uid, status: "active", disabled: false },
    ...{ toldAt: createdAt.getTime(), expireAt: expireAt.getTime() },
  });
  events.push(`user.create ${id}`);
}

async function extend(operator: typeof app.system, person: Person, days: number): Promise<void> {
  const now = app.clock.now().getTime();
  if (person.status === "expired" || person.expireAt <= now) person.status = person.disabled ? "disabled" : "active";
  person.expireAt = Math.max(person.expireAt, now) + days * DAY;
  person.toldAt = now;
  events.push(`user.extend ${person.id}`);
  await extendUser(operator, person.id, days);
}

/** The jobs of a day, now and then by two instances at once; then the same in the model. */
async function tick(day: number): Promise<void> {
  const now = app.clock.now();
  const slept = day % 180 === 104;
  if (!slept) await app.db.execute(sql`update service_state set heartbeat_at = ${now.toISOString()}`);
  if (slept) hold = now.getTime() + HOLD;
  const system = systemContext(services);
  const instance = async () => {
    const time = await beat(services);
    await expireDue(system, time);
    await remindExpiring(services, time.now);
    await recycleDue(system, time);
  };
  await Promise.all(day % 7 === 0 ? [instance(), instance()] : [instance()]);
  for (const person of people.values()) live(person, now.getTime());
}

function live(person: Person, now: number): void {
  if (person.status !== "expired" && person.expireAt <= now) {
    person.status = "expired";
    events.push(`lifecycle.expire ${person.id}`);
    mails.push(`expired:${person.id}:${person.expireAt}`);
  }
  if (person.status === "expired") {
    if (person.expireAt + period > now || hold > now) return;
    people.delete(person.id);
    events.push(`lifecycle.recycle ${person.id}`);
    mails.push(`deleted:${person.id}`);
    return;
  }
  const due = [1, 7, 14].find((days) => person.expireAt - days * DAY <= now);
  if (due === undefined || person.expireAt - due * DAY < person.toldAt + DAY) return;
  const key = `reminder:${person.id}:${person.expireAt}:${due}`;
  if (reminded.has(key)) return;
  reminded.add(key);
  const hasChief = Number(person.username.slice(2)) % 3 === 0;
  mails.push(key, ...(hasChief ? [`${key}:supervisor`] : []));
}

const reminded = new Set<string>();

async function compareUsers(stopped: boolean): Promise<void> {
  const now = app.clock.now().getTime();
  const rows = await app.db.execute<{ id: string; uid: number; status: string; at: string; disabled: boolean }>(sql`
    select u.id, a.uid, u.status, (extract(epoch from u.expire_at) * 1000)::bigint as at, u.disabled_at is not null as disabled
    from users u join accounts a on a.user_id = u.id`);
  const wrong: unknown[] = [];
  for (const row of rows) {
    const person = people.get(Number(row.id));
    const account = host.accounts.get(`ext_${person?.username}`);
    const expireAt = Number(row.at);
    const isAsStored =
      person?.uid === row.uid &&
      person.status === row.status &&
      person.expireAt === expireAt &&
      person.disabled === row.disabled;
    // Between two runs of the job an account is still open; sshd itself refuses its keys by then.
    const isOpen = row.status === "active" && (stopped ? account?.open : expireAt > now);
    // An account that is shut has a date long past, and is given its own when it is opened.
    const isDated = account?.open === false || account?.expireAt.getTime() === expireAt;
    const isOnHost = account?.uid === row.uid && account?.open === isOpen && isDated;
    if (!isAsStored || !isOnHost) wrong.push({ row, person, account });
  }
  expect(wrong).toEqual([]);
  expect(rows.length).toBe(people.size);
  expect(host.accounts.size).toBe(people.size);
}

async function compareRecords(): Promise<void> {
  const audit = await app.db.execute<{ id: string; event: string; actor: string }>(sql`
    select id, action || ' ' || resource_id as event, actor from audit where id > ${seen.audit} and resource_type = 'user' order by id`);
  expect(audit.map((row) => row.event).sort()).toEqual(events.sort());
  for (const row of audit) expect(row.actor).toBe(row.event.startsWith("lifecycle.") ? "system" : "operator");
  seen.audit = Number(audit.at(-1)?.id ?? seen.audit);
  const outbox = await app.db.execute<{ id: string; key: string }>(sql`
    select id, dedupe_key as key from outbox where id > ${seen.outbox} and dedupe_key is not null order by id`);
  expect(outbox.map((row) => row.key).sort()).toEqual(mails.sort());
  seen.outbox = Number(outbox.at(-1)?.id ?? seen.outbox);
  events = [];
  mails = [];
}

/** Mail is sent, and deleted in time: that must not make anything be sent again. */
async function forgetMail(): Promise<void> {
  await app.db.execute(sql`
    update outbox set status = 'sent', text = '', html = '', finished_at = ${app.clock.now().toISOString()}::timestamptz where status = 'queued'`);
  await cleanUp(services);
}

async function inLanes(work: (() => Promise<void>)[]): Promise<void> {
  const lane = async () => {
    for (let next = work.pop(); next !== undefined; next = work.pop()) await next();
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

/** Mulberry32: the same two years each time. */
let seed = 20_261_120;
function random(): number {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
}
