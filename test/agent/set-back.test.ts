/** An agent whose stored state was set back to an older one, while the service is silent. */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { cpSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readStatus } from "../../src/agent/status.ts";
import { readNewest, readState } from "../../src/agent/store.ts";
import type { Account } from "../../src/protocol/host.ts";
import { toldAccount } from "../support/fleet-stub.ts";
import { testSlow } from "../support/thorough.ts";
import { until } from "../support/until.ts";
import { type AgentLab, openAgentLab } from "./lab.ts";

const NAME = "ext_alice";
let lab: AgentLab;
/** Accounts that a comparison would have opened. */
let given: Account[];

beforeEach(async () => {
  lab = await openAgentLab();
  given = [];
  Object.assign(lab.host, {
    reconcile: async (accounts: readonly Account[]) => {
      given.push(...accounts.filter(({ open }) => open));
      return [];
    },
  });
});
afterEach(() => lab.close());

const isOpen = () => lab.host.accounts.get(NAME)?.open;
const snapshot = () => join(lab.directory, "../snapshot");
const confirmed = () => until(() => lab.stub.reports.length > 0 && lab.stub.reports.at(-1)?.cursor === told());
const told = () => readState(lab.directory)?.cursor;

/** Open without end, then copied, then disabled, with the lease that is given. */
async function disabledSince(lease_ms: number | null): Promise<void> {
  lab.stub.tell({ full: true, accounts: [toldAccount()], lease_ms: null });
  lab.start();
  await until(() => isOpen() === true && lab.isOpen());
  await until(() => readState(lab.directory)?.records[0]?.todo.open === false);
  cpSync(lab.directory, snapshot(), { recursive: true });
  lab.stub.tell({ accounts: [toldAccount({ open: false })], lease_ms });
  await until(() => isOpen() === false);
  await confirmed();
  await lab.stop();
  lab.stub.gone = true;
}

async function startSilent(): Promise<void> {
  given = [];
  lab.start();
  await until(() => readStatus(lab.files.directory)?.failure?.includes("502") === true);
  await lab.compared(4);
}

const putBack = (name = "") => {
  rmSync(join(lab.directory, name), { recursive: true });
  cpSync(join(snapshot(), name), join(lab.directory, name), { recursive: true });
};
const boot = () => rmSync(lab.files.directory, { recursive: true });

describe("a state that was put back", () => {
  for (const [what, name] of [
    ["the state alone", "state.json"],
    ["all that the agent keeps", ""],
  ] as const) {
    testSlow(`opens nothing after a boot, lease none or not: ${what}`, async () => {
      await disabledSince(300_000);
      putBack(name);
      boot();
      await startSilent();
      expect([lab.isOpen(), isOpen(), given]).toEqual([false, false, []]);
    });

    testSlow(`opens no account in the same boot, also where there still is no end of the lease: ${what}`, async () => {
      await disabledSince(null);
      putBack(name);
      await startSilent();
      expect([lab.isOpen(), isOpen(), given]).toEqual([true, false, []]);
      expect(lab.log.lines.map(({ message }) => message)).toContainEqual(expect.stringContaining("is older than"));
    });
  }

  testSlow("is believed no more once /run was emptied, and goes on when the service has answered", async () => {
    await disabledSince(300_000);
    putBack("state.json");
    boot();
    await startSilent();
    lab.stub.gone = false;
    lab.stub.tell({ accounts: [toldAccount({ open: false }), toldAccount({ name: "ext_bob", uid: 41_002 })] });
    await until(() => lab.isOpen() && lab.host.accounts.get("ext_bob")?.open === true);
    expect(isOpen()).toBe(false);
    await until(() => given.some(({ name }) => name === "ext_bob"));
    expect(given.map(({ name }) => name)).not.toContain(NAME);
    expect(readState(lab.directory)?.answer).toBe(readNewest(lab.files.directory) ?? -1);
  });

  testSlow("is believed no more for what is done with it: at the next start it opens nothing either", async () => {
    await disabledSince(null);
    const state = JSON.parse(readFileSync(join(snapshot(), "state.json"), "utf8"));
    const [record] = state.records;
    const other = { ...record, name: "ext_bob", uid: 41_002, open: false, todo: { ...record.todo, shut: true } };
    state.records = [{ ...record, made: true, todo: { ...record.todo, open: true } }, other];
    await Bun.write(join(lab.directory, "state.json"), JSON.stringify(state));
    await startSilent();
    await until(() => readState(lab.directory)?.records.find(({ name }) => name === "ext_bob")?.todo.shut === false);
    await lab.stop();
    await startSilent();
    expect([isOpen(), given]).toEqual([false, []]);
  });

  testSlow("takes away all the same what it says is to be taken away", async () => {
    await disabledSince(null);
    const state = JSON.parse(readFileSync(join(snapshot(), "state.json"), "utf8"));
    const [record] = state.records;
    Object.assign(record, { open: false, todo: { ...record.todo, shut: true } });
    await Bun.write(join(lab.directory, "state.json"), JSON.stringify(state));
    Object.assign(lab.host.accounts.get(NAME) ?? {}, { open: true });
    await startSilent();
    expect(isOpen()).toBe(false);
  });
});

test("a state that is the newest is believed after a restart without a boot", async () => {
  lab.host.failing.add("openAccount");
  lab.stub.tell({ full: true, accounts: [toldAccount()] });
  lab.start();
  await until(() => lab.host.calls.includes(`openAccount ${NAME}`));
  await until(() => readState(lab.directory) !== undefined);
  await lab.stop();
  lab.stub.gone = true;
  lab.host.failing.clear();
  lab.host.calls.length = 0;
  await startSilent();
  expect([lab.host.calls, given.map(({ name }) => name)]).toEqual([
    [`openAccount ${NAME}`],
    expect.arrayContaining([NAME]),
  ]);
});
