/** Root's copies of the jobs that go with a revocation, in direct mode: real accounts, sessions and spools. */

import { afterEach, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, truncateSync } from "node:fs";
import { connectionsOf, processesOf, readProcesses } from "../../src/host/processes/processes.ts";
import { KEPT_JOBS_DIRECTORY } from "../../src/host/settings.ts";
import { CLOSED, directHost, NAME, prepareHost, recorded, run, sshd, stored, UID } from "../support/direct-host.ts";
import { microsecondsSinceBoot, startFakeJournal } from "../support/fake-journal.ts";
import { describeOnHost } from "../support/host-account.ts";
import { forgetJobsOf, jobPaths, plantJob, shownJobs } from "../support/kept-jobs.ts";
import { until } from "../support/until.ts";

const { crontab, at } = jobPaths(NAME);
const LINE = "* * * * *\t/bin/true # planted by the first key\n";

describeOnHost("root's copies of jobs", () => {
  prepareHost();
  afterEach(() => forgetJobsOf(NAME));

  test("a key is revoked while another key's session goes on: the jobs are gone, and the command shows them", async () => {
    const [first, second] = [sshd.makeKey(11), sshd.makeKey(12)];
    const fake = startFakeJournal("/run");
    try {
      const host = await directHost({ tools: { sshdConfig: sshd.config, ...fake.tools } });
      const account = stored({ keys: [first.key, second.key] });
      await host.createAccount(account);
      await host.writeKeys(account);
      sshd.open(NAME, second.path, "sleep 311");
      const sleeps = () =>
        processesOf(readProcesses(), UID).some(({ pid }) => readCommand(pid).endsWith("sleep\u0000311\u0000"));
      await until(sleeps);
      const [connection] = connectionsOf(readProcesses(), NAME);
      fake.add({
        _PID: String(connection?.pid),
        _UID: "0",
        __MONOTONIC_TIMESTAMP: microsecondsSinceBoot(),
        MESSAGE: `Accepted publickey for ${NAME} from 127.0.0.1 port 40000 ssh2: ED25519 ${second.key.fingerprint}`,
      });
      plantJob(crontab, UID, LINE);
      plantJob(at, UID, "#!/bin/sh\n");
      const taken = await host.takeKey({ ...account, keys: [second.key] }, first.key.fingerprint);
      expect(taken).toEqual({ rewritten: true, owed: [], jobs: "kept" });
      expect([sleeps(), existsSync(crontab), existsSync(at)]).toEqual([true, false, false]);
      for (const command of ["user", "agent"] as const) {
        expect(shownJobs(command, NAME)).toMatchObject([
          {
            ...{ account: NAME, uid: UID, lingering: false, more: 0 },
            files: [
              { path: crontab, content: LINE, encoding: "utf-8", cut: false },
              { path: at, content: "#!/bin/sh\n" },
            ],
          },
        ]);
      }
      expect(statSync(KEPT_JOBS_DIRECTORY)).toMatchObject({ uid: 0, mode: 0o40700 });
      // Nothing is scheduled any more, so nothing is copied.
      expect(await host.takeKey({ ...account, keys: [second.key] }, first.key.fingerprint)).toEqual({
        ...{ rewritten: true, owed: [] },
      });
      expect(shownJobs("user", NAME).length).toBe(1);
    } finally {
      fake.close();
    }
  });

  test("what is removed with shutting and deleting is kept, too, and shown once the account is gone", async () => {
    const host = await directHost();
    await host.createAccount(stored());
    plantJob(crontab, UID, LINE);
    expect(await host.shutAccount(stored())).toEqual(CLOSED);
    plantJob(at, UID, "#!/bin/sh\n");
    expect(await host.removeAccount(stored())).toEqual(CLOSED);
    plantJob(at, UID, "#!/bin/false\n");
    expect(await host.removeAccount(stored())).toEqual(CLOSED);
    const contents = shownJobs("user", NAME).flatMap(({ files }) => files.map(({ content }) => content));
    expect(contents).toEqual([LINE, "#!/bin/sh\n", "#!/bin/false\n"]);
  });

  describe("what its owner may have put in the spool's place", () => {
    test("a link is not followed and a FIFO not waited for; of a crontab of 64 MB the beginning is kept", async () => {
      const host = await directHost();
      await host.createAccount(stored());
      mkdirSync("/var/spool/cron/crontabs", { recursive: true });
      symlinkSync("/etc/shadow", crontab);
      plantJob(at, UID, "");
      rmSync(at);
      spawnSync("mkfifo", [at]);
      expect(await host.takeKey(stored(), "SHA256:none")).toEqual({ rewritten: true, owed: [] });
      expect(shownJobs("user", NAME)).toEqual([]);
      rmSync(at);
      plantJob(crontab, UID, LINE);
      truncateSync(crontab, 64_000_000);
      expect(await host.takeKey(stored(), "SHA256:none")).toMatchObject({ jobs: "kept" });
      const [copy] = shownJobs("user", NAME);
      expect(copy?.files).toMatchObject([{ path: crontab, bytes: 64_000_000, cut: true }]);
      expect(existsSync(crontab)).toBe(false);
    });
  });

  test("where root cannot keep a copy, the jobs go all the same, and the log says so", async () => {
    const host = await directHost();
    await host.createAccount(stored());
    plantJob(crontab, UID, LINE);
    const aside = `${KEPT_JOBS_DIRECTORY}-test`;
    if (existsSync(KEPT_JOBS_DIRECTORY)) renameSync(KEPT_JOBS_DIRECTORY, aside);
    try {
      symlinkSync("/nonexistent", KEPT_JOBS_DIRECTORY);
      expect(await host.takeKey(stored(), "SHA256:none")).toEqual({ rewritten: true, owed: [], jobs: "lost" });
      plantJob(crontab, UID, LINE);
      expect(await host.shutAccount(stored())).toEqual(CLOSED);
    } finally {
      rmSync(KEPT_JOBS_DIRECTORY);
      if (existsSync(aside)) renameSync(aside, KEPT_JOBS_DIRECTORY);
    }
    expect(existsSync(crontab)).toBe(false);
    const warned = recorded.lines.filter(({ message }) => message.startsWith("Jobs are removed without a copy"));
    expect(warned.map(({ fields }) => fields)).toEqual([{ account: NAME }, { account: NAME }]);
  });

  test("nobody but root is shown a copy", () => {
    const asked = run("setpriv", "--reuid", "nobody", "--clear-groups", "--", "ls", KEPT_JOBS_DIRECTORY);
    expect([asked.status === 0, asked.stderr.includes("denied") || asked.stderr.includes("No such")]).toEqual([
      false,
      true,
    ]);
  });
});

function readCommand(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
