/**
 * One service and thousands of hosts: simulated agents that speak the real protocol against the real binary. What the simulation
 * itself uses of the machine is printed apart: both share its processors.
 */

import { join } from "node:path";
import { parseCursor } from "../../src/protocol/fleet.ts";
import { freshKey } from "../support/keys.ts";
import { simulatedKey } from "../support/simulated-agent.ts";
import { describeMachine, percentile } from "./bench.ts";
import { type Crowd, gatherCrowd } from "./fleet/crowd.ts";
import { FIRST_HOST, type Field, openField, processorMs } from "./fleet/field.ts";
import { measuring, seconds, spread } from "./fleet/measuring.ts";
import type { BenchOptions } from "./options.ts";

const USERS = 1000;
const ROUNDS = 3;
const PROCESSES = 2;
const IDLE = 60_000;
/** Between two counts, in milliseconds: each costs the database some. */
const BETWEEN_COUNTS = 80;
/** How long a change is waited for. */
const PATIENCE = 60_000;
/** Until the agents that have reported wait again. */
const SETTLING = 1500;
/** Between two requests of the API whose times are taken while all agents come back. */
const BETWEEN_PROBES = 20;

/** Prints the figures of changes, of quiet, of a restart, of first states, and of two replicas. */
export async function benchFleet({ agents }: BenchOptions): Promise<void> {
  console.log(`\n## ${agents} simulated hosts with ${USERS} users each\n\n${describeMachine()}`);
  await floor(agents);
  await withCrowd({ agents, replicas: 1 }, async (field, crowd) => {
    await enrolOne(field, crowd);
    await changes(field, crowd, agents);
    await idle(field, crowd);
    await crowd.hang(Math.ceil(agents / 100));
    await changes(field, crowd, agents - Math.ceil(agents / 100));
    await crowd.hang(0);
    await restart(field, crowd, agents);
  });
  await firstStates(Math.min(agents, 200));
  await withCrowd({ agents, replicas: 2 }, async (field, crowd) => changes(field, crowd, agents));
}

