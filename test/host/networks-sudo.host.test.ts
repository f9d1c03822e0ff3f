/** From where keys may be used, by a real sshd and two addresses of this machine's: sudo mode. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { processesOf, readProcesses } from "../../src/host/processes/processes.ts";
import type { Account, HostKey } from "../../src/protocol/host.ts";
import { describeOnHost } from "../support/host-account.ts";
import type { RemoteHost } from "../support/host-client.ts";
import { startSshd, type TestSshd } from "../support/sshd.ts";
import { createSudoLab, NAME, type SudoLab, stored, UID } from "../support/sudo-lab.ts";
import { until } from "../support/until.ts";

// Real commands and logins, on machines that may be busy with other tests.
setDefaultTimeout(180_000);

const INSIDE = "127.0.0.1";
const OUTSIDE = "127.0.0.2";

let lab: SudoLab;
let sshd: TestSshd;
let host: RemoteHost;
let made: { readonly path: string; readonly key: HostKey };

describeOnHost("networks in sudo mode", () => {
  beforeAll(async () => {
    lab = createSudoLab();
    sshd = await startSshd(lab.base);
    made = sshd.makeKey(1);
    host = lab.startHost();
  });
  beforeEach(async () => {
    await host.createAccount(account(undefined));
    await host.writeKeys(account(undefined));
  });
  afterEach(() => lab.cleanUp());
  afterAll(() => {
    host?.stop();
    sshd?.stop();
    lab?.remove();
  });

  const account = (networks: readonly string[] | undefined): Account => stored({ keys: [{ ...made.key, networks }] });
  const logins = () => [INSIDE, OUTSIDE].map((from) => sshd.login(NAME, made.path, from));
  const sleeps = (marker: string): boolean =>
    processesOf(readProcesses(), UID).some(({ pid }) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").replace(/\0/g, " ").trim().endsWith(`sleep ${marker}`);
      } catch {
        return false;
      }
    });
  async function open(marker: string, from: string): Promise<void> {
    sshd.open(NAME, made.path, `sleep ${marker}`, from);
    await until(() => sleeps(marker));
  }

  test("writeKeys() and narrowKeys() let in from inside only, and end the sessions from outside", async () => {
    expect(logins()).toEqual([true, true]);
    await open("711", OUTSIDE);
    await open("712", INSIDE);
    expect(await host.narrowKeys(account(["127.0.0.1/32"]))).toEqual([]);
    expect(logins()).toEqual([true, false]);
    expect([sleeps("711"), sleeps("712")]).toEqual([false, true]);
    await host.writeKeys(account(["127.0.0.0/8"]));
    expect(logins()).toEqual([true, true]);
    const soon = { ...account(["127.0.0.0/8"]), expireAt: new Date(Date.now() + 3_600_000) };
    expect(await host.shortenAccount(soon)).toEqual([]);
    expect(logins()).toEqual([true, true]);
    expect(await host.shortenAccount({ ...soon, expireAt: new Date(Date.now() - 60_000) })).toEqual([]);
    expect([...logins(), sleeps("712")]).toEqual([false, false, true]);
    await host.writeKeys(account(["127.0.0.0/8"]));
    expect(await host.narrowKeys(account([]))).toEqual([]);
    expect(logins()).toEqual([false, false]);
    expect(sleeps("712")).toBe(false);
  });

  test("reconcile() puts networks back, and ends what came in meanwhile", async () => {
    await host.writeKeys(account(["127.0.0.1/32"]));
    const text = readFileSync(lab.keys, "utf8");
    writeFileSync(lab.keys, text.replace(/,from="[^"]*"/, ""));
    await open("721", OUTSIDE);
    const drifts = await host.reconcile([account(["127.0.0.1/32"])], false);
    expect(drifts.map(({ kind, repaired }) => [kind, repaired])).toEqual([["key_file", true]]);
    expect(readFileSync(lab.keys, "utf8")).toBe(text);
    expect(sleeps("721")).toBe(false);
    expect(logins()).toEqual([true, false]);
  });

  test("narrowKeys() ends everything if root's program cannot be asked", async () => {
    await open("731", INSIDE);
    const rules = lab.rules();
    lab.install(
      rules
        .split("\n")
        .filter((line) => !/ host sessions /.test(line))
        .join("\n"),
    );
    expect(await host.narrowKeys(account(["127.0.0.1/32"]))).toEqual([]);
    lab.install(rules);
    expect(sleeps("731")).toBe(false);
    expect(logins()).toEqual([true, false]);
  });
});
