/** The note that hosts know another history. What follows from it is tested beside what agents are told, in test/domain/wire/state.test.ts. */

import { afterAll, expect, test } from "bun:test";
import { createTestApp } from "../../support/app.ts";
import { acceptHistory, joinedAgent } from "../../support/fleet.ts";

const t = await createTestApp();
afterAll(() => t.close());

test("hosts that say so at the same instant are recorded once, and each has reported once it did", async () => {
  await t.admin();
  const agents = await Promise.all(["h1", "h2", "h3", "h4"].map((name) => joinedAgent(t, name)));
  for (const agent of agents) await agent.state();
  for (const agent of agents) agent.cursor = `${Number(agent.cursor.split(".")[0]) + 1000}.${"0".repeat(64)}`;
  const told = await Promise.all(agents.map((agent) => agent.state()));
  expect(told.map(({ full, cautious }) => [full, cautious])).toEqual(told.map(() => [true, true]));
  expect(await t.auditRows("fleet.diverged")).toHaveLength(1);
  for (const agent of agents) await agent.report();
  expect(await acceptHistory(t.system)).toEqual({ hosts: 4, removed: [], unheard: [] });
});
