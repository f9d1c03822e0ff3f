/** A hundred simulated agents that speak the protocol to the application itself. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { fleetSecrets } from "../../../src/domain/wire/fleet-key.ts";
import { checkingKey } from "../../../src/protocol/fleet-signature.ts";
import { grants, hostGroupMembers, hostGroups, hosts } from "../../../src/store/schema-fleet.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { freshKey } from "../../support/keys.ts";
import {
  createSimulatedAgent,
  type SimulatedAgent,
  simulatedKey,
  type WireAnswer,
  type WireRequest,
} from "../../support/simulated-agent.ts";
import { until } from "../../support/until.ts";

const AGENTS = 100;
const FIRST = 1000;

let app: TestApp;
const ending = new AbortController();
const agents: SimulatedAgent[] = [];
const running: Promise<void>[] = [];

beforeAll(async () => {
  app = await createTestApp({ UAM_FLEET_WAIT: "1m" });
  const ids = Array.from({ length: AGENTS }, (_, index) => FIRST + index);
  const enrolledAt = app.clock.now();
  const rows = ids.map((id) => ({ id, name: `host-${id}`, publicKey: simulatedKey(id).publicKey, enrolledAt }));
  await app.db.insert(hosts).values(rows);
  const [group] = await app.db.select().from(hostGroups);
  await app.db.insert(hostGroupMembers).values(ids.map((hostId) => ({ groupId: group?.id ?? 0, hostId })));
  const serviceKey = checkingKey(fleetSecrets(app.services.seal).publicKey);
  for (const host of ids) {
    const { key } = simulatedKey(host);
    agents.push(createSimulatedAgent({ host, key, serviceKey, cursor: "", send, wait: 55, applying: () => 5 }));
  }
});

afterAll(async () => {
  for (const agent of agents) agent.stop();
  ending.abort();
  await Promise.all(running);
  await app.close();
});

describe("revokeKey() with many hosts", () => {
  test("is confirmed by all of them, and none is told of an account that it does not have", async () => {
    const everywhere = await app.user("everywhere");
    const alone = await app.user("alone");
    await app.db.delete(grants).where(eq(grants.userId, alone.id));
    await app.db.insert(grants).values({ userId: alone.id, hostId: FIRST, createdAt: app.clock.now() });
    const key = await everywhere.client.call("POST", "/me/keys", { name: "laptop", public_key: freshKey() });
    // No more at once than are told everything at once.
    for (const some of [agents.slice(0, AGENTS / 2), agents.slice(AGENTS / 2)]) {
      running.push(...some.map((agent) => agent.run()));
      await until(() => some.every(({ accounts }) => accounts.get("ext_everywhere")?.keys.length === 1));
    }

    const answer = await everywhere.client.call("DELETE", `/me/keys/${key.body.data.id}`);

    expect(answer.status).toBe(200);
    expect(answer.body.data.hosts).toMatchObject({ total: AGENTS, confirmed: AGENTS, pending: [] });
    expect(agents.filter(({ accounts }) => accounts.get("ext_everywhere")?.keys.length !== 0)).toEqual([]);
    const told = (name: string) => agents.filter(({ accounts }) => accounts.has(name)).map(({ host }) => host);
    await alone.client.call("POST", "/me/keys", { name: "laptop", public_key: freshKey() });
    await until(() => agents[0]?.accounts.get("ext_alone")?.keys.length === 1);
    expect(told("ext_alone")).toEqual([FIRST]);
    expect(told("ext_everywhere")).toHaveLength(AGENTS);
    expect(
      agents.flatMap(({ counts }) => Object.keys(counts)).filter((name) => /^(?:4(?!01)|5|unsigned)/.test(name)),
    ).toEqual([]);
  });
});

async function send({ method, target, headers, body }: WireRequest): Promise<WireAnswer> {
  const url = `http://127.0.0.1:8080/api/v1${target}`;
  const request = new Request(url, {
    method,
    headers: { ...headers },
    body: method === "GET" ? null : body,
    signal: ending.signal,
  });
  const response = await app.app.fetch(request, "192.0.2.7");
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: new Uint8Array(await response.arrayBuffer()),
  };
}
