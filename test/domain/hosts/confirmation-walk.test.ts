/**
 * Random walks: no answer says that a host has confirmed while the agent there, which does as it is told, would still let in what was taken
 * away. Hosts are given and taken, by name and by group; agents lose answers, are refused changes, confirm late or not at all.
 */

import { expect, test } from "bun:test";
import { settleChanges } from "../../../src/domain/hosts/confirmation.ts";
import { createGroup, updateGroup } from "../../../src/domain/hosts/groups.ts";
import { DAY, MINUTE, SECOND } from "../../../src/shared/time/clock.ts";
import { fleetChanges } from "../../../src/store/schema-fleet.ts";
import { createRandom } from "../../long/closings/random.ts";
import { confirming, createTestApp, loginUser, type TestApp } from "../../support/app.ts";
import { joinedAgent } from "../../support/fleet.ts";
import {
  catchUp,
  common,
  follow,
  type Host,
  holdToIt,
  hostsOf,
  isNarrower,
  type Person,
  report,
  type World,
  wrongOn,
} from "../../support/fleet-walk.ts";
import { freshKey } from "../../support/keys.ts";
import { isThorough } from "../../support/thorough.ts";

const SEEDS = isThorough ? [1, 2] : [1];
const STEPS = 150;
const HOSTS = ["h1", "h2", "h3"];
const GROUPS = ["g1", "g2"];
const NETWORKS = ["192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"];

type Step = (world: World, person: Person) => Promise<unknown>;

const upload: Step = async ({ done }, { name, isOpen, client, keys }) => {
  if (!isOpen) return;
  const key = { name: `k${done.length}`, public_key: freshKey() };
  const { status, body } = await client.call("POST", "/me/keys", key);
  done.push(`${name} uploads: ${status}`);
  if (status === 201) keys.set(body.data.fingerprint, { id: body.data.id, networks: [] });
};

const revoke: Step = async (world, person) => {
  const [key] = [...person.keys];
  if (key === undefined) return;
  person.keys.delete(key[0]);
  const { body } = await world.admin.call("DELETE", `/users/${person.id}/keys/${key[1].id}`);
  holdToIt(world, person, { what: "loses a key", confirmation: body.data.hosts });
};

const disable: Step = async (world, person) => {
  person.isOpen = false;
  const { body } = await world.admin.call("POST", `/users/${person.id}/disable`);
  holdToIt(world, person, { what: "is disabled", confirmation: body.data.hosts });
};

const enable: Step = async ({ t, admin, done }, person) => {
  if (person.isOpen) return;
  const { status } = await admin.call("POST", `/users/${person.id}/enable`);
  done.push(`${person.name} is enabled: ${status}`);
  if (status !== 200) return;
  person.isOpen = true;
  t.clock.advance(MINUTE);
  person.client.cookie = (await loginUser(t.system, t.app, person.name)).cookie;
};

const remove: Step = async (world, person) => {
  person.isOpen = false;
  world.people.splice(world.people.indexOf(person), 1);
  const { body } = await world.admin.call("DELETE", `/users/${person.id}`);
  holdToIt(world, person, { what: "is deleted", confirmation: body.data.hosts });
  await create(world);
};

const giveHosts: Step = async (world, person) => {
  const hosts = HOSTS.filter(() => world.random.onceIn(3));
  const some = ["default", ...GROUPS].filter(() => world.random.onceIn(3));
  const groups = hosts.length + some.length === 0 ? ["g1"] : some;
  const { status, body } = await world.admin.call("PUT", `/users/${person.id}/hosts`, { hosts, groups });
  const what = `gets ${[...hosts, ...groups].join(" ")}`;
  world.done.push(`${person.name} ${what}: ${status}`);
  if (status !== 200) return;
  const before = hostsOf(world, person);
  Object.assign(person, { hosts, groups });
  const lost = before.difference(hostsOf(world, person));
  if (lost.size > 0) holdToIt(world, person, { what, confirmation: body.data.taken });
};

const setNetworks: Step = async (world, person) => {
  const networks = NETWORKS.filter(() => world.random.onceIn(2));
  const { status, body } = await world.admin.call("PATCH", `/users/${person.id}`, { source_networks: networks });
  if (status !== 200) return;
  const before = person.networks;
  person.networks = networks;
  const claim = { what: `may come from ${networks.length}`, confirmation: body.data.hosts };
  if (isNarrower(before, networks)) holdToIt(world, person, claim);
};

const setKeyNetworks: Step = async (world, person) => {
  const [, key] = [...person.keys][0] ?? [];
  if (key === undefined || !person.isOpen) return;
  const allowed = person.networks.length === 0 ? NETWORKS : person.networks;
  const networks = allowed.filter(() => world.random.onceIn(2));
  const { status, body } = await person.client.call("PATCH", `/me/keys/${key.id}`, { source_networks: networks });
  if (status !== 200) return;
  const [before, after] = [key.networks, networks].map((each) => common(person.networks, each));
  key.networks = networks;
  const claim = { what: `lets a key come from ${networks.length}`, confirmation: body.data.hosts };
  if (isNarrower(before ?? [], after ?? [])) holdToIt(world, person, claim);
};

