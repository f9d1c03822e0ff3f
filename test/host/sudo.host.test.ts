/** Sudo mode: a host that runs as a system user, the rules it prints, a real sshd, and hostile homes. */

import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { readAccounts } from "../../src/host/account.ts";
import type { Account } from "../../src/protocol/host.ts";
import { HANG } from "../support/hang.ts";
import { describeOnHost, EXPIRE_AT, testAccount } from "../support/host-account.ts";
import type { RemoteHost } from "../support/host-client.ts";
import { describeTree } from "../support/key-file-lab.ts";
import { withSilentFuse } from "../support/silent-fuse.ts";
import { startSleeper } from "../support/sleeper.ts";
import { startSshd, type TestSshd } from "../support/sshd.ts";
import {
  CLOSED,
  createSudoLab,
  GROUP,
  MANY,
  NAME,
  OTHER,
  run,
  running,
  type SudoLab,
  shadowOf,
  startAs,
  stored,
  UID,
} from "../support/sudo-lab.ts";
import { SURVIVORS } from "../support/survivors.ts";
import { until } from "../support/until.ts";

const EXPIRY_DAY = Math.floor(EXPIRE_AT.getTime() / 86_400_000) + 1;

// Real commands and logins, on machines that may be busy with other tests.
setDefaultTimeout(180_000);

let lab: SudoLab;
let victim: string;
let sshd: TestSshd;
let host: RemoteHost;

