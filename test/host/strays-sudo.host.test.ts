import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, chownSync, copyFileSync, rmSync } from "node:fs";
import { readProcesses } from "../../src/host/processes/processes.ts";
import { describeOnHost } from "../support/host-account.ts";
import type { RemoteHost } from "../support/host-client.ts";
import { startOther } from "../support/start-other.ts";
import { createSudoLab, run, running, type SudoLab, startAs, stored, UID } from "../support/sudo-lab.ts";
import { until } from "../support/until.ts";

// Real commands, on machines that may be busy with other tests.
setDefaultTimeout(180_000);

/** Of the range that the rules allow; never an account's in these tests. */
const GONE = UID + 50;
const left = `/var/tmp/uam-test-left-${GONE}`;
const having = () => readProcesses().filter(({ uids }) => uids.includes(GONE));

let lab: SudoLab;
let host: RemoteHost;

describeOnHost("processes of uids that no account has, in sudo mode", () => {
  beforeAll(async () => {
    lab = createSudoLab();
    host = lab.startHost();
  });
  afterEach(() => {
    for (const { pid } of having()) run("kill", "-KILL", String(pid));
    rmSync(left, { force: true });
    lab.cleanUp();
  });
  afterAll(() => {
    host?.stop();
    lab?.remove();
  });

  test("a set-uid program that a deleted account left is ended once another account starts it", async () => {
    await host.createAccount(stored());
    copyFileSync("/usr/bin/sleep", left);
    chownSync(left, GONE, GONE);
    chmodSync(left, 0o4755);
    startAs(UID, "/usr/bin/sleep", "300");
    startAs(UID, left, "300");
    await until(() => having().length > 0 && running() > 1);
    expect(await host.orphanUids()).toContain(GONE);
    expect(await host.endStrays([GONE], true)).toMatchObject([{ uid: GONE, ended: false }]);
    expect(await host.endStrays([GONE], false)).toMatchObject([{ uid: GONE, ended: true }]);
    expect([having().length, running()]).toEqual([0, 1]);
  });

  test("what has such a uid only as its effective one is ended, too", async () => {
    await host.createAccount(stored());
    await startOther("effective", UID, GONE);
    expect(await host.endStrays([GONE], false)).toMatchObject([{ uid: GONE, ended: true }]);
    expect(having()).toEqual([]);
  });

  test("a thread of such a uid ends with all that its starter runs, since sudo reaches processes by their first thread only", async () => {
    await host.createAccount(stored());
    await startOther("thread", UID, GONE);
    expect(await host.endStrays([GONE], false)).toMatchObject([{ uid: GONE, ended: true }]);
    expect([having().length, running()]).toEqual([0, 0]);
  });

  test("one outside of the rules' range is named, with what does not end", async () => {
    const outside = UID + 100;
    startAs(outside, "/usr/bin/sleep", "300");
    try {
      await until(() => readProcesses().some(({ uids }) => uids.includes(outside)));
      const [stray] = await host.endStrays([outside], false);
      expect(stray).toMatchObject({ uid: outside, ended: false });
      expect(stray?.problem).toMatch(/which no account has.*\. sudo refuses to run/);
    } finally {
      run("pkill", "-KILL", "-U", String(outside));
    }
  });
});
