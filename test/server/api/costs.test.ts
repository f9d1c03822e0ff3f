/**
 * What a request may cost: of at most 64 KiB, or 512 KiB to the agents' routes, no more than 100 ms of a processor and 20 MiB, from
 * anybody, on every route of the document. The work of argon2 is left out: the hasher of these tests is a weak one.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { createUser } from "../../../src/domain/users/users.ts";
import type { Operation } from "../../../src/server/api/http/openapi.ts";
import { MINUTE } from "../../../src/shared/time/clock.ts";
import { admins } from "../../../src/store/schema-auth.ts";
import type { TestAgent } from "../../support/agent.ts";
import { ADMIN_PASSWORD, type Client, createTestApp, loginUser, type TestApp } from "../../support/app.ts";
import { type Cost, costOf } from "../../support/cost.ts";
import { joinedAgent } from "../../support/fleet.ts";
import { type Hostile, hostileBodies, hostileForms } from "../../support/hostile-bodies.ts";
import { apiDocument } from "../../support/openapi.ts";
import { describeSlow } from "../../support/thorough.ts";

const MOST: Cost = { milliseconds: 100, mebibytes: 20 };
const BODY = 64 * 1024;
const AGENT_BODY = 512 * 1024;
/** What the runtime takes of a request's head. */
const QUERY = 16 * 1024;
/** A cost that is the request's own is there each time; one of the collector or the compiler is not. */
const ATTEMPTS = 6;

let t: TestApp;
let agent: TestAgent;

beforeAll(async () => {
  t = await createTestApp({ UAM_SESSION_TTL: "30d", UAM_FLEET_WAIT: "1s" });
  await t.admin();
  agent = await joinedAgent(t, "costly");
});
afterAll(() => t.close());
setDefaultTimeout(180_000);

interface Route {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

const ROUTES: readonly Route[] = Object.entries(apiDocument.paths).flatMap(([path, operations]) =>
  Object.entries(operations).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    method: method.toUpperCase(),
    path: path.replace(/\{\w+\}/g, "1"),
    operation,
  })),
);

/** A fresh administrator: some routes lock or end the session of who calls them. */
async function freshAdmin(): Promise<Client> {
  const client = t.anonymous();
  const username = `admin-${crypto.randomUUID().slice(0, 8)}`;
  const at = t.clock.now();
  const passwordHash = await t.services.hasher.hash(ADMIN_PASSWORD);
  await t.db
    .insert(admins)
    .values({ username, email: `${username}@example.org`, passwordHash, createdAt: at, updatedAt: at });
  const { status, text } = await client.call("POST", "/auth/admin/login", { username, password: ADMIN_PASSWORD });
  if (status !== 200) throw new Error(text);
  return client;
}

async function freshUser(username: string): Promise<Client> {
  await createUser(t.system, { username, email: `${username}@example.org` });
  return await loginUser(t.system, t.app, username);
}

/** Whoever may call the route, as a function that sends a body or a query there. */
async function callerOf({ method, path, operation }: Route) {
  const needed = operation["x-permission"];
  if (needed === "agent")
    return async (body: string | undefined, query: string) => {
      const { status, error } = await agent.once(method, `${path}${query}`, body);
      agent.counter++;
      if (status >= 400) requireShort(error);
    };
  const name = `u${crypto.randomUUID().slice(0, 8)}`;
  const client = needed === undefined ? t.anonymous() : needed === "user" ? await freshUser(name) : await freshAdmin();
  const type = Object.keys(operation.requestBody?.content ?? {})[0] ?? "application/json";
  return async (body: string | undefined, query: string) => {
    t.clock.advance(2 * MINUTE);
    const headers = { ...(body === undefined ? {} : { "content-type": type }), cookie: client.cookie };
    const init = { method, headers, ...(body === undefined || method === "GET" ? {} : { body }) };
    const response = await t.app.fetch(new Request(`http://127.0.0.1:8080/api/v1${path}${query}`, init), "192.0.2.1");
    const text = await response.text();
    if (response.status >= 400) requireShort(text);
  };
}

/** What is said about a fault does not hold what was sent. */
function requireShort(text: string): void {
  if (text.length > 2000) throw new Error(`A refusal of ${text.length} characters: ${text.slice(0, 200)}`);
}

/** The costs that are too high, each time it was tried, as lines for a person; none, if all is well. */
async function tooCostly(
  route: Route,
  hostile: Iterable<Hostile>,
  where: "body" | "query",
): Promise<readonly string[]> {
  const call = await callerOf(route);
  const found: string[] = [];
  for (const [name, sent] of hostile) {
    let least: Cost | undefined;
    for (let attempt = 0; attempt < ATTEMPTS && (least === undefined || isTooMuch(least)); attempt++) {
      if (attempt > 0) Bun.gc(true);
      const cost = await costOf(() => (where === "body" ? call(sent, "") : call(undefined, sent)));
      least = {
        milliseconds: Math.min(cost.milliseconds, least?.milliseconds ?? cost.milliseconds),
        mebibytes: Math.min(cost.mebibytes, least?.mebibytes ?? cost.mebibytes),
      };
    }
    if (least !== undefined && isTooMuch(least))
      found.push(`${name}: ${least.milliseconds.toFixed()} ms, ${least.mebibytes.toFixed()} MiB`);
  }
  return found;
}

function isTooMuch({ milliseconds, mebibytes }: Cost): boolean {
  return milliseconds > MOST.milliseconds || mebibytes > MOST.mebibytes;
}

describeSlow.each(ROUTES.map((route) => [route.name, route] as const))("%s", (_name, route) => {
  test("takes no body that costs more than it may", async () => {
    const { path, operation } = route;
    const bytes = path.startsWith("/agent/") ? AGENT_BODY : BODY;
    const content = operation.requestBody?.content ?? {};
    const schema = Object.values(content)[0]?.schema ?? {};
    const bodies =
      "application/x-www-form-urlencoded" in content
        ? hostileForms(Object.keys(schema.properties ?? {}), bytes)
        : hostileBodies(schema, apiDocument.components.schemas, bytes);
    expect(await tooCostly(route, bodies, "body")).toEqual([]);
  });

  test("takes no query that costs more than it may", async () => {
    const names = (route.operation.parameters ?? []).flatMap((one) => (one.in === "query" ? [one.name] : []));
    const queries = hostileForms(names, QUERY).map(([name, form]) => [name, `?${form}`] as const);
    expect(await tooCostly(route, queries, "query")).toEqual([]);
  });
});
