/**
 * Agents and services of different versions. What a version 1 agent sends and reads is written out here as it first was, and must go on
 * working: `held` and `applied` came later, and an agent without them is as good as before.
 */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { parseHostState } from "../../../src/protocol/fleet-answers.ts";
import type { TestAgent } from "../../support/agent.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { joinedAgent } from "../../support/fleet.ts";

let t: TestApp;
let agent: TestAgent;
beforeAll(async () => {
  t = await createTestApp();
  await t.admin();
  agent = await joinedAgent(t, "older");
  await t.user("vera");
});
afterAll(() => t.close());

const FIRST_REPORT = {
  ...{ mode: "direct", version: "0.3.0", clock: "2026-11-22T08:00:00.000Z", problems: [], locks: [], holds: [] },
  ssh: { host: "web1.example.org", port: 22, host_keys: [] },
};
const FIRST_STATE = {
  cursor: `7.${"0123456789abcdef".repeat(4)}`,
  ...{ lease_ms: 14_400_000, lease_ends: "logins", status: "active", full: true, cautious: false },
  accounts: [
    {
      ...{ name: "ext_vera", uid: 20_001, expire_at: "2027-02-20T08:00:00.000Z", open: true },
      keys: [{ id: 1, type: "ssh-ed25519", base64: "AAAA", fingerprint: `SHA256:${"a".repeat(43)}` }],
    },
  ],
  ...{ removed: [{ name: "ext_otto", uid: 20_000 }], recorded_locks: [], end_sessions: "key" },
};

describe("an older agent and this service", () => {
  test("the first requests of all are answered as they were", async () => {
    const { status, data } = await agent.ask("GET", "/agent/state?since=&wait=0");
    expect([status, Object.keys(data).sort()]).toEqual([200, Object.keys(FIRST_STATE).sort()]);
    expect(Object.keys(data.accounts[0]).sort()).toEqual(Object.keys(FIRST_STATE.accounts[0] ?? {}).sort());
    expect(await agent.ask("POST", "/agent/report", { ...FIRST_REPORT, cursor: data.cursor })).toMatchObject({
      ...{ status: 200, signed: true },
    });
  });

  test.each([
    ["0", 200],
    ["1", 200],
    ["2", 400],
    ["", 400],
  ])("version %j is answered with %d", async (version, wanted) => {
    const twist = { headers: { "uam-agent-version": version } };
    const { status, headers, signed } = await agent.ask("GET", "/agent/state?since=&wait=0", undefined, twist);
    expect([status, signed]).toEqual([wanted, true]);
    if (wanted === 400) expect(headers.get("uam-error")).toBe("agent.version");
  });
});

describe("a newer agent and this service", () => {
  test("what it says besides is left out, in a query and in a report", async () => {
    const { status, data } = await agent.ask("GET", "/agent/state?since=&wait=0&horizon=12&held=5");
    expect(status).toBe(200);
    const problem = { account: "ext_vera", kind: "refused", text: "no space", severity: 3 };
    const report = { ...FIRST_REPORT, cursor: data.cursor, kernel: "6.1", problems: [problem] };
    expect(await agent.ask("POST", "/agent/report", report)).toMatchObject({ status: 200 });
  });
});

describe("this agent", () => {
  test("takes the first answers of all, and leaves out what it does not know", () => {
    expect(parseHostState(FIRST_STATE)).toEqual(FIRST_STATE as never);
    const [account] = FIRST_STATE.accounts;
    const newer = { ...FIRST_STATE, weather: "fine", accounts: [{ ...account, shell: "/bin/zsh" }] };
    expect(parseHostState(newer)).toEqual(FIRST_STATE as never);
  });

  test("takes nothing that says what it does not know in a place that it does", () => {
    for (const change of [
      { status: "paused" },
      { lease_ends: "never" },
      { end_sessions: "some" },
      { lease_ms: "4h" },
    ]) {
      expect(parseHostState({ ...FIRST_STATE, ...change })).toBeUndefined();
    }
  });
});