const setProfile: Step = async (world, person) => {
  const profile = world.random.pick([null, "drop", "fetch"]);
  const { status, body } = await world.admin.call("PATCH", `/users/${person.id}`, { profile });
  if (status !== 200 || profile === person.profile) return;
  person.profile = profile;
  if (profile !== null) holdToIt(world, person, { what: `is bound by ${profile}`, confirmation: body.data.hosts });
};

const setEnd: Step = async (world, person) => {
  const until = world.t.clock.now().getTime() + (5 + world.random.below(60)) * DAY;
  const wanted = { until: new Date(until).toISOString() };
  const { status, body } = await world.admin.call("POST", `/users/${person.id}/extend`, wanted);
  if (status !== 200) return;
  const isSooner = until < person.until;
  person.until = until;
  if (isSooner) holdToIt(world, person, { what: "ends sooner", confirmation: body.data.hosts });
};

const moveHost: Step = async ({ t, random, members, done }) => {
  const [group, host] = [random.pick(GROUPS), random.pick(HOSTS)];
  const present = members.get(group);
  const change = present?.delete(host) ? "remove" : "add";
  if (change === "add") present?.add(host);
  await updateGroup(t.system, group, { [change]: [host] });
  done.push(`${group}: ${change} ${host}`);
};

const hear: Step = async ({ random, hosts, people, done }) => {
  const host = random.pick(hosts);
  const { agent, owed } = host;
  const { cursor } = agent;
  // One that has lost its state asks for everything.
  if (random.onceIn(20)) agent.cursor = "";
  const state = await agent.state();
  const drawn = random.below(10);
  if (drawn < 2) {
    agent.cursor = cursor;
    return done.push(`${agent.name} loses an answer`);
  }
  const refused = drawn < 4 ? `ext_${random.pick(people).name}` : undefined;
  follow(host, state, refused);
  if (refused === undefined) catchUp(host);
  const says = refused !== undefined || owed.size > 0 || drawn > 5;
  if (says) await report(host);
  return done.push(
    `${agent.name} hears${refused === undefined ? "" : `, is refused ${refused}`}${says ? ", reports" : ""}`,
  );
};

const settle: Step = async ({ t }) => await settleChanges(t.services);

const STEPS_OF: readonly (readonly [often: number, step: Step])[] = [
  ...([
    [4, upload],
    [4, revoke],
    [2, disable],
    [3, enable],
    [1, remove],
    [5, giveHosts],
    [2, setNetworks],
  ] as const),
  ...([
    [2, setKeyNetworks],
    [2, setProfile],
    [2, setEnd],
    [2, moveHost],
    [20, hear],
    [1, settle],
  ] as const),
];

async function create(world: World): Promise<void> {
  const name = `p${++world.born}`;
  const { id, client } = await world.t.user(name);
  const { body } = await world.admin.call("GET", `/users/${id}`);
  world.people.push({
    ...{ name, id, client, isOpen: true, hosts: [], groups: ["default"], networks: [], profile: null },
    ...{ until: new Date(body.data.expire_at).getTime(), keys: new Map() },
  });
}

async function openWorld(t: TestApp, seed: number): Promise<World> {
  const admin = await t.admin();
  for (const name of ["drop", "fetch"]) {
    const profile = { name, kind: "sftp", directory: `/srv/${name}` };
    expect((await confirming(admin).call("POST", "/profiles", profile)).status).toBe(201);
  }
  const hosts: Host[] = [];
  for (const name of HOSTS) {
    const agent = await joinedAgent(t, name);
    agent.profiles = true;
    hosts.push({ agent, accounts: new Map(), owed: new Map() });
  }
  for (const name of GROUPS) await createGroup(t.system, { name });
  const members = new Map([["default", new Set(HOSTS)], ...GROUPS.map((name) => [name, new Set<string>()] as const)]);
  return { t, admin, random: createRandom(seed), hosts, people: [], members, done: [], born: 0 };
}

test.each(SEEDS)(
  "what an answer says of hosts is true on each of them (seed %p)",
  async (seed) => {
    const t = await createTestApp();
    try {
      // Nobody confirms while an answer waits.
      Object.assign(t.services.policy, { fleetWait: 1 });
      const world = await openWorld(t, seed);
      for (const _ of HOSTS) await create(world);
      const all = STEPS_OF.reduce((sum, [often]) => sum + often, 0);
      for (let step = 0; step < STEPS; step++) {
        t.clock.advance(SECOND);
        let drawn = world.random.below(all);
        const found = STEPS_OF.find(([often]) => {
          drawn -= often;
          return drawn < 0;
        });
        await found?.[1](world, world.random.pick(world.people));
      }
      for (const host of world.hosts) {
        follow(host, await host.agent.state());
        catchUp(host);
        await report(host);
      }
      await settle(world, world.people[0] as Person);
      // Nothing is waited for for ever.
      expect(await t.db.select().from(fleetChanges)).toEqual([]);
      for (const person of world.people)
        for (const host of world.hosts) expect(wrongOn(world, host, person)).toBeUndefined();
      expect(world.done.filter((line) => line.includes("[h")).length).toBeGreaterThan(10);
    } finally {
      await t.close();
    }
  },
  600_000,
);
