/**
 * Taking access away from a hostile owner, on a host that fails at any step, in direct mode: once a closing has returned, no key
 * that it took away logs in.
 */

import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { isOurs, readAccounts } from "../../src/host/account.ts";
import { createDirectExecutor } from "../../src/host/execute/direct.ts";
import type { Executor } from "../../src/host/executor.ts";
import { createManagedHost } from "../../src/host/managed-host.ts";
import type { Change } from "../../src/host/plan/plan.ts";
import { openJournal } from "../../src/host/processes/journal.ts";
import { openLoginLog } from "../../src/host/processes/login-log.ts";
import { openRefusalLog } from "../../src/host/processes/refused-logins.ts";
import { createKeyFilePatterns } from "../../src/host/sshd/sshd.ts";
import type { Account, Host, ServerKey } from "../../src/protocol/host.ts";
import { bunRuntime } from "../../src/runtime/bun.ts";
import { UamError } from "../../src/shared/errors.ts";
import { whileAccountsAreLocked } from "../support/account-files.ts";
import {
  base,
  CLOSED,
  directHost,
  GROUP,
  keysPath,
  NAME,
  prepareHost,
  recorded,
  run,
  running,
  shadow,
  sshd,
  startAs,
  stored,
  UID,
} from "../support/direct-host.ts";
import { hasFuse, withHeldMount } from "../support/holding-fuse.ts";
import { describeOnHost, testSettings } from "../support/host-account.ts";
import { startHostWithout } from "../support/host-client.ts";
import { until } from "../support/until.ts";

let keys = 100;

