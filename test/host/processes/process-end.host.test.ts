/** What the owner of an account, or of a second one, does so that processes do not end. Direct mode, with the real kernel. */

import { describe, expect, test } from "bun:test";
import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { directEnder } from "../../../src/host/execute/direct.ts";
import { endProcesses } from "../../../src/host/processes/process-end.ts";
import { isAbout, readPids, readProcess, readProcesses } from "../../../src/host/processes/processes.ts";
import { readMounts } from "../../../src/host/safe-open.ts";
import type { Closing } from "../../../src/protocol/host.ts";
import { bunRuntime } from "../../../src/runtime/bun.ts";
import { openLibc } from "../../../src/runtime/bun-kernel.ts";
import { createKernel } from "../../../src/runtime/kernel.ts";
import {
  base,
  CLOSED,
  directHost,
  GROUP,
  keysPath,
  MANY,
  NAME,
  prepareHost,
  recorded,
  running,
  startAs,
  stored,
  UID,
} from "../../support/direct-host.ts";
import { hasFuse, withFuseControl, withHeldMount } from "../../support/holding-fuse.ts";
import { describeOnHost, testAccount } from "../../support/host-account.ts";
import { startHostAs } from "../../support/host-client.ts";
import { startSleeper } from "../../support/sleeper.ts";
import { SURVIVORS } from "../../support/survivors.ts";
import { until } from "../../support/until.ts";

const HIERARCHY = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].find((path) => existsSync(`${path}/cgroup.controllers`));
const PIDS = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"].find((path) => canLimit(path));

