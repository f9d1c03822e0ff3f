import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLeaseKeeper } from "../../src/agent/lease-keeper.ts";
import type { AgentState } from "../../src/agent/records.ts";
import { createFakeHost, type FakeHost } from "../support/fake-host.ts";
import { toldAccount } from "../support/fleet-stub.ts";
import { recordingLog } from "../support/host-account.ts";

let directory: string;
let host: FakeHost;
const names = ["ext_mallory", "ext_alice", "ext_trudy", "ext_bob"];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "uam-lease-"));
  host = createFakeHost(0);
  for (const [index, account] of names.entries()) {
    for (const id of [1, 2]) {
      const since = new Date(0);
      host.sessionsOpen.push({ account, id: `${index}000000${id}`, since, from: "192.0.2.1", fingerprint: undefined });
    }
  }
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test("tick() ends the sessions of every account, though one has what does not end and another cannot be looked at", async () => {
  const { endSession, sessions } = host;
  Object.assign(host, {
    endSession: async (...asked: Parameters<typeof endSession>) => {
      if (asked[0].name === "ext_mallory" && asked[1].endsWith("1")) throw new Error("Processes did not end");
      return await endSession(...asked);
    },
    sessions: async (...asked: Parameters<typeof sessions>) => {
      if (asked[0].name === "ext_trudy") throw new Error("The journal does not answer");
      return await sessions(...asked);
    },
  });
  const { log, lines } = recordingLog();
  const files = { directory, target: join(directory, "revoked") };
  const keeper = createLeaseKeeper({
    ...{ files, early: 0, log, openHost: async () => host },
    now: () => ({ boot: 1, wall: 1 }),
  });
  const records = names.map((name, index) => toldAccount({ name, uid: 41_000 + index }));
  await keeper.tick({
    lease_ends: "sessions",
    end_sessions: "key",
    status: "active",
    records,
  } as unknown as AgentState);
  expect(host.sessionsOpen.map(({ account, id }) => [account, id.slice(-1)])).toEqual([
    ["ext_mallory", "1"],
    ["ext_trudy", "1"],
    ["ext_trudy", "2"],
  ]);
  const failed = lines.filter(({ level }) => level === "error").map(({ fields }) => fields.account);
  expect(failed.sort()).toEqual(["ext_mallory", "ext_trudy"]);
});
