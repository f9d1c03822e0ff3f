import { describe, expect, test } from "bun:test";
import { spawn, spawnSync } from "node:child_process";
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { connectionsOf, processesOf, readProcesses } from "../../src/host/processes/processes.ts";
import type { HostSettings } from "../../src/host/settings.ts";
import { DAY } from "../../src/shared/time/clock.ts";
import {
  base,
  CLOSED,
  directHost,
  GROUP,
  keysPath,
  NAME,
  prepareHost,
  run,
  running,
  shadow,
  sshd,
  startAs,
  stored,
  UID,
} from "../support/direct-host.ts";
import { microsecondsSinceBoot, startFakeJournal } from "../support/fake-journal.ts";
import { HANG } from "../support/hang.ts";
import { describeOnHost, testAccount } from "../support/host-account.ts";
import { startHostWithout } from "../support/host-client.ts";
import { withSilentFuse } from "../support/silent-fuse.ts";
import { startSleeper } from "../support/sleeper.ts";
import { startSshd } from "../support/sshd.ts";
import { SURVIVORS } from "../support/survivors.ts";
import { until } from "../support/until.ts";

describeOnHost("access in direct mode", () => {
  prepareHost();

  describe("access", () => {
    test.each(["no", "yes"])(
      "openAccount(), shutAccount() and writeKeys() open and shut real logins with UsePAM %s",
      async (usePam) => {
        const directory = mkdtempSync(join(base, "sshd-"));
        const server = await startSshd(directory, [`UsePAM ${usePam}`]);
        try {
          const host = await directHost();
          const { path, key } = server.makeKey(1);
          const open = stored({ keys: [key] });
          await host.createAccount(open);
          expect(server.login(NAME, path)).toBe(false);
          await host.writeKeys(open);
          expect(server.login(NAME, path)).toBe(true);
          expect(await host.shutAccount(open)).toEqual(CLOSED);
          expect(server.login(NAME, path)).toBe(false);
          expect(shadow()).toEqual({ password: "*", expires: 1, ageing: false });
          expect(readFileSync(keysPath(), "utf8")).toBe("");
          // The account itself is shut, whatever its owner puts into the file.
          writeFileSync(keysPath(), `${key.type} ${key.base64}\n`);
          expect(server.login(NAME, path)).toBe(false);
          await host.openAccount(open);
          expect(server.login(NAME, path)).toBe(true);
          await host.writeKeys({ ...open, keys: [] });
          expect(server.login(NAME, path)).toBe(false);
        } finally {
          server.stop();
        }
      },
    );

    test("openAccount() lets the backstop expire after the time itself, never before", async () => {
      const host = await directHost();
      const { path, key } = sshd.makeKey(6);
      const now = Date.now();
      const midnightBefore = (time: number) => new Date(time - (time % DAY));
      // Of the day that it is until the end of the test, also where that begins in the last minute of another.
      const open = stored({ keys: [key], expireAt: midnightBefore(now + HANG) });
      await host.createAccount(open);
      await host.openAccount(open);
      // Only because of the account's own date: the lines of the file have expired.
      const withoutTime = (): void => {
        writeFileSync(keysPath(), `${key.type} ${key.base64}\n`);
      };
      withoutTime();
      expect(sshd.login(NAME, path)).toBe(true);
      await host.openAccount({ ...open, expireAt: midnightBefore(now - 2 * DAY) });
      withoutTime();
      expect(sshd.login(NAME, path)).toBe(false);
    });

    test("writeKeys() removes a key that its owner put where sshd also reads", async () => {
      const host = await directHost();
      const { path, key } = sshd.makeKey(2);
      await host.createAccount(stored());
      const second = join(base, NAME, ".ssh/authorized_keys2");
      const hide = () => {
        writeFileSync(second, `${key.type} ${key.base64}\n`);
        chownSync(second, UID, UID);
        expect(sshd.login(NAME, path)).toBe(true);
      };
      hide();
      await host.writeKeys(stored());
      expect(sshd.login(NAME, path)).toBe(false);
      hide();
      expect(await host.shutAccount(stored())).toEqual(CLOSED);
      expect(sshd.login(NAME, path)).toBe(false);
      await host.openAccount(stored());
      expect(sshd.login(NAME, path)).toBe(false);
      hide();
      expect(await host.reconcile([stored()], true)).toMatchObject([{ account: NAME, repaired: false }]);
      const [drift] = await host.reconcile([stored()], false);
      expect(drift).toMatchObject({ repaired: true });
      expect(drift?.problem).toContain("authorized_keys2");
      expect(sshd.login(NAME, path)).toBe(false);
      expect(await host.reconcile([stored()], true)).toEqual([]);
    });

    test("writeKeys() leaves the target of a linked second file alone", async () => {
      const host = await directHost();
      await host.createAccount(stored());
      const victim = join(base, "victim");
      writeFileSync(victim, "precious\n");
      symlinkSync(victim, join(base, NAME, ".ssh/authorized_keys2"));
      await host.writeKeys(stored());
      expect(existsSync(join(base, NAME, ".ssh/authorized_keys2"))).toBe(false);
      expect(readFileSync(victim, "utf8")).toBe("precious\n");
      unlinkSync(victim);
    });

    test("shutAccount() leaves no process: sessions, daemons, stopped ones and those that keep forking", async () => {
      const host = await directHost();
      const { path, key } = sshd.makeKey(3);
      const open = stored({ keys: [key] });
      await host.createAccount(open);
      await host.writeKeys(open);
      const session = sshd.open(NAME, path, "sleep 300");
      // Each is there before: what becomes the account's only later goes on.
      await startSleeper(UID);
      startAs(UID, "/bin/sh", "-c", "kill -STOP $$; sleep 300");
      await until(() => run("pgrep", "--runstates", "T", "-u", String(UID)).status === 0);
      startAs(UID, "/bin/sh", "-c", "trap '' TERM HUP INT; while :; do sleep 309 & sleep 0.01; done");
      await until(() => run("pgrep", "-u", String(UID), "-fx", "sleep 309").status === 0);
      await until(() => running() > 6 && connectionsOf(readProcesses(), NAME).length === 1);
      expect(await host.shutAccount(open)).toEqual(CLOSED);
      expect(running()).toBe(0);
      expect(connectionsOf(readProcesses(), NAME)).toEqual([]);
      session.kill();
    });

    test.each(Object.entries(SURVIVORS))("shutAccount() ends a process that is %s", async (_, start) => {
      const host = await directHost();
      await host.createAccount(stored());
      const survivor = await start(UID);
      expect(await host.shutAccount(stored())).toEqual(CLOSED);
      await until(survivor.ended);
    });

    test("shutAccount() leaves no session from logins that race with it", async () => {
      const host = await directHost();
      const { path, key } = sshd.makeKey(5);
      const open = stored({ keys: [key] });
      await host.createAccount(open);
      for (const delay of [60, 100, 140, 180]) {
        await host.openAccount(open);
        const sessions = [1, 2, 3].map(() => sshd.open(NAME, path, "sleep 300"));
        await Bun.sleep(delay);
        expect(await host.shutAccount(open)).toEqual(CLOSED);
        // Nothing comes of what was under way, however long sshd takes to be done with it.
        await Bun.sleep(700);
        await until(() => connectionsOf(readProcesses(), NAME).length === 0);
        expect(running()).toBe(0);
        for (const session of sessions) session.kill();
      }
    }, 180_000);

    test("shutAccount() ends a connection in the middle of a login", async () => {
      const host = await directHost();
      const { path, key } = sshd.makeKey(8);
      const open = stored({ keys: [key] });
      await host.createAccount(open);
      await host.writeKeys(open);
      // sshd has accepted the key and waits for the signature, for which the client waits for a passphrase.
      expect(run("ssh-keygen", "-q", "-p", "-P", "", "-N", "passphrase", "-f", path).status).toBe(0);
      const askpass = join(base, "askpass");
      writeFileSync(askpass, "#!/bin/sh\nexec sleep 100\n", { mode: 0o755 });
      const port = /^Port (\d+)$/m.exec(readFileSync(sshd.config, "utf8"))?.[1] ?? "";
      const options = ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "IdentitiesOnly=yes"];
      const args = ["-F", "none", ...options.flatMap((option) => ["-o", option]), "-i", path, "-p", port];
      const env = { PATH: "/usr/bin:/bin", SSH_ASKPASS: askpass, SSH_ASKPASS_REQUIRE: "force" };
      const client = spawn("/usr/bin/ssh", [...args, `${NAME}@127.0.0.1`, "true"], { stdio: "ignore", env });
      await until(() => connectionsOf(readProcesses(), NAME).length === 1);
      expect(running()).toBe(0);
      expect(await host.shutAccount(open)).toEqual(CLOSED);
      expect(connectionsOf(readProcesses(), NAME)).toEqual([]);
      client.kill();
    });

    test("shutAccount() removes crontab, at jobs and lingering, and only this account's", async () => {
      const host = await directHost();
      await host.createAccount(stored());
      const files = [
        { path: `/var/spool/cron/crontabs/${NAME}`, mine: true },
        { path: "/var/spool/cron/crontabs/tmp.aB3xYz", mine: true },
        { path: "/var/spool/cron/crontabs/tmp.another", mine: false },
        { path: `/var/spool/cron/atjobs/a0000101d0b3f2`, mine: true },
        { path: `/var/spool/cron/atjobs/a0000201d0b3f2`, mine: false },
        { path: `/var/lib/systemd/linger/${NAME}`, mine: true },
      ];
      const made = files
        .map(({ path }) => mkdirSync(join(path, ".."), { recursive: true }))
        .filter((path) => path !== undefined);
      for (const { path, mine } of files) {
        writeFileSync(path, "x\n");
        if (mine) chownSync(path, UID, UID);
      }
      expect(await host.shutAccount(stored())).toEqual(CLOSED);
      expect(files.filter(({ path }) => existsSync(path)).map(({ mine }) => mine)).toEqual([false, false]);
      for (const { path, mine } of files) if (!mine) unlinkSync(path);
      for (const path of made) rmSync(path, { recursive: true, force: true });
    });

    test.each([".ssh", ""])(
      "shutAccount() copes with a FUSE mount over the home's %p that does not answer",
      async (over) => {
        const host = await directHost();
        await host.createAccount(stored({ keys: testAccount().keys }));
        await withSilentFuse(join(base, NAME, over), UID, async (mounted) => {
          const started = performance.now();
          await expect(host.writeKeys(stored())).rejects.toThrow("is a mount point");
          expect((await host.reconcile([stored()], true))[0]?.problem).toContain("is a mount point");
          expect(performance.now() - started).toBeLessThan(HANG);
          expect(await host.shutAccount(stored())).toEqual(CLOSED);
          expect(performance.now() - started).toBeLessThan(HANG);
          expect(mounted()).toBe(false);
          expect(readFileSync(keysPath(), "utf8")).toBe("");
        });
      },
    );

    test("shutAccount() shuts the account even if the file cannot be emptied, and says so", async () => {
      const host = await directHost();
      const { path, key } = sshd.makeKey(4);
      const open = stored({ keys: [key] });
      await host.createAccount(open);
      await host.writeKeys(open);
      if (run("chattr", "+i", keysPath()).status !== 0) return;
      const weak = startHostWithout(["linux_immutable"], {
        ...{ mode: "direct", homeBase: base, markerGroup: GROUP, tools: { sshdConfig: sshd.config } },
      });
      try {
        expect(await weak.shutAccount(open)).toEqual({
          refused: true,
          owed: [expect.stringMatching(/^Cannot write .*authorized_keys for ext_.*: EPERM$/)],
        });
        expect(sshd.login(NAME, path)).toBe(false);
        expect(shadow()).toMatchObject({ expires: 1 });
      } finally {
        run("chattr", "-i", keysPath());
        weak.stop();
      }
      expect(await host.shutAccount(open)).toEqual(CLOSED);
      expect(readFileSync(keysPath(), "utf8")).toBe("");
    });
  });

  describe("takeKey", () => {
    const keeping = async (
      journal: (pids: readonly number[]) => readonly Readonly<Record<string, string>>[],
      revokeEnds: HostSettings["revokeEnds"] = "key",
    ) => {
      const first = sshd.makeKey(11);
      const second = sshd.makeKey(12);
      const fake = startFakeJournal(base);
      const host = await directHost({ revokeEnds, tools: { sshdConfig: sshd.config, ...fake.tools } });
      const account = stored({ keys: [first.key, second.key] });
      await host.createAccount(account);
      await host.writeKeys(account);
      const sessions = [first, second].map(({ path }, index) => ({ path, marker: `30${index}` }));
      const pids: number[] = [];
      for (const { path, marker } of sessions) {
        sshd.open(NAME, path, `sleep ${marker}`);
        await until(() => connectionsOf(readProcesses(), NAME).length === pids.length + 1 && sleeping(marker));
        pids.push(
          ...connectionsOf(readProcesses(), NAME)
            .map(({ pid }) => pid)
            .filter((pid) => !pids.includes(pid)),
        );
      }
      startAs(UID, "/usr/bin/sleep", "309");
      await until(() => sleeping("309"));
      for (const line of journal(pids)) fake.add(line);
      const crontab = `/var/spool/cron/crontabs/${NAME}`;
      mkdirSync(join(crontab, ".."), { recursive: true });
      writeFileSync(crontab, "x\n");
      const taken = await host.takeKey({ ...account, keys: [second.key] }, first.key.fingerprint);
      expect(taken).toEqual({ rewritten: true, owed: [], ...(revokeEnds === "none" ? {} : { jobs: "kept" }) });
      fake.close();
      const left = { first: sleeping("300"), second: sleeping("301"), daemon: sleeping("309") };
      // No job says whose key planted it.
      expect(existsSync(crontab)).toBe(revokeEnds === "none");
      rmSync(crontab, { force: true });
      for (const path of [first.path, second.path]) {
        rmSync(path);
        rmSync(`${path}.pub`);
      }
      return left;
    };
    const sleeping = (marker: string): boolean =>
      processesOf(readProcesses(), UID).some(
        ({ pid }) => commandOf(pid) === `/usr/bin/sleep ${marker}` || commandOf(pid) === `sleep ${marker}`,
      );
    const fingerprint = (id: number): string =>
      spawnSync("ssh-keygen", ["-l", "-f", join(base, `key${id}.pub`)], { encoding: "utf8" }).stdout.split(" ")[1] ??
      "";
    const entry = (pid: number | undefined, id: number, uid = "0") => ({
      _PID: String(pid),
      _UID: uid,
      __MONOTONIC_TIMESTAMP: microsecondsSinceBoot(),
      MESSAGE: `Accepted publickey for ${NAME} from 127.0.0.1 port 40000 ssh2: ED25519 ${fingerprint(id)}`,
    });

    test("takeKey() spares the session that sshd's log proves another key opened, and nothing else", async () => {
      expect(await keeping(([first, second]) => [entry(first, 11), entry(second, 12)])).toEqual({
        first: false,
        second: true,
        daemon: false,
      });
    });

    test("takeKey() ends a process that forks all the time, under another pid at each check", async () => {
      const host = await directHost();
      await host.createAccount(stored());
      const survivor = await SURVIVORS.fleeting(UID);
      const { fingerprint } = sshd.makeKey(13).key;
      expect(await host.takeKey(stored(), fingerprint)).toEqual({ rewritten: true, owed: [] });
      await until(survivor.ended);
    });

    test("takeKey() ends everything if there is no evidence", async () => {
      expect(await keeping(() => [])).toEqual({ first: false, second: false, daemon: false });
    });

    test("takeKey() does not believe a line that the account's owner sent", async () => {
      const forged = ([first, second]: readonly number[]) => [
        entry(first, 12, String(UID)),
        entry(second, 12, String(UID)),
      ];
      expect(await keeping(forged)).toEqual({ first: false, second: false, daemon: false });
    });

    test("takeKey() ends the whole account, or nothing, if configured so", async () => {
      const proof = ([first, second]: readonly number[]) => [entry(first, 11), entry(second, 12)];
      expect(await keeping(proof, "account")).toEqual({ first: false, second: false, daemon: false });
      expect(await keeping(proof, "none")).toEqual({ first: true, second: true, daemon: true });
    });
  });
});

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replace(/\0/g, " ").trim();
  } catch {
    return "";
  }
}