describeOnHost("ending processes in direct mode", () => {
  prepareHost();
  const kernel = bunRuntime.openKernel();

  describe("killAllOf", () => {
    test.each(Object.entries(SURVIVORS))("killAllOf() ends in one step a process that is %s", async (_, start) => {
      const survivor = await start(UID);
      expect(kernel.killAllOf(UID)).toBe(true);
      await until(survivor.ended);
    });

    test("reachesAny() sees whatever killAllOf() would end, and nothing else", async () => {
      // What the tests before have killed may take a moment to disappear.
      await until(() => kernel.reachesAny(UID, readPids()) === false);
      for (const start of Object.values(SURVIVORS)) {
        const survivor = await start(UID);
        await until(() => kernel.reachesAny(UID, readPids()) === true);
        expect(kernel.killAllOf(UID)).toBe(true);
        await until(survivor.ended);
        await until(() => kernel.reachesAny(UID, readPids()) === false);
      }
      expect(identity()).toBe("0 0 0 0");
    });

    test("killAllOf() ends a program that the account runs with root's rights", async () => {
      const program = join(base, "sleeps-as-root");
      copyFileSync("/usr/bin/sleep", program);
      chmodSync(program, 0o4755);
      startAs(UID, program, "300");
      // It is the account's before it has root's rights.
      await until(() => readProcesses().some(({ uids: [real, effective] }) => real === UID && effective === 0));
      expect(kernel.reachesAny(UID, readPids())).toBe(true);
      expect(kernel.killAllOf(UID)).toBe(true);
      await until(() => running() === 0);
      rmSync(program);
    });

    test("what works as the account with root's rights is out of reach of killAllOf(), and ended all the same", async () => {
      const program = spawn("/usr/bin/perl", ["-e", `$> = ${UID}; sleep 300`], { stdio: "ignore" });
      const ended = new Promise<string | null>((resolve) => program.on("exit", (_, signal) => resolve(signal)));
      const pid = program.pid ?? 0;
      await until(() => readProcess(pid)?.uids[1] === UID);
      expect(kernel.killAllOf(UID)).toBe(true);
      expect(kernel.reachesAny(UID, [pid])).toBe(false);
      expect(isAbout(pid, NAME)).toBe(false);
      expect(isAbout(pid, NAME, UID)).toBe(true);
      await endProcesses(
        { name: NAME, uid: UID },
        directEnder(kernel, () => true),
      );
      expect(await ended).toBe("SIGKILL");
    });

    test("killAllOf() ends a chain of forks that stops whatever it can, over and over", async () => {
      for (let round = 0; round < 20; round++) {
        const survivor = await SURVIVORS["stopping and fleeting"](UID);
        expect(kernel.killAllOf(UID)).toBe(true);
        await until(survivor.ended);
      }
      expect(identity()).toBe("0 0 0 0");
    });

    test("no process of the account can signal or trace the sweeping one while it has the account's uid", () => {
      // Started from within, the probe has the uids of the sweep; it takes the account's for all of them.
      const script = `
        use POSIX ":signal_h"; my ($pid) = shift =~ /^(\\d+)$/; $< = $>;
        die "$< $>" unless $< == ${UID} && $> == ${UID};
        for my $signal (0, SIGSTOP, SIGKILL) { print kill($signal, $pid) ? "signalled " : "refused " }
        print open(my $file, "<", "/proc/$pid/environ") ? "traced" : "refused";`;
      let seen = "";
      const libc = openLibc();
      const watched = createKernel({
        ...libc,
        syscall: (number, ...values) => {
          if (values[0] === -1)
            seen = spawnSync("/usr/bin/perl", ["-e", script, String(process.pid)], { encoding: "utf8" }).stdout;
          return libc.syscall(number, ...values);
        },
      });
      expect(watched.killAllOf(UID)).toBe(true);
      expect(seen).toBe("refused refused refused refused");
      expect(identity()).toBe("0 0 0 0");
    });
  });

  test.if(HIERARCHY !== undefined)(
    "shutAccount() first ends everything in the account's slice, whatever user it runs as",
    async () => {
      const host = await directHost();
      await host.createAccount(stored());
      const top = join(HIERARCHY ?? "", "user.slice");
      const slice = join(top, `user-${UID}.slice`);
      const hadTop = existsSync(top);
      mkdirSync(slice, { recursive: true });
      const roots = spawn("sleep", ["300"], { stdio: "ignore" });
      try {
        writeFileSync(join(slice, "cgroup.procs"), String(roots.pid));
        startAs(UID, "/usr/bin/sleep", "300");
        await until(() => running() === 1);
        expect(await host.shutAccount(stored())).toEqual(CLOSED);
        await until(() => roots.signalCode === "SIGKILL");
      } finally {
        roots.kill("SIGKILL");
        await until(() => readFileSync(join(slice, "cgroup.procs"), "utf8") === "");
        rmdirSync(slice);
        if (!hadTop) rmdirSync(top);
      }
    },
  );

  describe.if(PIDS !== undefined)("a machine that cannot start another process", () => {
    /** Shuts the account there once it has filled the machine; returns the outcome, or undefined if the runtime aborted. */
    const shutWithoutRoom = async (group: string): Promise<Closing | undefined> => {
      const host = startHostAs("root", { mode: "direct", homeBase: base, markerGroup: GROUP });
      try {
        for (const open of [true, false, true]) await (open ? host.openAccount(stored()) : host.shutAccount(stored()));
        writeFileSync(join(group, "cgroup.procs"), String(host.pid));
        // None: as many as there are now would leave room for one as soon as a thread of the runtime's ends.
        writeFileSync(join(group, "pids.max"), "0");
        const survivor = await SURVIVORS["stopping and fleeting"](UID);
        await startSleeper(UID);
        const closing = await host.shutAccount(stored()).catch((error: Error) => {
          if (!error.message.startsWith("the host's process ended")) throw error;
          return undefined;
        });
        if (closing === undefined) return undefined;
        expect(running()).toBe(0);
        await until(survivor.ended);
        return closing;
      } finally {
        kernel.killAllOf(UID);
        host.stop();
        await until(() => readFileSync(join(group, "cgroup.procs"), "utf8") === "");
        writeFileSync(join(group, "pids.max"), "max");
      }
    };

    test("shutAccount() ends every process even so, and says which command failed", async () => {
      await (await directHost()).createAccount(stored());
      const group = join(PIDS ?? "", `uam-test-${process.pid}`);
      mkdirSync(group);
      try {
        // Bun aborts if it needs a thread at that moment. That is no result; systemd would restart it.
        let closing: Closing | undefined;
        for (let attempt = 0; closing === undefined && attempt < 10; attempt++) closing = await shutWithoutRoom(group);
        expect(closing).toEqual({ refused: true, owed: [expect.stringMatching(/Cannot run .*usermod/)] });
      } finally {
        rmdirSync(group);
      }
    });
  });

  describe.if(hasFuse)("FUSE", () => {
    const other = testAccount({ name: MANY[0] ?? "", uid: UID + 1, keys: [] });
    const ask = async (path: string, asked: Promise<void>) => {
      startAs(UID, "/usr/bin/cat", join(path, "x"));
      await asked;
    };

    test("shutAccount() ends a process that waits for a server of another account, on a mount of its own", async () => {
      const host = await directHost();
      await host.createAccount(stored({ keys: testAccount().keys }));
      const path = join(base, NAME, "mnt");
      await withFuseControl(true, () =>
        withHeldMount({ path, mounter: UID, server: other.uid }, async ({ asked }) => {
          await ask(path, asked);
          expect(await host.shutAccount(stored())).toEqual(CLOSED);
          expect(running()).toBe(0);
          expect(readMounts().filter((mount) => mount.path === path)).toEqual([]);
          expect(readFileSync(keysPath(), "utf8")).toBe("");
        }),
      );
    });

    test("shutAccount() ends a process that waits for another account's mount", async () => {
      const host = await directHost();
      await host.createAccount(stored());
      await host.createAccount(other);
      const path = join(base, "mnt");
      await withFuseControl(true, () =>
        withHeldMount({ path, mounter: other.uid, server: other.uid }, async ({ asked }) => {
          await ask(path, asked);
          expect(await host.shutAccount(stored())).toEqual(CLOSED);
          expect(running()).toBe(0);
        }),
      );
      rmdirSync(path);
    });

    test("shutAccount() names what waits, and for what, if it may not abort the connection", async () => {
      const host = await directHost();
      await host.createAccount(stored());
      const path = join(base, "mnt");
      await withFuseControl(false, () =>
        withHeldMount({ path, mounter: UID, server: other.uid }, async ({ asked }) => {
          await ask(path, asked);
          expect(await host.shutAccount(stored())).toEqual({
            refused: true,
            owed: [
              expect.stringMatching(
                new RegExp(
                  `^Processes of ${NAME} did not end: (\\d+) \\(\\1 waits for FUSE servers: connection \\d+ of uid ${UID}, which may not be aborted from here: EROFS`,
                ),
              ),
            ],
          });
        }),
      );
      rmdirSync(path);
    });

    const bytes = () => Buffer.concat([Buffer.from(join(base, NAME, "m")), Buffer.from([0xff])]);
    const isMounted = () => readMounts().some((mount) => mount.bytes.equals(bytes()));

    test("shutAccount() detaches a mount whose name is not text", async () => {
      const host = await directHost();
      await host.createAccount(stored());
      await withHeldMount({ path: bytes(), mounter: UID, server: UID }, async () => {
        expect(isMounted()).toBe(true);
        expect(await host.shutAccount(stored())).toEqual(CLOSED);
        expect(isMounted()).toBe(false);
      });
    });

    test("shutAccount() shuts an account whose mount may not be detached, and removeAccount() names the mount", async () => {
      const may = bunRuntime.openKernel();
      const host = await directHost({}, { ...bunRuntime, openKernel: () => ({ ...may, detachMount: () => false }) });
      await host.createAccount(stored());
      await withHeldMount({ path: bytes(), mounter: UID, server: UID }, async () => {
        expect(await host.shutAccount(stored())).toEqual(CLOSED);
        const warnings = recorded.lines.filter(({ level }) => level === "warn").map(({ message }) => message);
        expect(warnings).toEqual([expect.stringContaining("is a FUSE mount point and could not be detached")]);
        expect(await host.removeAccount(stored())).toEqual({
          refused: true,
          owed: [expect.stringContaining("is a mount point")],
        });
      });
      expect(await host.removeAccount(stored())).toEqual(CLOSED);
    });
  });
});

/** The uids of this thread: real, effective, saved, file system. */
function identity(): string {
  return (/^Uid:\t(.*)$/m.exec(readFileSync("/proc/thread-self/status", "utf8"))?.[1] ?? "").replaceAll("\t", " ");
}

/** True if root may limit how many processes a control group has. */
function canLimit(path: string): boolean {
  const group = join(path, `uam-probe-${process.pid}`);
  try {
    mkdirSync(group);
    return existsSync(join(group, "pids.max"));
  } catch {
    return false;
  } finally {
    if (existsSync(group)) rmdirSync(group);
  }
}
