/** What a proxy between an agent and the service can make of what passes it: it can keep things back, and nothing else. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { hosts } from "../../../src/store/schema-fleet.ts";
import type { TestAgent } from "../../support/agent.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { joinedAgent } from "../../support/fleet.ts";

let t: TestApp;
beforeAll(async () => {
  t = await createTestApp();
  await t.admin();
});
afterAll(() => t.close());

const STATE = "/agent/state?since=&wait=0";
const statusOf = async ({ id }: TestAgent) => (await t.db.select().from(hosts).where(eq(hosts.id, id)))[0]?.status;

test("a request that was kept back while a proxy had the agent go on with an older nonce is no copied key", async () => {
  const agent = await joinedAgent(t, "proxied");
  await agent.state();
  const oldest = agent.nonce;
  t.clock.advance(1000);
  await agent.state();
  t.clock.advance(1000);
  // The header with the nonce is not signed: the agent is given one again that it had.
  const newest = agent.nonce;
  const taken = { counter: agent.counter, nonce: oldest };
  const held = { counter: agent.counter + 1, nonce: newest };
  // A refusal that is signed, though the request is not taken: the header with the version is not signed either.
  const refused = await agent.once("GET", STATE, undefined, { ...held, headers: { "uam-agent-version": "99" } });
  expect(refused).toMatchObject({ status: 400, signed: true });
  t.clock.advance(1000);
  const next = await agent.once("GET", STATE, undefined, { ...taken, counter: agent.counter + 2 });
  expect(next.status).toBe(200);
  t.clock.advance(1000);
  const late = await agent.once("GET", STATE, undefined, held);
  expect(late).toMatchObject({ status: 401, signed: true });
  expect(late.headers.get("uam-error")).toBe("agent.stale");
  expect(await statusOf(agent)).toBe("active");
  agent.counter += 2;
  await agent.state();
});

test("requests that come again, late or in another order are taken once, and lock nobody", async () => {
  const agent = await joinedAgent(t, "reordered");
  await agent.state();
  const sent: { counter: number; nonce: string }[] = [];
  for (let round = 0; round < 6; round++) {
    t.clock.advance(700);
    agent.counter += 1;
    sent.push({ counter: agent.counter, nonce: agent.nonce });
    // Each second one is kept back, and the agent goes on.
    if (round % 2 === 0) expect((await agent.once("GET", STATE)).status).toBe(200);
  }
  t.clock.advance(700);
  const orders = [sent, sent.toReversed(), [...sent.slice(3), ...sent.slice(0, 3)]];
  const statuses: number[] = [];
  for (const order of orders)
    for (const twist of order) statuses.push((await agent.once("GET", STATE, undefined, twist)).status);
  // The last one had been kept back, and is the newest: it is taken when it comes, once.
  expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  expect(await statusOf(agent)).toBe("active");
});