describeOnHost("closings in direct mode", () => {
  prepareHost();

  /** An open account with two keys that log in. */
  const prepared = async (host: Host, uses = true) => {
    const [first, second] = [sshd.makeKey(++keys), sshd.makeKey(++keys)];
    const open = stored({ keys: [first.key, second.key] });
    await host.createAccount(open);
    await host.openAccount(open);
    const logins = () => [sshd.login(NAME, first.path), sshd.login(NAME, second.path)];
    if (uses) expect(logins()).toEqual([true, true]);
    return { open, left: { ...open, keys: [second.key] } satisfies Account, revoked: first.key.fingerprint, logins };
  };

  const direct = () =>
    ({ mode: "direct", homeBase: base, markerGroup: GROUP, tools: { sshdConfig: sshd.config } }) as const;

  /** A direct host with another executor. */
  const hostWith = (wrap: (executor: Executor) => Executor): Host => {
    const settings = testSettings(direct());
    const executor = createDirectExecutor(recorded.log, {
      kernel: bunRuntime.openKernel(),
      isOurs: (uid) => isOurs(readAccounts(), uid, GROUP),
      journal: openJournal(settings.tools),
      loginLog: openLoginLog(settings.tools),
      refusalLog: openRefusalLog(settings.tools),
    });
    const patterns = createKeyFilePatterns(settings.tools);
    return createManagedHost({
      settings,
      executor: wrap(executor),
      expiry: { kind: "utc" },
      log: recorded.log,
      patterns,
      hostKeys: async () => [],
    });
  };

  /** Fails the selected changes. */
  const failing =
    (isMeant: (change: Change, index: number) => boolean) =>
    (executor: Executor): Executor => {
      let index = 0;
      return {
        ...executor,
        apply: async (change) => {
          if (isMeant(change, index++)) throw new UamError("internal", `The host refused: ${change.kind}`);
          return await executor.apply(change);
        },
      };
    };

  describe("a key file that only root can have made immutable", () => {
    test.each([
      ["the file", "+i", () => keysPath()],
      ["the file, for appending only", "+a", () => keysPath()],
      ["its directory", "+i", () => join(keysPath(), "..")],
    ])("takeKey() and shutAccount() clear the attribute of %s", async (_, flag, path) => {
      const host = await directHost();
      const { open, left, revoked, logins } = await prepared(host);
      if (run("chattr", flag, path()).status !== 0) return;
      expect(await host.takeKey(left, revoked)).toEqual({ rewritten: true, owed: [] });
      expect(logins()).toEqual([false, true]);
      run("chattr", flag, path());
      expect(await host.shutAccount(open)).toEqual(CLOSED);
      expect(logins()).toEqual([false, false]);
      expect(readFileSync(keysPath(), "utf8")).toBe("");
      run("chattr", flag, path());
      run("chattr", flag, join(base, NAME));
      expect(await host.removeAccount(open)).toEqual(CLOSED);
      expect(existsSync(join(base, NAME))).toBe(false);
    });

    test("closings end access even if the attribute may not be cleared, and report what is left", async () => {
      const host = await directHost();
      const { open, left, revoked, logins } = await prepared(host);
      if (run("chattr", "+i", keysPath()).status !== 0) return;
      const weak = startHostWithout(["linux_immutable"], direct());
      const place = /\.uam-trash\/ext_.* could not be removed completely: .*authorized_keys: Operation not permitted$/;
      try {
        expect(await weak.takeKey(left, revoked)).toEqual({
          rewritten: false,
          problem: expect.stringMatching(/^Cannot write .*authorized_keys for ext_.*: EPERM$/),
        });
        expect(await weak.shutAccount(open)).toEqual({ refused: true, owed: [expect.stringContaining("EPERM")] });
        expect(logins()).toEqual([false, false]);
        expect(await weak.removeAccount(open)).toEqual({ refused: true, owed: [expect.stringMatching(place)] });
        expect(logins()).toEqual([false, false]);
        expect([await host.presence(open), existsSync(join(base, NAME))]).toEqual(["missing", false]);
      } finally {
        weak.stop();
        run("chattr", "-R", "-i", join(base, ".uam-trash"));
        if (existsSync(keysPath())) run("chattr", "-i", keysPath());
      }
      expect(await host.removeAccount(open)).toEqual(CLOSED);
      expect(readdirSync(join(base, ".uam-trash"))).toEqual([]);
    });
  });

  describe("a file system without a free inode, and a second name for the key file", () => {
    const withFew = async (
      work: (host: Host, exhaust: () => void, homeBase: string) => Promise<void>,
    ): Promise<void> => {
      const homeBase = join(base, "few");
      mkdirSync(homeBase, { recursive: true });
      expect(run("mount", "-t", "tmpfs", "-o", "mode=755,nr_inodes=64", "tmpfs", homeBase).status).toBe(0);
      const home = join(homeBase, NAME);
      const exhaust = (): void => {
        linkSync(join(home, ".ssh/authorized_keys"), join(home, ".ssh/x"));
        const script = `cd ${home}; for i in $(seq 100); do : > f$i || exit 0; done; exit 9`;
        const as = ["--reuid", String(UID), "--regid", String(UID), "--clear-groups", "--"];
        expect(run("setpriv", ...as, "/bin/sh", "-c", script).status).not.toBe(9);
        expect(() => writeFileSync(join(home, "another"), "")).toThrow("ENOSPC");
      };
      try {
        await work(await directHost({ homeBase }), exhaust, homeBase);
      } finally {
        run("umount", "-l", homeBase);
      }
    };

    test("takeKey() takes the key away and leaves the other", async () => {
      await withFew(async (host, exhaust) => {
        const { left, revoked, logins } = await prepared(host);
        exhaust();
        expect(await host.takeKey(left, revoked)).toEqual({ rewritten: true, owed: [] });
        expect(logins()).toEqual([false, true]);
      });
    });

    test("shutAccount() and removeAccount() need no disk space", async () => {
      await withFew(async (host, exhaust, homeBase) => {
        const { open, logins } = await prepared(host);
        exhaust();
        expect(await host.shutAccount(open)).toEqual(CLOSED);
        expect(logins()).toEqual([false, false]);
        expect(readFileSync(join(homeBase, NAME, ".ssh/authorized_keys"), "utf8")).toBe("");
        expect(await host.removeAccount(open)).toEqual(CLOSED);
        expect([existsSync(join(homeBase, NAME)), await host.presence(open)]).toEqual([false, "missing"]);
      });
    });
  });

  test.if(hasFuse)(
    "closings are not prevented by a mount whose name is not text and that may not be detached",
    async () => {
      const host = await directHost();
      const { open, logins } = await prepared(host);
      const weak = startHostWithout(["sys_admin"], direct());
      const path = Buffer.concat([Buffer.from(join(base, NAME, "m")), Buffer.from([0xff])]);
      try {
        await withHeldMount({ path, mounter: UID, server: UID }, async () => {
          expect(await weak.shutAccount(open)).toEqual(CLOSED);
          expect(logins()).toEqual([false, false]);
          expect(await weak.removeAccount(open)).toEqual({
            refused: true,
            owed: [expect.stringContaining("is a mount point")],
          });
          expect([logins(), await host.presence(open)]).toEqual([[false, false], "present"]);
        });
      } finally {
        weak.stop();
      }
      expect(await host.removeAccount(open)).toEqual(CLOSED);
    },
  );

  test.if(hasFuse)("removeAccount() detaches what was mounted while the home was moved away", async () => {
    const host = await directHost();
    const { open } = await prepared(host);
    const path = Buffer.concat([Buffer.from(join(base, NAME, "m")), Buffer.from([0xff])]);
    await withHeldMount({ path, mounter: UID, server: UID }, async () => {
      renameSync(join(base, NAME), join(base, ".uam-trash", `${NAME}.0123456789abcdef`));
      expect(await host.removeAccount(open)).toEqual(CLOSED);
      expect(readdirSync(join(base, ".uam-trash"))).toEqual([]);
    });
  });

  describe("a host that fails", () => {
    test("removeAccount() leaves the account shut while the account tools refuse, and finishes later", async () => {
      const host = await directHost();
      const { open, logins } = await prepared(host);
      await whileAccountsAreLocked(String(process.pid), async () => {
        const closing = await host.removeAccount(open);
        expect(closing).toEqual({
          refused: true,
          owed: [expect.stringContaining("usermod refused"), expect.stringContaining("userdel refused")],
        });
        expect(logins()).toEqual([false, false]);
      });
      // The stored account is shut by now: its home is gone and must not be repaired again and again.
      const drifts = await host.reconcile([{ ...open, open: false }], false);
      expect(drifts.map(({ kind, repaired }) => [kind, repaired])).toEqual([["expiry_date", true]]);
      expect(await host.reconcile([{ ...open, open: false }], true)).toEqual([]);
      expect(await host.removeAccount(open)).toEqual(CLOSED);
      expect([await host.presence(open), existsSync(join(base, NAME))]).toEqual(["missing", false]);
    });

    test("removeAccount() finishes a removal that was killed at any step", async () => {
      const host = await directHost();
      let steps = 0;
      for (let dead = 0; dead <= steps; dead++) {
        await host.createAccount(stored());
        const killed = hostWith(
          failing((_, index) => {
            steps = Math.max(steps, index);
            return index >= dead;
          }),
        );
        await killed.removeAccount(stored());
        expect([dead, await host.removeAccount(stored())]).toEqual([dead, CLOSED]);
        expect([await host.presence(stored()), existsSync(join(base, NAME))]).toEqual(["missing", false]);
        expect(readdirSync(join(base, ".uam-trash"))).toEqual([]);
      }
      expect(steps).toBeGreaterThan(10);
    }, 180_000);

    test("shutAccount() makes up for any one step that fails for a moment", async () => {
      const host = await directHost();
      const { open, logins } = await prepared(host);
      let steps = 0;
      for (let broken = 0; broken <= steps; broken++) {
        await host.openAccount(open);
        const once = hostWith(
          failing((_, index) => {
            steps = Math.max(steps, index);
            return index === broken;
          }),
        );
        const { refused, owed } = await once.shutAccount(open);
        // After the last sweep there is no other.
        expect([broken, refused, owed.filter((it) => !it.includes("end-processes"))]).toEqual([broken, true, []]);
        expect(shadow()).toMatchObject({ expires: 1 });
        expect(readFileSync(keysPath(), "utf8")).toBe("");
      }
      expect(logins()).toEqual([false, false]);
      expect(steps).toBeGreaterThan(10);
    }, 180_000);

    test.each(["account-command", "write-keys", "end-processes", "remove-file", "remove-owned-files"])(
      "shutAccount() ends access even if every %s fails, and owes it",
      async (kind) => {
        const host = await directHost();
        const { open, logins } = await prepared(host);
        const { refused, owed } = await hostWith(failing((change) => change.kind === kind)).shutAccount(open);
        expect([refused, owed]).toEqual([true, [`The host refused: ${kind}`]]);
        expect(logins()).toEqual([false, false]);
        expect(await host.shutAccount(open)).toEqual(CLOSED);
      },
    );

    test("takeKey() rewrites the file even if no command can be run, and owes what needs one", async () => {
      const host = await directHost();
      const { left, revoked, logins } = await prepared(host);
      const dead = hostWith(failing((change) => change.kind !== "write-keys" && change.kind !== "retire-keys"));
      const taken = await dead.takeKey(left, revoked);
      expect(taken.rewritten).toBe(true);
      expect(taken.rewritten && taken.owed[0]).toBe("The host refused: end-processes");
      expect(logins()).toEqual([false, true]);
    });

    test("takeKey() says so if a file that sshd reads still holds the key", async () => {
      const host = await directHost();
      const { left, revoked, logins } = await prepared(host);
      const stuck = hostWith(failing((change) => change.kind === "write-keys"));
      expect(await stuck.takeKey(left, revoked)).toEqual({ rewritten: false, problem: "The host refused: write-keys" });
      expect(logins()).toEqual([true, true]);
      const second = join(base, NAME, ".ssh/authorized_keys2");
      writeFileSync(second, readFileSync(keysPath()));
      const other = hostWith(failing((change) => change.kind === "retire-keys"));
      expect(await other.takeKey(left, revoked)).toEqual({
        rewritten: false,
        problem: "The host refused: retire-keys",
      });
      expect(await host.takeKey(left, revoked)).toEqual({ rewritten: true, owed: [] });
      expect(logins()).toEqual([false, true]);
    });

    test("closings work for an account whose home an administrator moved elsewhere, and leave that home alone", async () => {
      const host = await directHost();
      const { open, left, revoked } = await prepared(host);
      const elsewhere = join(base, "elsewhere");
      mkdirSync(elsewhere, { recursive: true });
      writeFileSync(join(elsewhere, "file"), "precious\n");
      await until(() => running() === 0);
      expect(run("usermod", "-d", elsewhere, "--", NAME).status).toBe(0);
      const sentence = `The home directory of ${NAME} is ${elsewhere}: it is left alone`;
      expect(await host.takeKey(left, revoked)).toEqual({ rewritten: false, problem: sentence });
      expect(await host.shutAccount(open)).toEqual({ refused: true, owed: [sentence] });
      expect(shadow()).toMatchObject({ expires: 1 });
      expect(await host.removeAccount(open)).toEqual({ refused: true, owed: [sentence] });
      expect(await host.presence(open)).toBe("missing");
      expect(await host.removeAccount(open)).toEqual(CLOSED);
      expect(readFileSync(join(elsewhere, "file"), "utf8")).toBe("precious\n");
    });
  });

  test.each([
    ["nothing", 2],
    ["a crontab", 2],
    ["an at job", 2],
  ])("takeKey() looks again for what was started meanwhile if %s was scheduled", async (what, times) => {
    let ends = 0;
    const host = hostWith((executor) => ({
      ...executor,
      apply: async (change) => {
        if (change.kind === "end-processes") ends++;
        return await executor.apply(change);
      },
    }));
    await host.createAccount(stored());
    const spool = what === "a crontab" ? `crontabs/${NAME}` : "atjobs/a0000101d0b3f2";
    const path = join("/var/spool/cron", spool);
    if (what !== "nothing") {
      mkdirSync(join(path, ".."), { recursive: true });
      writeFileSync(path, "");
      run("chown", String(UID), path);
    }
    const jobs = what === "nothing" ? {} : ({ jobs: "kept" } as const);
    expect(await host.takeKey(stored(), "SHA256:none")).toEqual({ rewritten: true, owed: [], ...jobs });
    expect([ends, existsSync(path) && what !== "nothing"]).toEqual([times, false]);
  });

  describe("a key that comes back", () => {
    const putBack = (line: string, file = "authorized_keys"): void => {
      const crontab = `/var/spool/cron/crontabs/${NAME}`;
      mkdirSync("/var/spool/cron/crontabs", { recursive: true });
      writeFileSync(crontab, `* * * * * echo '${line}' >> ${base}/${NAME}/.ssh/${file}\n`);
      run("chown", String(UID), crontab);
      const loop = `cd ${base}/${NAME}/.ssh; while :; do echo '${line}' >> ${file}; sleep 0.1; done`;
      startAs(UID, "/bin/sh", "-c", loop);
    };

    test.each(["authorized_keys", "authorized_keys2"])("reconcile() ends what puts it back into %s", async (file) => {
      const host = await directHost();
      const { path, key } = sshd.makeKey(++keys);
      await host.createAccount(stored());
      putBack(`${key.type} ${key.base64}`, file);
      await until(() => sshd.login(NAME, path));
      const session = sshd.open(NAME, path, "sleep 300");
      // Connections of the logins before may still be going.
      await until(
        () => spawnSync("pgrep", ["--runstates", "R,S,D", "-u", String(UID), "-fx", "sleep 300"]).status === 0,
      );
      expect(await host.reconcile([stored()], true)).toMatchObject([{ kind: "key_added", repaired: false }]);
      expect(await host.reconcile([stored()], false)).toMatchObject([{ kind: "key_added", repaired: true }]);
      expect([running(), existsSync(`/var/spool/cron/crontabs/${NAME}`)]).toEqual([0, false]);
      await Bun.sleep(300);
      expect(sshd.login(NAME, path)).toBe(false);
      expect(await host.reconcile([stored()], true)).toEqual([]);
      session.kill();
    });

    test("reconcile() distinguishes an added key from a file that is wrong in another way", async () => {
      const host = await directHost();
      const { open } = await prepared(host, false);
      const right = readFileSync(keysPath(), "utf8");
      const found = async (text: string) => {
        writeFileSync(keysPath(), text);
        return (await host.reconcile([open], true)).map(({ kind }) => kind);
      };
      const { key } = sshd.makeKey(++keys);
      expect(await found(right.split("\n")[0] ?? "")).toEqual(["key_file"]);
      expect(await found("")).toEqual(["key_file"]);
      expect(await found(right.replaceAll("uam:", "any:"))).toEqual(["key_file"]);
      expect(await found(`${right}no-pty ${key.type} ${key.base64}\n`)).toEqual(["key_added"]);
      expect(await found(`${right}# ${key.type} ${key.base64}\n`)).toEqual(["key_file"]);
      unlinkSync(keysPath());
      expect((await host.reconcile([open], true)).map(({ kind }) => kind)).toEqual(["key_file"]);
      // Through a link sshd may read anything.
      run("ln", "-s", "elsewhere", keysPath());
      expect((await host.reconcile([open], true)).map(({ kind }) => kind)).toEqual(["key_added"]);
    });
  });

  test("hostKeys() lists the keys that sshd presents", async () => {
    const host = await directHost();
    const [type, base64] = readFileSync(join(base, "host_key.pub"), "utf8").split(" ");
    const fingerprint = expect.stringMatching(/^SHA256:[A-Za-z0-9+/]{43}$/);
    expect(await host.hostKeys()).toEqual([{ type, base64, fingerprint }] as unknown as ServerKey[]);
    const without = await directHost({ tools: { sshd: "/nonexistent", sshdConfig: "/nonexistent" } });
    expect(Array.isArray(await without.hostKeys())).toBe(true);
  });
});
