/** The agents' routes: who may ask, what they are told, and what happens to repetitions, copies and forgeries. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { verify } from "node:crypto";
import { eq } from "drizzle-orm";
import { webOptionsOf } from "../../../src/cli/commands/service/web-options.ts";
import { fleetOf } from "../../../src/domain/wire/fleet.ts";
import { fleetSecrets } from "../../../src/domain/wire/fleet-key.ts";
import { authorize, challengeBytes, checkingKey, keyFingerprint } from "../../../src/protocol/fleet-signature.ts";
import { createApp } from "../../../src/server/api/app.ts";
import { MINUTE } from "../../../src/shared/time/clock.ts";
import { openDatabase } from "../../../src/store/client.ts";
import { hosts, uidCounter } from "../../../src/store/schema-fleet.ts";
import { freshAgentKey, type TestAgent } from "../../support/agent.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { joinedAgent, joinToken, newAgent, reachOf } from "../../support/fleet.ts";
import { HANG } from "../../support/hang.ts";
import { testSlow } from "../../support/thorough.ts";

let t: TestApp;
beforeAll(async () => {
  t = await createTestApp();
  await t.admin();
});
afterAll(() => t.close());

const row = async (agent: TestAgent) => (await t.db.select().from(hosts).where(eq(hosts.id, agent.id)))[0];

describe("GET /agent/key", () => {
  test("proves that the service has the key whose fingerprint is in the line", async () => {
    const { body } = await t.anonymous().call("GET", "/agent/key?challenge=abc.DEF");
    const key = Buffer.from(body.data.public_key, "base64");
    expect(keyFingerprint(key)).toBe(fleetSecrets(t.services.seal).fingerprint);
    const signature = Buffer.from(body.data.signature, "base64");
    expect(verify(null, challengeBytes("abc.DEF"), checkingKey(key), signature)).toBe(true);
    expect((await t.anonymous().call("GET", "/agent/key?challenge=a%0Ab")).status).toBe(400);
    expect((await t.anonymous().call("GET", "/agent/key")).status).toBe(400);
  });
});

describe("POST /agent/enrol", () => {
  test("makes a host, once for each token", async () => {
    const token = await joinToken(t, { group: "default" });
    const agent = newAgent(t, "enrolled1");
    const answer = await agent.enrol(token);
    expect(answer).toMatchObject({ status: 201, signed: true, data: { name: "enrolled1" } });
    expect(await row(agent)).toMatchObject({ kind: "remote", status: "active", mode: "direct" });
    expect(await t.lastAudit("host.enrol")).toMatchObject({
      ...{
        actorType: "token",
        resourceType: "host",
        resourceId: String(agent.id),
        result: "success",
        ip: "192.0.2.77",
      },
      detail: { host: "enrolled1", owner: "operator" },
    });
    const again = await newAgent(t, "enrolled2").enrol(token);
    expect(again).toMatchObject({ status: 401, signed: true });
    expect(await t.lastAudit("host.enrol")).toMatchObject({ result: "failed" });
  });

  test("gives the token to one of two at once", async () => {
    const token = await joinToken(t);
    const answers = await Promise.all(["twin1", "twin2"].map((name) => newAgent(t, name).enrol(token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 401]);
  });

  test("refuses a token that has ended, or that nobody made", async () => {
    const token = await joinToken(t);
    t.clock.advance(31 * MINUTE);
    expect((await newAgent(t, "late").enrol(token)).status).toBe(401);
    expect((await newAgent(t, "guess").enrol("uamj_x")).status).toBe(401);
    expect((await newAgent(t, "empty").enrol("")).status).toBe(401);
  });

  test("keeps the token where the host is refused: name taken, key taken or bad, uids that leave too few", async () => {
    const known = await joinedAgent(t, "known");
    const token = await joinToken(t);
    const agent = newAgent(t, "known");
    expect(await agent.enrol(token)).toMatchObject({ status: 409, error: expect.stringContaining("named known") });
    expect((await agent.enrol(token, { name: "local" })).status).toBe(409);
    expect((await agent.enrol(token, { name: "a b" })).status).toBe(400);
    expect((await agent.enrol(token, { name: "fresh", public_key: "AAAA" })).status).toBe(400);
    const weak = Buffer.concat([Buffer.from([1]), Buffer.alloc(31)]).toString("base64");
    expect((await agent.enrol(token, { name: "fresh", public_key: weak })).status).toBe(400);
    const { last } = t.config.uidRange;
    expect(await agent.enrol(token, { name: "fresh", highest_uid: last })).toMatchObject({ status: 409 });
    agent.key = known.key;
    expect(await agent.enrol(token, { name: "fresh" })).toMatchObject({ status: 409 });
    agent.key = freshAgentKey();
    expect((await agent.enrol(token, { name: "fresh" })).status).toBe(201);
  });

  test("lets a token's name win, and gives no account a uid that the host has", async () => {
    const agent = newAgent(t, "whatever");
    const { first } = t.config.uidRange;
    await agent.enrol(await joinToken(t, { name: "named" }), { highest_uid: first + 500 });
    expect(agent.name).toBe("named");
    const { id } = await t.user("after-uids");
    const state = await t.db.execute(`select uid from accounts where user_id = ${id}`);
    expect(Number(state[0]?.uid)).toBe(first + 501);
    // Outside the range it says nothing.
    await newAgent(t, "other-range").enrol(await joinToken(t), { highest_uid: 4_000_000_000 });
    expect((await t.db.select().from(uidCounter))[0]?.last).toBe(first + 501);
  });
});

describe("the signature", () => {
  let agent: TestAgent;
  let other: TestAgent;
  beforeAll(async () => {
    agent = await joinedAgent(t, "signer");
    other = await joinedAgent(t, "other");
  });

  const REPORT = {
    ...{ cursor: "", mode: "direct", version: "1", ssh: { host: "h", port: 22, host_keys: [] } },
    ...{ clock: "2026-11-20T08:00:00.000Z", problems: [], locks: [], holds: [] },
  };
  const ROUTES: readonly (readonly [string, string, unknown])[] = [
    ["GET", "/agent/state?since=&wait=0", undefined],
    ["POST", "/agent/report", REPORT],
    ["POST", "/agent/rotate", { public_key: "x", signature: "y" }],
  ];

  test.each(ROUTES)("%s %s is for the host that signed it, and for nobody else", async (method, target, body) => {
    const before = await row(agent);
    const reach = reachOf(t.app);
    const init = {
      method,
      headers: { "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    for (const headers of [{}, { authorization: "UAM-Agent host=1" }, { authorization: "Bearer uam_x" }]) {
      const none = await reach(target, { ...init, headers: { ...init.headers, ...headers } as Record<string, string> });
      expect(none.status).toBe(401);
      expect(none.headers.get("uam-fleet-signature")).toBeNull();
    }
    for (const twist of [
      { key: freshAgentKey() },
      { key: other.key },
      { host: 1 },
      { host: 999_999 },
      { host: other.id },
    ]) {
      expect(await agent.once(method, target, body, { nonce: "", ...twist })).toMatchObject({
        status: 401,
        signed: false,
      });
    }
    expect(await row(agent)).toEqual(before as never);
  });

  test.each(ROUTES)("%s %s takes a request once, and none with an old nonce", async (method, target, body) => {
    expect(await agent.once(method, target, body, { nonce: "" })).toMatchObject({ status: 401, signed: true });
    const old = agent.nonce;
    agent.counter++;
    const first = await agent.once(method, target, body);
    expect(first.signed).toBe(true);
    expect([200, 400]).toContain(first.status);
    const next = agent.nonce;
    // The very same request, as a proxy would repeat it.
    expect(await agent.once(method, target, body, { nonce: old })).toMatchObject({ status: 409, signed: true });
    agent.nonce = next;
    agent.counter++;
    expect((await agent.once(method, target, body)).status).toBe(first.status);
    const later = agent.nonce;
    agent.counter++;
    expect(await agent.once(method, target, body, { nonce: old })).toMatchObject({ status: 401, signed: true });
    agent.nonce = later;
    // A counter that is not higher, without having been answered stale, is still no copy on the same nonce.
    expect((await row(agent))?.status).toBe("active");
  });

  test("a changed method, path, query or body is nobody's", async () => {
    const reach = reachOf(t.app);
    let sent: RequestInit = {};
    const signed = {
      method: "GET",
      target: "/agent/state?wait=0",
      body: new Uint8Array(),
      host: agent.id,
      counter: ++agent.counter,
      nonce: agent.nonce,
    };
    sent = { method: "GET", headers: { authorization: authorize(signed, agent.key).header } };
    expect((await reach("/agent/state?wait=1", sent)).status).toBe(401);
    expect((await reach("/agent/state", sent)).status).toBe(401);
    const posted = {
      ...sent,
      method: "POST",
      body: "{}",
      headers: { ...sent.headers, "content-type": "application/json" },
    };
    expect((await reach("/agent/report", posted)).status).toBe(401);
    // What a proxy puts before the root is not signed.
    const prefixed = await t.app.fetch(new Request("http://127.0.0.1:8080/api/v1/agent/state?wait=0", sent), undefined);
    expect(prefixed.status).toBe(200);
  });

  test("a version that is not spoken is refused, signed", async () => {
    const answer = await agent.ask("GET", "/agent/state", undefined, { headers: { "uam-agent-version": "7" } });
    expect(answer).toMatchObject({ status: 400, signed: true });
  });

  test("requests of one host at the same time are taken in some order, and none twice", async () => {
    const racer = await joinedAgent(t, "racer");
    await racer.state();
    const nonce = racer.nonce;
    const counter = racer.counter;
    const answers = await Promise.all(
      [1, 2, 3, 3].map((n) => racer.once("POST", "/agent/report", REPORT, { nonce, counter: counter + n })),
    );
    expect(answers.every(({ signed }) => signed)).toBe(true);
    const [first, second, ...highest] = answers.map(({ status }) => status);
    expect(highest.sort()).toEqual([200, 409]);
    // Signatures are checked on several threads: one that comes after a higher counter counts as a repetition.
    for (const status of [first, second]) expect([200, 409]).toContain(status as number);
    expect((await row(racer))?.status).toBe("active");
  });
});

describe("a copied key", () => {
  test("locks the host at the second owner's first request, mails, and closes all there", async () => {
    await t.user("locked-in");
    const agent = await joinedAgent(t, "copied");
    expect((await agent.state()).accounts.some(({ open }) => open)).toBe(true);
    const thief = newAgent(t, "copied");
    Object.assign(thief, { id: agent.id, key: agent.key, counter: agent.counter + 2 ** 32 });
    t.clock.advance(1000);
    expect((await thief.state()).status).toBe("active");
    t.clock.advance(1000);
    // The owner goes on where they were.
    const state = await agent.state();
    expect(state).toMatchObject({ status: "locked" });
    expect(state.accounts.every(({ open, keys }) => !open && keys.length === 0)).toBe(true);
    expect(await t.lastAudit("host.lock")).toMatchObject({ resourceId: String(agent.id), detail: { host: "copied" } });
    const mails = await t.mails("admin@example.org");
    expect(mails.filter(({ subject }) => subject.includes("copied"))).toHaveLength(1);
    // Neither of them unlocks it, and it is not recorded again.
    for (const one of [thief, agent, thief]) {
      t.clock.advance(1000);
      expect((await one.state()).status).toBe("locked");
    }
    expect((await agent.rotate()).status).toBe(409);
    expect((await t.auditRows("host.lock")).filter(({ resourceId }) => resourceId === String(agent.id))).toHaveLength(
      1,
    );
  });
});

describe("POST /agent/rotate", () => {
  test("binds a new key that its owner proves to have, and the old one is void", async () => {
    const agent = await joinedAgent(t, "rotator");
    await agent.state();
    const old = agent.key;
    expect(await agent.rotate()).toMatchObject({ status: 200, signed: true });
    expect((await agent.state()).status).toBe("active");
    agent.counter++;
    expect(await agent.once("GET", "/agent/state", undefined, { key: old })).toMatchObject({
      status: 401,
      signed: false,
    });
    const other = await joinedAgent(t, "rotator2");
    const body = { public_key: Buffer.from("x".repeat(32)).toString("base64"), signature: "AAAA" };
    expect((await other.ask("POST", "/agent/rotate", body)).status).toBe(400);
    expect(await t.lastAudit("host.rotate")).toMatchObject({ result: "failed" });
  });
});

describe("a host that changes its key again and again", () => {
  testSlow("does so 60 times an hour, and is then answered 429 without a record; others go on", async () => {
    const [agent, other] = [await joinedAgent(t, "restless"), await joinedAgent(t, "restful")];
    await Promise.all([agent.state(), other.state()]);
    const records = async () => (await t.auditRows("host.rotate")).length;
    const before = await records();
    const nonsense = { public_key: Buffer.from("x".repeat(32)).toString("base64"), signature: "AAAA" };
    for (let n = 0; n < 60; n++) {
      t.clock.advance(1000);
      const isRight = n % 2 === 0;
      const { status } = isRight ? await agent.rotate() : await agent.ask("POST", "/agent/rotate", nonsense);
      expect(status).toBe(isRight ? 200 : 400);
    }
    for (let n = 0; n < 10; n++) {
      const { status, headers, signed } = await agent.ask("POST", "/agent/rotate", nonsense);
      expect([status, headers.get("retry-after"), signed]).toEqual([429, "3541", true]);
    }
    expect(await records()).toBe(before + 60);
    expect((await agent.state()).status).toBe("active");
    expect((await other.rotate()).status).toBe(200);
    t.clock.advance(3_541_000);
    expect((await agent.rotate()).status).toBe(200);
  });
});

describe("much at once", () => {
  testSlow("of one request that two replicas get at the same instant, one takes it", async () => {
    const database = openDatabase(t.connection, 4);
    const autocommit = openDatabase(t.connection, 2);
    const services = { ...t.services, db: database.db, autocommit: autocommit.db };
    const about = { version: "0", runtime: "test", pages: undefined, setupCommand: undefined };
    const other = createApp(services, webOptionsOf(t.config, about));
    const agent = await joinedAgent(t, "two-replicas");
    await agent.state();
    const report = {
      ...{ cursor: agent.cursor, mode: "direct", version: "1", ssh: { host: "h", port: 22, host_keys: [] } },
      ...{ clock: "2026-11-20T08:00:00.000Z", problems: [], locks: [], holds: [] },
    };
    const body = JSON.stringify(report);
    for (let round = 0; round < 25; round++) {
      agent.counter++;
      const { id: host, counter, nonce } = agent;
      const asked = { method: "POST", target: "/agent/report", body: Buffer.from(body), host, counter, nonce };
      const headers = { authorization: authorize(asked, agent.key).header, "content-type": "application/json" };
      const init = { method: "POST", headers, body };
      const answers = await Promise.all([t.app, other, t.app].map((app) => reachOf(app)("/agent/report", init)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    }
    expect((await row(agent))?.status).toBe("active");
    await fleetOf(services).stop();
    await Promise.all([database.close(), autocommit.close()]);
  });

  test("a host that floods is refused, and the others are answered", async () => {
    const flooder = await joinedAgent(t, "flooder");
    const other = await joinedAgent(t, "neighbour");
    await flooder.state();
    await other.state();
    const { counter, nonce } = flooder;
    const flood = Array.from({ length: 300 }, (_, index) =>
      flooder.once("GET", "/agent/state", undefined, { nonce, counter: counter + 1 + index }),
    );
    const began = performance.now();
    expect((await other.state()).status).toBe("active");
    expect(performance.now() - began).toBeLessThan(HANG);
    const statuses = (await Promise.all(flood)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(250);
    expect((await row(flooder))?.status).toBe("active");
  });

  testSlow("wrong signatures are limited for each address, and rightly signed ones are not", async () => {
    const limited = await createTestApp({ UAM_RATE_LIMIT: "on" });
    try {
      const agent = await joinedAgent(limited, "limited");
      for (let index = 0; index < 600; index++) {
        const wrong = await agent.once("GET", "/agent/state", undefined, {
          key: index % 2 === 0 ? OTHER : agent.key,
          host: 999,
        });
        expect(wrong.status).toBe(401);
      }
      expect((await agent.once("GET", "/agent/state", undefined, { key: OTHER })).status).toBe(429);
      agent.nonce = "";
      expect((await agent.state()).status).toBe("active");
    } finally {
      await limited.close();
    }
  });
});

const OTHER = freshAgentKey();
