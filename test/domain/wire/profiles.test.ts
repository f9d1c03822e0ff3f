/** Which further hosts hear of profiles, and when: those where somebody has them, and never of an account without what its profile is. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { fleetOf } from "../../../src/domain/wire/fleet.ts";
import type { HostState } from "../../../src/protocol/fleet.ts";
import type { TestAgent } from "../../support/agent.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { joinedAgent } from "../../support/fleet.ts";
import { until } from "../../support/until.ts";

let t: TestApp;
let admin: Awaited<ReturnType<TestApp["admin"]>>;
/** Of the group that users have, and of none. */
let agent: TestAgent;
let other: TestAgent;
beforeAll(async () => {
  t = await createTestApp();
  admin = await t.admin();
  agent = await joinedAgent(t, "concerned");
  other = await joinedAgent(t, "alone", "");
  agent.profiles = other.profiles = true;
});
afterAll(() => t.close());

const profileIn = ({ accounts }: HostState, username: string) =>
  accounts.find(({ name }) => name === `ext_${username}`)?.profile;
const textIn = ({ profiles = [] }: HostState, name: string) => profiles.find((profile) => profile.name === name);
const waiting = (count: number) => until(() => fleetOf(t.services).states.waiting() === count);

async function make(name: string): Promise<number> {
  const { status, body } = await admin.call("POST", "/profiles", { name, kind: "shell" });
  expect(status).toBe(201);
  return body.data.id;
}

test("a profile that nobody has concerns no host, and comes with the first account that has it, also to who waits", async () => {
  const { id } = await t.user("anna");
  await agent.state();
  await other.state();
  const held = [agent.state(50), other.state(50)] as const;
  await waiting(2);
  await make("dev");
  expect((await admin.call("PATCH", `/users/${id}`, { profile: "dev" })).status).toBe(200);
  const told = await held[0];
  expect([told.full, profileIn(told, "anna"), textIn(told, "dev")?.kind]).toEqual([false, "dev", "shell"]);
  await waiting(1);
  // A newer request ends it.
  expect(await other.state()).toMatchObject({ full: false, accounts: [], profiles: [{ name: "dev" }] });
  expect((await held[1]).accounts).toEqual([]);
});

test("what is changed of one is told where somebody has it, by their own or by a group, and nowhere else", async () => {
  const id = await make("ops");
  const { id: user } = await t.user("bert");
  await admin.call("PATCH", `/users/${user}`, { profile: "ops" });
  await agent.state();
  await other.state();
  const held = [agent.state(50), other.state(50)] as const;
  await waiting(2);
  expect((await admin.call("PATCH", `/profiles/${id}`, { max_sessions: 2 })).status).toBe(200);
  const told = await held[0];
  expect([told.full, textIn(told, "ops")?.maxSessions]).toEqual([true, 2]);
  await waiting(1);
  expect((await other.state()).full).toBe(false);
  await held[1];
  const byGroup = await make("by-group");
  const group = await admin.call("POST", "/host-groups", { name: "labs", hosts: ["alone"], profile: "by-group" });
  expect(group.status).toBe(201);
  await other.state();
  await admin.call("PUT", `/users/${user}/hosts`, { groups: ["default", "labs"], hosts: [] });
  expect(profileIn(await other.state(), "bert")).toBe("ops");
  await admin.call("PATCH", `/users/${user}`, { profile: null });
  expect(profileIn(await other.state(), "bert")).toBe("by-group");
  await agent.state();
  await admin.call("PATCH", `/profiles/${byGroup}`, { max_sessions: 3 });
  expect([(await other.state()).full, (await agent.state()).full]).toEqual([true, false]);
  // Refused, and on record with what was asked for.
  expect((await admin.call("PATCH", "/profiles/9007199254740993", { max_sessions: 3 })).status).toBe(404);
  expect((await other.state()).full).toBe(false);
});
