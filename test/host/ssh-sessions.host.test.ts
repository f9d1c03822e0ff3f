/** Real SSH sessions in direct mode: who is logged in, and ending one of them and nothing else, whatever its owner does. */

import { beforeEach, describe, expect, test } from "bun:test";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectionsOf, processesOf, readProcess, readProcesses } from "../../src/host/processes/processes.ts";
import { endSession } from "../../src/host/processes/session-end.ts";
import type { Host, HostKey } from "../../src/protocol/host.ts";
import { bunRuntime } from "../../src/runtime/bun.ts";
import {
  base,
  directHost,
  GROUP,
  NAME,
  prepareHost,
  run,
  running,
  sshd,
  startAs,
  stored,
  UID,
} from "../support/direct-host.ts";
import { type FakeJournal, microsecondsSinceBoot, startFakeJournal } from "../support/fake-journal.ts";
import { describeOnHost } from "../support/host-account.ts";
import { startSshd } from "../support/sshd.ts";
import { until } from "../support/until.ts";

/** Where control groups of version 2 are, if groups can be made there. */
const HIERARCHY = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].find((path) => existsSync(`${path}/cgroup.controllers`));

describeOnHost("SSH sessions in direct mode", () => {
  prepareHost();

  let host: Host;
  let keys: readonly { readonly path: string; readonly key: HostKey }[] | undefined;
  let clients: ChildProcess[];

  beforeEach(async () => {
    keys ??= [sshd.makeKey(31), sshd.makeKey(32)];
    clients = [];
    host = await directHost();
    const open = stored({ keys: keys.map(({ key }) => key) });
    await host.createAccount(open);
    await host.writeKeys(open);
  });

  /** Logs in and runs the command; resolves when the session is there. */
  async function login(index: number, command: string): Promise<string> {
    const before = new Set((await host.sessions(stored())).map(({ id }) => id));
    clients.push(sshd.open(NAME, keys?.[index]?.path ?? "", command));
    for (let attempt = 0; attempt < 1200; attempt++) {
      const added = (await host.sessions(stored())).find(({ id }) => !before.has(id));
      if (added !== undefined) return added.id;
      await Bun.sleep(50);
    }
    throw new Error("the session did not open");
  }
  const commandOf = (pid: number): string => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").replace(/\0/g, " ").trim();
    } catch {
      return "";
    }
  };
  const sleeps = (marker: string): boolean =>
    processesOf(readProcesses(), UID).some(({ pid }) => commandOf(pid).endsWith(`sleep ${marker}`));
  const ids = async () => (await host.sessions(stored())).map(({ id }) => id);

  describe("sessions", () => {
    test("sessions() lists logins, oldest first, with since and from as the kernel has them, and no key without proof", async () => {
      const first = await login(0, "sleep 311");
      await Bun.sleep(30);
      const second = await login(1, "sleep 312");
      const listed = await host.sessions(stored());
      expect(listed.map(({ id }) => id)).toEqual([first, second]);
      const nobody = { name: `${NAME}x`, uid: UID };
      expect(await host.countSessions([stored(), nobody])).toEqual(new Map([[NAME, 2]]));
      for (const session of listed) {
        expect(session).toEqual({
          id: expect.stringMatching(/^\d{8,22}$/),
          since: expect.any(Date),
          from: "127.0.0.1",
          fingerprint: undefined,
        });
        expect(Math.abs(Date.now() - session.since.getTime())).toBeLessThan(60_000);
      }
      for (const client of clients) client.kill();
      await until(() => connectionsOf(readProcesses(), NAME).length === 0);
      expect(await host.sessions(stored())).toEqual([]);
      expect(await host.countSessions([stored()])).toEqual(new Map([[NAME, 0]]));
    });

    test("sessions() names the key that sshd's own log proves, and believes no line of the owner's", async () => {
      const fake: FakeJournal = startFakeJournal(base);
      host = await directHost({ tools: { sshdConfig: sshd.config, ...fake.tools } });
      const [first = "", second = ""] = [await login(0, "sleep 313"), await login(1, "sleep 314")];
      const line = (id: string, key: HostKey | undefined, uid: string) => ({
        _PID: String(Number(id.slice(-7))),
        _UID: uid,
        __MONOTONIC_TIMESTAMP: microsecondsSinceBoot(),
        MESSAGE: `Accepted publickey for ${NAME} from 127.0.0.1 port 40000 ssh2: ED25519 ${key?.fingerprint}`,
      });
      fake.add(line(first, keys?.[0]?.key, "0"));
      fake.add(line(first, keys?.[1]?.key, String(UID)));
      fake.add(line(second, keys?.[0]?.key, String(UID)));
      fake.add({
        ...line(second, keys?.[0]?.key, "0"),
        MESSAGE: `Accepted publickey for root from 127.0.0.1 port 1 ssh2`,
      });
      expect((await host.sessions(stored())).map(({ fingerprint }) => fingerprint)).toEqual([
        keys?.[0]?.key.fingerprint,
        undefined,
      ]);
      fake.close();
    });

    test("sessions() shows neither a connection that has not logged in, nor a process that calls itself sshd", async () => {
      // sshd has accepted the key and waits for the signature, for which the client waits for a passphrase.
      const { path } = sshd.makeKey(33 + Math.floor(performance.now()));
      run("cp", keys?.[0]?.path ?? "", `${path}.copy`);
      expect(run("ssh-keygen", "-q", "-p", "-P", "", "-N", "passphrase", "-f", `${path}.copy`).status).toBe(0);
      run("cp", `${keys?.[0]?.path}.pub`, `${path}.copy.pub`);
      const askpass = join(base, "askpass");
      writeFileSync(askpass, "#!/bin/sh\nexec sleep 100\n", { mode: 0o755 });
      const port = /^Port (\d+)$/m.exec(readFileSync(sshd.config, "utf8"))?.[1] ?? "";
      const options = ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "IdentitiesOnly=yes"];
      const args = ["-F", "none", ...options.flatMap((option) => ["-o", option]), "-i", `${path}.copy`, "-p", port];
      const env = { PATH: "/usr/bin:/bin", SSH_ASKPASS: askpass, SSH_ASKPASS_REQUIRE: "force" };
      const client = spawn("/usr/bin/ssh", [...args, `${NAME}@127.0.0.1`, "true"], { stdio: "ignore", env });
      await until(() => connectionsOf(readProcesses(), NAME).length === 1);
      startAs(UID, "/bin/bash", "-c", `exec -a "sshd: ${NAME} [priv]" /bin/sh -c 'sleep 320 & wait'`);
      await until(() => sleeps("320"));
      const [connection] = connectionsOf(readProcesses(), NAME);
      expect(await host.sessions(stored())).toEqual([]);
      const sham = processesOf(readProcesses(), UID).find(({ pid }) => commandOf(pid).startsWith("sshd:"));
      expect(sham).toBeDefined();
      expect(await host.endSession(stored(), `${sham?.started}${String(sham?.pid).padStart(7, "0")}`)).toBe("gone");
      expect(sleeps("320")).toBe(true);
      expect(connection).toBeDefined();
      client.kill();
    });

    test("sessions() of an account that is missing or not ours are none, and none is ended", async () => {
      const id = await login(0, "sleep 321");
      for (const other of [stored({ uid: UID + 1 }), stored({ name: `${NAME}-x`, uid: UID + 2 })]) {
        expect(await host.sessions(other)).toEqual([]);
        expect(await host.endSession(other, id)).toBe("gone");
      }
      await until(() => sleeps("321"));
    });

    test("sessions() of an account that somebody took out of our group are listed and ended as any other's", async () => {
      const id = await login(0, "sleep 322");
      await until(() => sleeps("322"));
      run("gpasswd", "-d", NAME, GROUP);
      try {
        expect(await host.sessions(stored())).toMatchObject([{ id }]);
        expect(await host.endSession(stored(), id)).toBe("ended");
        await until(() => !sleeps("322"));
      } finally {
        run("gpasswd", "-a", NAME, GROUP);
      }
    });
  });

  describe("endSession", () => {
    test("endSession() ends the session with all below it, and leaves the other one alone", async () => {
      const first = await login(0, "(setsid sleep 331 & trap '' HUP TERM; sleep 332 & sleep 333 & wait)");
      const second = await login(1, "sleep 334");
      await until(() => ["331", "332", "333", "334"].every(sleeps));
      expect(await host.endSession(stored(), first)).toBe("ended");
      expect(["331", "332", "333", "334"].map(sleeps)).toEqual([false, false, false, true]);
      expect(await ids()).toEqual([second]);
      expect(await host.endSession(stored(), first)).toBe("gone");
      await until(() => clients[0]?.exitCode !== null);
      expect(clients[1]?.exitCode).toBeNull();
      // Nothing about the account changed.
      expect(sshd.login(NAME, keys?.[0]?.path ?? "")).toBe(true);
    });

    test("endSession() ends what the session's owner detached from it, where the kernel ties it to the login", async () => {
      // pam_loginuid(8) marks each login; what a process starts keeps the mark, whoever its parent is.
      const directory = join(base, "with-pam");
      mkdirSync(directory);
      const audited = await startSshd(directory, ["UsePAM yes"]);
      const detach = (marker: string) =>
        `(setsid sleep ${marker} < /dev/null > /dev/null 2>&1 &); sleep 1; exec sleep 300`;
      try {
        const sessions: string[] = [];
        for (const [index, marker] of ["381", "382"].entries()) {
          clients.push(audited.open(NAME, keys?.[index]?.path ?? "", detach(marker)));
          await until(() => sleeps(marker));
          sessions.push((await ids()).find((id) => !sessions.includes(id)) ?? "");
        }
        const found = () => processesOf(readProcesses(), UID).filter(({ pid }) => /sleep 38\d$/.test(commandOf(pid)));
        const hasParent = () =>
          found().map(({ parent }) => processesOf(readProcesses(), UID).some(({ pid }) => pid === parent));
        // The shell in between ends a moment after it has started it.
        await until(() => JSON.stringify(hasParent()) === JSON.stringify([false, false]));
        const detached = found();
        const logins = detached.map(({ pid }) => readFileSync(`/proc/${pid}/sessionid`, "utf8"));
        // Without PAM there is nothing to tell them by.
        if (logins.includes("4294967295")) return;
        expect(await host.endSession(stored(), sessions[0] ?? "")).toBe("ended");
        expect([sleeps("381"), sleeps("382")]).toEqual([false, true]);
        expect(await ids()).toEqual(sessions.slice(1));
      } finally {
        audited.stop();
      }
    });

    test.if(HIERARCHY !== undefined)(
      "endSession() ends what is in the session's scope of logind's, however it forks, and nothing beside it",
      async () => {
        const slice = `${HIERARCHY}/user.slice/user-${UID}.slice`;
        const [scope, manager] = [`${slice}/session-c31.scope`, `${slice}/user@${UID}.service`];
        const top = `${HIERARCHY}/user.slice`;
        const hadTop = existsSync(top);
        for (const path of [scope, manager]) mkdirSync(path, { recursive: true });
        const put = (path: string, pid: number) => writeFileSync(join(path, "cgroup.procs"), String(pid));
        try {
          const id = await login(0, "sleep 391");
          await until(() => sleeps("391"));
          put(scope, Number(id.slice(-7)));
          for (const marker of ["392", "393"]) startAs(UID, "/usr/bin/sleep", marker);
          await until(() => sleeps("392") && sleeps("393"));
          const pidOf = (marker: string) =>
            processesOf(readProcesses(), UID).find(({ pid }) => commandOf(pid).endsWith(`sleep ${marker}`))?.pid ??
            Number.NaN;
          put(scope, pidOf("392"));
          put(manager, pidOf("393"));
          // A chain of forks: each process ends when it has started the next.
          const chain = "perl -e 'while (1) { my $child = fork; exit if $child; select undef, undef, undef, 0.002 }'";
          run("mkfifo", "-m", "0666", `${base}/go`);
          startAs(UID, "/bin/sh", "-c", `read go < ${base}/go; exec ${chain}`);
          const waiting = () => processesOf(readProcesses(), UID).find(({ pid }) => commandOf(pid).includes("read go"));
          await until(() => waiting() !== undefined);
          put(scope, waiting()?.pid ?? Number.NaN);
          writeFileSync(`${base}/go`, "go\n");
          await until(() => waiting() === undefined);
          expect(await host.endSession(stored(), id)).toBe("ended");
          await until(() => readFileSync(join(scope, "cgroup.procs"), "utf8") === "");
          expect(["391", "392", "393"].map(sleeps)).toEqual([false, false, true]);
        } finally {
          run("pkill", "-KILL", "-U", String(UID));
          await until(() => readFileSync(join(manager, "cgroup.procs"), "utf8") === "");
          for (const path of [scope, manager, slice, ...(hadTop ? [] : [top])]) rmdirSync(path);
          rmSync(`${base}/go`, { force: true });
        }
      },
    );

    test("endSession() ends nothing by an id of another start, another process, or no id at all", async () => {
      const id = await login(0, "sleep 341");
      await until(() => sleeps("341"));
      const pid = Number(id.slice(-7));
      const started = Number(id.slice(0, -7));
      for (const wrong of [
        `${started + 1}${id.slice(-7)}`,
        `${started}${String(pid + 1).padStart(7, "0")}`,
        `${readProcess(process.pid)?.started}${String(process.pid).padStart(7, "0")}`,
        `0${id}`,
        "",
        "1",
        "x",
        `${id}\n`,
        "9".repeat(40),
      ]) {
        expect([wrong, await host.endSession(stored(), wrong)]).toEqual([wrong, "gone"]);
      }
      expect(sleeps("341")).toBe(true);
    });

    test("endSession() ends a session whose owner keeps forking from within it", async () => {
      const id = await login(0, "while :; do (while :; do sleep 0.01; done) & sleep 0.05; done");
      await until(() => running() > 3);
      const other = await login(1, "sleep 351");
      await until(() => sleeps("351"));
      expect(await host.endSession(stored(), id)).toBe("ended");
      expect(await ids()).toEqual([other]);
      expect(sleeps("351")).toBe(true);
    });

    test("endSession() does not call a session ended while a chain of forks that it started goes on", async () => {
      const directory = join(base, "with-chain");
      mkdirSync(directory);
      const audited = await startSshd(directory, ["UsePAM yes"]);
      try {
        const chain = "perl -MPOSIX -e 'while () { exit if fork; POSIX::setsid() }'";
        clients.push(
          audited.open(NAME, keys?.[0]?.path ?? "", `${chain} < /dev/null > /dev/null 2>&1; exec sleep 300`),
        );
        await until(() => sleeps("300"));
        const [id = ""] = await ids();
        const pid = Number(id.slice(-7));
        if (readFileSync(`/proc/${pid}/sessionid`, "utf8").trim() === "4294967295") return;
        const outcome = await host.endSession(stored(), id).catch((error: Error) => error.message);
        await Bun.sleep(200);
        const seen = Array.from({ length: 50 }, () => running()).some((count) => count > 0);
        // Whoever looks may miss the chain; who says that all has ended must not have.
        if (outcome === "ended") expect(seen).toBe(false);
        else expect(outcome).toMatch(/^Processes of this session of .* did not end.*Disable the user/);
        expect(await ids()).toEqual([]);
      } finally {
        audited.stop();
        expect(await host.shutAccount(stored())).toEqual({ refused: true, owed: [] });
      }
    });

    test("endSession() says what is left if something cannot be ended, and that disabling ends everything", async () => {
      const id = await login(0, "sleep 361");
      const kernel = { ...bunRuntime.openKernel(), killProcess: () => false };
      await expect(endSession(stored(), id, { kernel, patience: 300 })).rejects.toThrow(
        /^Processes of this session of ext_\S+ did not end: \d+.*\. Disable the user: that ends everything of the account$/,
      );
      expect(await ids()).toEqual([id]);
    });

    test("endSession() from two administrators at once ends it once, and nothing else", async () => {
      const id = await login(0, "sleep 371");
      const other = await login(1, "sleep 372");
      const results = await Promise.all([1, 2].map(() => host.endSession(stored(), id)));
      expect(results).toContain("ended");
      expect(await ids()).toEqual([other]);
    });
  });
});
