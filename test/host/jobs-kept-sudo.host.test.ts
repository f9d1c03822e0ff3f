/** Root's copies of jobs in sudo mode: made by the program as root, which tells the service nothing of them. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, symlinkSync, writeFileSync } from "node:fs";
import { JOBS_KEPT } from "../../src/host/jobs/kept-jobs.ts";
import { KEPT_JOBS_DIRECTORY } from "../../src/host/settings.ts";
import { bunRuntime } from "../../src/runtime/bun.ts";
import { describeOnHost } from "../support/host-account.ts";
import type { RemoteHost } from "../support/host-client.ts";
import { forgetJobsOf, jobPaths, plantJob, shownJobs } from "../support/kept-jobs.ts";
import { CLOSED, createSudoLab, NAME, OTHER, type SudoLab, stored, UID } from "../support/sudo-lab.ts";

// Real commands, on machines that may be busy with other tests.
setDefaultTimeout(180_000);

const { crontab, at } = jobPaths(NAME);

describeOnHost("root's copies of jobs in sudo mode", () => {
  let lab: SudoLab;
  let host: RemoteHost;
  beforeAll(() => {
    lab = createSudoLab();
    host = lab.startHost();
  });
  beforeEach(() => host.createAccount(stored()));
  afterEach(() => {
    lab.cleanUp();
    forgetJobsOf(NAME, OTHER);
  });
  afterAll(() => {
    host?.stop();
    lab?.remove();
  });

  const ask = (...argv: readonly string[]) =>
    lab.asService(["sudo", "-n", "--", ...bunRuntime.program, "host", ...argv]);

  test("what goes with a revocation, with shutting and with deleting is kept", async () => {
    plantJob(crontab, UID, "revoked\n");
    expect(await host.takeKey(stored(), "SHA256:none")).toEqual({ rewritten: true, owed: [], jobs: "kept" });
    plantJob(at, UID, "shut\n");
    expect(await host.shutAccount(stored())).toEqual(CLOSED);
    plantJob(at, UID, "removed\n");
    expect(await host.removeAccount(stored())).toEqual(CLOSED);
    expect([existsSync(crontab), existsSync(at)]).toEqual([false, false]);
    const contents = shownJobs("user", NAME).flatMap(({ files }) => files.map(({ content }) => content));
    expect(contents).toEqual(["revoked\n", "shut\n", "removed\n"]);
  });

  test("a service that was taken over has nothing copied but jobs of accounts that are ours, and reads none", async () => {
    for (const argv of [
      ["keep-jobs", "root", "0"],
      ["keep-jobs", NAME, "0"],
      ["keep-jobs", NAME],
      ["keep-jobs", NAME, String(UID), "--help"],
      ["keep-jobs", "--help"],
      ["forget-jobs", NAME],
      ["forget-jobs", "--help"],
      ["jobs", NAME],
    ]) {
      const refused = ask(...argv);
      expect([argv, refused.status, refused.stdout]).toEqual([argv, 1, ""]);
      expect(refused.stderr).toMatch(/a password is required|not allowed/);
    }
    plantJob(crontab, UID, "x\n");
    plantJob(at, UID + 1, "another's\n");
    for (const [argv, printed] of [
      [["keep-jobs", OTHER, String(UID)], "none"],
      [["keep-jobs", NAME, String(UID + 1)], "none"],
      [["keep-jobs", NAME, String(UID)], "kept"],
      [["forget-jobs"], "done"],
    ] as const) {
      const ran = ask(...argv);
      expect([argv, ran.status, JSON.parse(ran.stdout)]).toEqual([argv, 0, printed]);
    }
    expect(shownJobs("user", NAME).flatMap(({ files }) => files.map(({ path }) => path))).toEqual([crontab]);
    expect(shownJobs("user", OTHER)).toEqual([]);
    const read = lab.asService([...bunRuntime.program, "user", "jobs", NAME]);
    expect([read.status, read.stdout]).toEqual([1, ""]);
    expect(read.stderr).toContain("This needs root");
    expect(lab.asService(["ls", KEPT_JOBS_DIRECTORY]).status).not.toBe(0);
  });

  test("root removes copies that are older than 30 days, and follows no link", async () => {
    plantJob(crontab, UID, "x\n");
    expect(JSON.parse(ask("keep-jobs", NAME, String(UID)).stdout)).toBe("kept");
    const old = `${KEPT_JOBS_DIRECTORY}/${NAME}~${Date.now() - JOBS_KEPT - 1000}.json`;
    writeFileSync(old, "{}");
    const link = `${KEPT_JOBS_DIRECTORY}/${NAME}~1.json`;
    const target = `${lab.base}/target`;
    writeFileSync(target, "");
    symlinkSync(target, link);
    expect(ask("forget-jobs").status).toBe(0);
    expect([existsSync(old), existsSync(link), existsSync(target)]).toEqual([false, false, true]);
    expect(shownJobs("user", NAME).length).toBe(1);
  });
});