describeOnHost("sudo mode", () => {
  beforeAll(async () => {
    lab = createSudoLab();
    victim = join(lab.base, "victim");
    sshd = await startSshd(lab.base);
    host = lab.startHost();
  });
  afterEach(() => lab.cleanUp());
  afterAll(() => {
    host?.stop();
    sshd?.stop();
    lab?.remove();
  });

  describe("rules", () => {
    test("checkSudo() finds nothing wrong with the rules, before the first account and after", async () => {
      expect(await host.check()).toEqual([]);
      await host.createAccount(stored());
      expect(await host.check()).toEqual([]);
    });

    test("checkSudo() finds nothing wrong while the account that it asks with is deleted", async () => {
      for (const wait of [5, 20, 40, 80, 160, 320]) {
        await host.createAccount(stored());
        const checking = host.check();
        await Bun.sleep(wait);
        // At once, without what a removal does before.
        expect(spawnSync("userdel", ["-r", "-f", "--", NAME])).toMatchObject({ status: 0 });
        expect(await checking).toEqual([]);
        lab.cleanUp();
      }
    });

    test("checkSudo() finds nothing wrong where rules were missing for a moment, as in an upgrade of sudo", async () => {
      const pause = join(mkdtempSync(join(lab.base, "pauses-")), "pause");
      chmodSync(dirname(pause), 0o777);
      for (const missing of [undefined, lab.rules().replaceAll("[*]", "[+]")]) {
        lab.install(missing);
        const checking = host.check(pause);
        await until(() => existsSync(pause));
        lab.install(lab.rules());
        rmSync(pause);
        expect(await checking).toEqual([]);
      }
    });

    test("createHost() names the remedy if some or all rules are missing", async () => {
      const without = async (text: string | undefined): Promise<void> => {
        lab.install(text);
        const fresh = lab.startHost();
        try {
          await expect(fresh.createAccount(stored())).rejects.toThrow('write what "uam sudoers" prints');
          expect(await fresh.check()).toHaveLength(1);
        } finally {
          fresh.stop();
          lab.install(lab.rules());
        }
      };
      await without(undefined);
      await without(lab.rules().replaceAll("[*]", "[+]"));
      await without(lab.rules().replaceAll("authorized_keys$", "other$").replaceAll(`(%${GROUP})`, "(nobody)"));
    });
  });

  describe("an account's life", () => {
    test("createAccount() creates the account with all its properties, and does nothing when called again", async () => {
      await host.createAccount(stored());
      const { passwd, groups } = readAccounts();
      expect(passwd.get(NAME)).toEqual({ name: NAME, uid: UID, gid: UID, home: lab.home() });
      expect(groups.get(GROUP)?.members.has(NAME)).toBe(true);
      expect(shadowOf()).toEqual({ password: "*", expires: EXPIRY_DAY, ageing: false });
      for (const [path, mode] of [
        [lab.home(), 0o700],
        [lab.ssh, 0o700],
        [lab.keys, 0o600],
      ] as const) {
        const stat = lstatSync(path);
        expect([path, stat.uid, stat.gid, stat.mode & 0o7777]).toEqual([path, UID, UID, mode]);
      }
      const inode = lstatSync(lab.home()).ino;
      await host.createAccount(stored());
      expect(lstatSync(lab.home()).ino).toBe(inode);
      expect(await host.presence(stored())).toBe("present");
      expect(await host.nameTaken(NAME)).toBe(true);
    });

    test.each(["no", "yes"])(
      "upload opens and revocation, disabling and expiry shut real logins with UsePAM %s",
      async (usePam) => {
        const directory = mkdtempSync(join(lab.base, "sshd-"));
        const server = await startSshd(directory, [`UsePAM ${usePam}`]);
        try {
          const [first, second] = [server.makeKey(1), server.makeKey(2)];
          const open = stored({ keys: [first.key, second.key] });
          await host.createAccount(stored());
          expect(server.login(NAME, first.path)).toBe(false);
          await host.writeKeys(open);
          expect([server.login(NAME, first.path), server.login(NAME, second.path)]).toEqual([true, true]);
          const left = stored({ keys: [second.key] });
          expect(await host.takeKey(left, first.key.fingerprint)).toEqual({ rewritten: true, owed: [] });
          expect([server.login(NAME, first.path), server.login(NAME, second.path)]).toEqual([false, true]);
          const session = server.open(NAME, second.path, "sleep 300");
          startAs(UID, "/bin/sh", "-c", "trap '' TERM HUP INT; while :; do sleep 309 & sleep 0.05; done");
          // What becomes the account's only later goes on, and what is left of the logins is counted, too.
          await until(() => run("pgrep", "-u", String(UID), "-fx", "sleep 309").status === 0 && running() > 3);
          expect(await host.shutAccount(left)).toEqual(CLOSED);
          expect(running()).toBe(0);
          expect(readFileSync(lab.keys, "utf8")).toBe("");
          writeFileSync(lab.keys, `${second.key.type} ${second.key.base64}\n`);
          expect(server.login(NAME, second.path)).toBe(false);
          expect(shadowOf()).toEqual({ password: "*", expires: 1, ageing: false });
          await host.openAccount(left);
          expect(server.login(NAME, second.path)).toBe(true);
          await host.openAccount({ ...left, expireAt: new Date(Date.now() - 2 * 86_400_000) });
          expect(server.login(NAME, second.path)).toBe(false);
          session.kill();
        } finally {
          server.stop();
        }
      },
    );

    test.each(["no", "yes"])(
      "without the service sshd refuses the key one second after expire_at with UsePAM %s",
      async (usePam) => {
        const server = await startSshd(mkdtempSync(join(lab.base, "sshd-")), [`UsePAM ${usePam}`]);
        let service = lab.startHost();
        try {
          const { path, key } = server.makeKey(1);
          await service.createAccount(stored());
          // As long as this takes now, and four times as long to be sure.
          const begin = performance.now();
          await service.openAccount(stored({ keys: [key] }));
          expect(server.login(NAME, path)).toBe(true);
          let patience = 2000 + 5 * (performance.now() - begin);
          let expireAt = new Date(0);
          let admitted = false;
          // What came too late on a busy machine says nothing, and is tried again with more time.
          for (; Date.now() >= expireAt.getTime(); patience *= 2) {
            service.stop();
            service = lab.startHost();
            expireAt = new Date(Math.ceil((Date.now() + patience) / 1000) * 1000);
            await service.openAccount(stored({ keys: [key], expireAt }));
            service.stop();
            admitted = server.login(NAME, path);
          }
          expect(admitted).toBe(true);
          await Bun.sleep(expireAt.getTime() + 1000 - Date.now());
          expect(server.login(NAME, path)).toBe(false);
          expect(readFileSync(lab.keys, "utf8")).toContain(key.base64);
        } finally {
          service.stop();
          server.stop();
        }
      },
    );

    test("takeKey() ends everything of the account: only root can know what opened a session", async () => {
      const { path, key } = sshd.makeKey(3);
      await host.createAccount(stored());
      await host.writeKeys(stored({ keys: [key] }));
      const session = sshd.open(NAME, path, "sleep 300");
      await startSleeper(UID);
      await until(() => running() > 2);
      const none = `SHA256:${"x".repeat(43)}`;
      expect(await host.takeKey(stored({ keys: [key] }), none)).toEqual({ rewritten: true, owed: [] });
      expect(running()).toBe(0);
      session.kill();
    });

    test.each(Object.entries(SURVIVORS))("shutAccount() ends a process that is %s", async (_, start) => {
      await host.createAccount(stored());
      const survivor = await start(UID);
      expect(await host.shutAccount(stored())).toEqual(CLOSED);
      await until(survivor.ended);
    });

    test("removeAccount() removes processes, jobs, mail, home and account", async () => {
      await host.createAccount(stored());
      mkdirSync("/var/spool/cron/crontabs", { recursive: true });
      mkdirSync("/var/spool/cron/atjobs", { recursive: true });
      const files = [`/var/mail/${NAME}`, `/var/spool/cron/crontabs/${NAME}`, "/var/spool/cron/atjobs/a0000701b0000"];
      for (const file of files) {
        writeFileSync(file, "x\n");
        chownSync(file, UID, UID);
      }
      writeFileSync("/var/spool/cron/atjobs/a0000801b0000", "another's\n");
      startAs(UID, "/usr/bin/sleep", "300");
      await until(() => running() > 0);
      expect(await host.removeAccount(stored())).toEqual(CLOSED);
      expect(await host.presence(stored())).toBe("missing");
      expect([lab.home(), ...files].map((path) => existsSync(path))).toEqual([false, false, false, false]);
      expect(existsSync("/var/spool/cron/atjobs/a0000801b0000")).toBe(true);
      unlinkSync("/var/spool/cron/atjobs/a0000801b0000");
      expect([running(), readAccounts().groups.has(NAME)]).toEqual([0, false]);
      expect(readdirSync(join(lab.base, ".uam-trash"))).toEqual([]);
      await host.removeAccount(stored());
    });

    test("removeAccount() follows no link, and deletes other users' files and trees of any depth", async () => {
      await host.createAccount(stored());
      mkdirSync(victim);
      writeFileSync(join(victim, "file"), "precious\n");
      const before = describeTree(victim);
      symlinkSync(victim, join(lab.home(), "link"));
      mkdirSync(join(lab.home(), "foreign/of/root"), { recursive: true });
      lab.asAccount(
        `mkdir -p closed/inner && chmod 0 closed; cd ${lab.home()} && for i in $(seq 1500); do mkdir d && cd -P d; done`,
      );
      expect(await host.removeAccount(stored())).toEqual(CLOSED);
      expect([existsSync(lab.home()), readdirSync(join(lab.base, ".uam-trash"))]).toEqual([false, []]);
      expect(describeTree(victim)).toBe(before);
      rmSync(victim, { recursive: true });
    });

    test("removeAccount() shuts the account while something is mounted in the home, and the mounted data survives", async () => {
      await host.createAccount(stored());
      mkdirSync(victim);
      mkdirSync(join(lab.home(), "mnt"));
      writeFileSync(join(victim, "file"), "precious\n");
      expect(run("mount", "--bind", victim, join(lab.home(), "mnt"))).toMatchObject({ status: 0 });
      try {
        expect(await host.removeAccount(stored())).toEqual({
          refused: true,
          owed: [expect.stringContaining("is a mount point")],
        });
        expect(await host.presence(stored())).toBe("present");
        expect(shadowOf()).toMatchObject({ expires: 1 });
      } finally {
        run("umount", join(lab.home(), "mnt"));
      }
      expect(await host.removeAccount(stored())).toEqual(CLOSED);
      expect(readFileSync(join(victim, "file"), "utf8")).toBe("precious\n");
      rmSync(victim, { recursive: true });
    });

    test.each([".ssh", ""])(
      "the owner's FUSE mount over their home's %p is detached when access ends",
      async (over) => {
        await host.createAccount(stored());
        await host.writeKeys(stored({ keys: testAccount().keys }));
        await withSilentFuse(join(lab.home(), over), UID, async (mounted) => {
          const begin = performance.now();
          await expect(host.writeKeys(stored())).rejects.toThrow("is a mount point");
          expect(performance.now() - begin).toBeLessThan(HANG);
          expect(await host.shutAccount(stored())).toEqual(CLOSED);
          expect(mounted()).toBe(false);
          expect(readFileSync(lab.keys, "utf8")).toBe("");
        });
        await withSilentFuse(join(lab.home(), over), UID, async () => {
          expect(await host.removeAccount(stored())).toEqual(CLOSED);
          expect(existsSync(lab.home())).toBe(false);
        });
      },
    );

    test("reconcile() repairs what differs, and finds nothing if nothing does", async () => {
      const account = stored({ keys: testAccount().keys });
      await host.createAccount(account);
      await host.writeKeys(account);
      expect(await host.reconcile([account], false)).toEqual([]);
      const text = readFileSync(lab.keys, "utf8");
      lab.asAccount("echo edited > .ssh/authorized_keys; echo ssh-ed25519 AAAA > .ssh/authorized_keys2");
      run("usermod", "-L", "-e", "2030-01-01", "--", NAME);
      run("chage", "-M", "30", "--", NAME);
      const found = await host.reconcile([account], true);
      expect(found.map(({ problem }) => problem.split(":")[0])).toEqual([
        "the account is locked or its expiry date differs",
        "password ageing is on",
        "authorized keys file differs from the stored keys",
        `sshd also reads keys from ${lab.ssh}/authorized_keys2`,
      ]);
      const repaired = await host.reconcile([account], false);
      expect(repaired.every((drift) => drift.repaired)).toBe(true);
      expect(readFileSync(lab.keys, "utf8")).toBe(text);
      expect(readFileSync(join(lab.ssh, "authorized_keys2"), "utf8")).toBe("");
      expect(shadowOf()).toEqual({ password: "*", expires: EXPIRY_DAY, ageing: false });
      expect(await host.reconcile([account, stored({ name: OTHER, uid: UID + 1 })], true)).toMatchObject([
        { account: OTHER, problem: "the account is missing on the host" },
      ]);
    });

    test("reconcile() of several accounts looks at all of them at once, and finds what it finds of each", async () => {
      const accounts = [NAME, OTHER].map((name, index) => stored({ name, uid: UID + index, keys: testAccount().keys }));
      for (const account of accounts) await host.createAccount(account);
      for (const account of accounts) await host.writeKeys(account);
      const warned = async () => (await host.log()).some(({ message }) => message.includes("looked at together"));
      expect(await host.reconcile(accounts, true)).toEqual([]);
      lab.asAccount("echo edited > .ssh/authorized_keys");
      run("usermod", "-e", "2030-01-01", "--", OTHER);
      const found = await host.reconcile(accounts, true);
      expect(found.map(({ account, kind }) => [account, kind])).toEqual([
        [NAME, "key_file"],
        [OTHER, "expiry_date"],
      ]);
      expect(await warned()).toBe(false);
      const rules = lab.rules();
      lab.install(rules.replace(/^.* host look .*\n/m, ""));
      try {
        expect(await host.reconcile(accounts, true)).toEqual(found);
        expect(await warned()).toBe(true);
      } finally {
        lab.install(rules);
      }
    });

    test("an account that somebody took out of our group is shut and revoked as any other, and put back", async () => {
      const account = stored({ keys: testAccount().keys });
      const outside = () => expect(run("usermod", "-G", "", "--", NAME).status).toBe(0);
      const isIn = () => readAccounts().groups.get(GROUP)?.members.has(NAME) === true;
      await host.createAccount(account);
      await host.writeKeys(account);
      outside();
      await expect(host.writeKeys(account)).rejects.toMatchObject({ code: "conflict" });
      expect(await host.takeKey(stored(), account.keys[0]?.fingerprint ?? "")).toEqual({ rewritten: true, owed: [] });
      expect(readFileSync(lab.keys, "utf8")).toBe("");
      outside();
      expect(await host.reconcile([account], true)).toMatchObject([{ kind: "group", repaired: false }]);
      expect(await host.reconcile([account], false)).toMatchObject([{ kind: "group", repaired: true }]);
      expect(await host.reconcile([account], false)).toMatchObject([{ kind: "key_file", repaired: true }]);
      outside();
      expect(await host.shutAccount(account)).toEqual(CLOSED);
      expect([readFileSync(lab.keys, "utf8"), shadowOf(), isIn()]).toMatchObject(["", { expires: 1 }, true]);
      outside();
      expect(await host.removeAccount(account)).toEqual(CLOSED);
      expect([readAccounts().passwd.has(NAME), existsSync(lab.home())]).toEqual([false, false]);
    });

    test("every change refuses an account that is not ours", async () => {
      run("useradd", "-m", "-d", lab.home(), "-u", String(UID + 1), "-U", "--", NAME);
      const before = [readAccounts().passwd.get(NAME), shadowOf(), lstatSync(lab.home()).ctimeMs];
      const takeKey = (it: Account) => host.takeKey(it, "SHA256:x");
      const closings = [host.shutAccount, takeKey, host.removeAccount];
      for (const call of [host.createAccount, host.writeKeys, host.openAccount, ...closings]) {
        await expect(call(stored())).rejects.toMatchObject({ code: "conflict" });
      }
      expect([readAccounts().passwd.get(NAME), shadowOf(), lstatSync(lab.home()).ctimeMs]).toEqual(before);
    });

    test("createAccount() completes what a crash left, and concurrent calls do not collide", async () => {
      await host.createAccount(stored());
      const lines = readFileSync("/etc/shadow", "utf8").split("\n");
      writeFileSync("/etc/shadow", lines.filter((line) => !line.startsWith(`${NAME}:`)).join("\n"));
      await host.createAccount(stored());
      expect(shadowOf()).toEqual({ password: "*", expires: EXPIRY_DAY, ageing: false });
      const accounts = MANY.map((name, index) => stored({ name, uid: UID + 1 + index, keys: testAccount().keys }));
      await Promise.all(accounts.map((account) => host.createAccount(account)));
      await Promise.all(accounts.flatMap((account) => [host.writeKeys(account), host.writeKeys(account)]));
      expect(await host.reconcile(accounts, true)).toEqual([]);
      await Promise.all(accounts.map((account) => host.removeAccount(account)));
      for (const account of accounts) expect(await host.presence(account)).toBe("missing");
    });
  });
});