/** The same waves without a service behind the signatures: nothing that speaks the protocol is faster here. */
async function floor(agents: number): Promise<void> {
  const script = join(import.meta.dir, "fleet/bare.ts");
  const child = Bun.spawn([process.execPath, script, String(FIRST_HOST), String(agents)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const reader = child.stdout.getReader();
  const { origin, serviceKey } = JSON.parse(new TextDecoder().decode((await reader.read()).value));
  const crowd = await gatherCrowd(
    { first: FIRST_HOST, count: agents, origins: [origin], serviceKey, cursor: "" },
    PROCESSES,
  );
  try {
    await crowd.start(5000);
    await Bun.sleep(8000);
    for (let record = 1; record <= ROUNDS; record++) {
      const before = { cpu: processorMs(child.pid), simulated: (await crowd.cost()).cpu };
      const began = Date.now();
      await fetch(`${origin}/api/v1/change`);
      const count = async () => Number(await (await fetch(`${origin}/api/v1/confirmed`)).text());
      const { told, confirmed } = await confirmations(crowd, { began, expected: agents, count });
      const cpu = processorMs(child.pid) - before.cpu;
      const simulated = (await crowd.cost()).cpu - before.simulated;
      console.log(
        `bare ${String(record).padEnd(7)} confirmed by ${confirmed.length}: ${spread(confirmed)}; told ${spread(told)}; for each host: bare ${((cpu * 1000) / agents).toFixed(0)} us, simulation ${((simulated * 1000) / agents).toFixed(0)} us`,
      );
    }
  } finally {
    await crowd.stop();
    child.kill();
  }
}

interface Run {
  readonly agents: number;
  readonly replicas: number;
}

async function withCrowd({ agents, replicas }: Run, measure: (field: Field, crowd: Crowd) => Promise<void>) {
  const field = await openField(agents, USERS, replicas);
  const job = {
    first: FIRST_HOST,
    count: agents,
    origins: field.services.map(({ origin }) => origin),
    serviceKey: field.serviceKey,
    cursor: await field.head(),
  };
  const crowd = await gatherCrowd(job, PROCESSES);
  try {
    console.log(`\n${replicas} ${replicas === 1 ? "service" : "services on one database"}`);
    await measuring({ field, crowd }, "all connect, within 10 s", async () => {
      const from = new Date();
      await crowd.start(10_000);
      const { last } = await seen(field, from, agents);
      return `all held after ${seconds(last)} s`;
    });
    await measure(field, crowd);
  } finally {
    await crowd.stop();
    await field.close();
  }
}

/** A real one beside those whose rows were inserted; only its token is, too. */
async function enrolOne(field: Field, crowd: Crowd): Promise<void> {
  await measuring({ field, crowd }, "enrolment", async () => {
    const token = `uamj_${crypto.randomUUID()}`;
    await field.sql`
      insert into join_tokens (token_hash, created_by, expires_at)
      values (sha256(${token}::text::bytea), 'bench', now() + interval '5 minutes')`;
    const [{ call }] = field.services as [Field["services"][0]];
    const began = performance.now();
    const enrolment = {
      ...{ token, name: "one-more", mode: "dry-run", version: "0.0.0", highest_uid: 0 },
      public_key: Buffer.from(simulatedKey(1).publicKey).toString("base64"),
      ssh: { host: "", port: 22, host_keys: [] },
    };
    const { status } = await call("POST", "/agent/enrol", "", enrolment);
    return `answered ${status} after ${seconds(performance.now() - began)} s`;
  });
}

/** Uploads a key and revokes it, in turns. */
async function changes(field: Field, crowd: Crowd, expected: number): Promise<void> {
  const [{ call }] = field.services as [Field["services"][0]];
  for (let round = 0; round < ROUNDS; round++) {
    let id = 0;
    await change(field, crowd, { name: "upload", expected }, async () => {
      const made = await call("POST", "/me/keys", field.user, { name: "bench", public_key: freshKey() });
      id = made.body.data.id;
      return made;
    });
    await change(field, crowd, { name: "revocation", expected }, () => call("DELETE", `/me/keys/${id}`, field.user));
  }
}

interface Change {
  readonly name: string;
  readonly expected: number;
}

async function change(
  field: Field,
  crowd: Crowd,
  { name, expected }: Change,
  make: () => ReturnType<Field["services"][0]["call"]>,
): Promise<void> {
  await measuring({ field, crowd, each: expected }, name, async () => {
    const before = await field.head();
    const began = Date.now();
    const answer = make().then((done) => ({ ...done, after: Date.now() - began }));
    const record = 1 + (parseCursor(before)?.id ?? 0);
    const times = await confirmations(crowd, { began, expected, count: () => confirmedIn(field, record) });
    const { status, body, after } = await answer;
    const { total, confirmed } = body.data?.hosts ?? {};
    const hosts = total === undefined ? "" : ` with ${confirmed} of ${total} hosts`;
    return `confirmed by ${times.confirmed.length}: ${spread(times.confirmed)}; told ${spread(times.told)}; answered ${status} after ${seconds(after)} s${hosts}`;
  });
}

interface Expected {
  /** Milliseconds since 1970. */
  readonly began: number;
  readonly expected: number;
  /** How many have confirmed by now. */
  readonly count: () => Promise<number>;
}

/** When the hosts counted as done and when their agents were told, in milliseconds; waits for the next requests of all, too. */
async function confirmations(crowd: Crowd, { began, expected, count }: Expected) {
  const confirmed: number[] = [];
  while (confirmed.length < expected && Date.now() - began < PATIENCE) {
    const so = await count();
    const at = Date.now() - began;
    while (confirmed.length < so) confirmed.push(at);
    await Bun.sleep(BETWEEN_COUNTS);
  }
  await Bun.sleep(SETTLING);
  const told = (await crowd.told()).filter((time) => time >= began).map((time) => time - began);
  return { confirmed, told };
}

/** As the service itself sees it. */
async function confirmedIn(field: Field, record: number): Promise<number> {
  const [row] = await field.sql`
    select count(*)::integer as n from hosts where id >= ${FIRST_HOST} and applied_id >= ${record}`;
  return row?.n;
}

async function idle(field: Field, crowd: Crowd): Promise<void> {
  await measuring({ field, crowd }, `idle for ${IDLE / 1000} s`, async () => {
    const position = async () =>
      Number((await field.sql`select pg_current_wal_lsn() - '0/0'::pg_lsn as bytes`)[0]?.bytes);
    const before = { bytes: await position(), states: (await crowd.cost()).counts.states ?? 0 };
    await Bun.sleep(IDLE);
    const renewals = ((await crowd.cost()).counts.states ?? 0) - before.states;
    const bytes = (await position()) - before.bytes;
    return `${renewals} leases renewed; the database wrote ${Math.round(bytes / renewals)} bytes of log for each`;
  });
}

/** The service stops and starts again; the agents find out by themselves. */
async function restart(field: Field, crowd: Crowd, agents: number): Promise<void> {
  await measuring({ field, crowd }, "restart", async () => {
    const from = new Date();
    const away = await field.restart(0);
    const back = new AbortController();
    const probed = probe(field, back.signal);
    const { last, half } = await seen(field, from, agents);
    back.abort();
    const times = await probed;
    return `away for ${seconds(away)} s, half back after ${seconds(half)} s, all after ${seconds(last)} s; GET /me/keys p50 ${percentile(times, 0.5).toFixed(0)} ms, p99 ${percentile(times, 0.99).toFixed(0)} ms, at most ${percentile(times, 1).toFixed(0)} ms`;
  });
}

async function probe(field: Field, until: AbortSignal): Promise<readonly number[]> {
  const times: number[] = [];
  const [{ call }] = field.services as [Field["services"][0]];
  while (!until.aborted) {
    const began = performance.now();
    await call("GET", "/me/keys", field.user);
    times.push(performance.now() - began);
    await Bun.sleep(BETWEEN_PROBES);
  }
  return times;
}

/** Milliseconds until half and all of the hosts were seen, as the database says. */
export async function seen(
  field: Field,
  from: Date,
  expected: number,
): Promise<{ readonly half: number; readonly last: number }> {
  let half = 0;
  for (;;) {
    const [row] = await field.sql`
      select count(*)::integer as n from hosts where id >= ${FIRST_HOST} and last_seen_at >= ${from.toISOString()}::timestamptz`;
    const elapsed = Date.now() - from.getTime();
    if (half === 0 && row?.n >= expected / 2) half = elapsed;
    if (row?.n >= expected) return { half, last: elapsed };
    if (elapsed > PATIENCE * 2) throw new Error(`only ${row?.n} of ${expected} hosts came back`);
    await Bun.sleep(250);
  }
}

/** Hosts that know nothing yet. */
async function firstStates(agents: number): Promise<void> {
  const field = await openField(agents, USERS);
  const [{ origin }] = field.services as [Field["services"][0]];
  const job = { first: FIRST_HOST, count: agents, origins: [origin], serviceKey: field.serviceKey, cursor: "" };
  const crowd = await gatherCrowd(job, 1);
  try {
    await measuring({ field, crowd }, `full states of ${USERS} users for ${agents} hosts`, async () => {
      const began = Date.now();
      await crowd.start(0);
      let times: readonly number[] = [];
      while (times.length < agents && Date.now() - began < PATIENCE) {
        await Bun.sleep(250);
        times = (await crowd.confirmed(0)).filter((time) => time > 0).map((time) => time - began);
      }
      return `confirmed by ${times.length}: ${spread(times)}`;
    });
  } finally {
    await crowd.stop();
    await field.close();
  }
}
