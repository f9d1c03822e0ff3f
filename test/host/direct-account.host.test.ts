import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { readAccounts } from "../../src/host/account.ts";
import type { Account } from "../../src/protocol/host.ts";
import type { LogLevel } from "../../src/shared/log.ts";
import { editAccounts, whileAccountsAreLocked } from "../support/account-files.ts";
import {
  base,
  CLOSED,
  directHost,
  EXPIRY_DAY,
  GROUP,
  keysPath,
  MANY,
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
import { describeOnHost, testAccount } from "../support/host-account.ts";
import { startHostWithout } from "../support/host-client.ts";
import { withSilentFuse } from "../support/silent-fuse.ts";
import { until } from "../support/until.ts";

/** Of the default range of uids, which is beyond what login.defs(5) gives to others. */
const HIGH = 65_600 + 30_000 + (UID % 1000);
const OTHER_GROUP = "tother-group";
const PERSON = "tperson";

describeOnHost("accounts in direct mode", () => {
  prepareHost();

  describe("planned", () => {
    test("planned() tells what shutting and removing would run, and leaves host and processes as they are", async () => {
      const host = await directHost();
      await host.createAccount(stored());
      await host.openAccount(stored());
      startAs(UID, "/usr/bin/sleep", "300");
      await until(() => running() > 0);
      const state = () => ({
        files: ["/etc/passwd", "/etc/shadow", "/etc/group", keysPath()].map((path) => [
          readFileSync(path, "utf8"),
          lstatSync(path).ino,
          lstatSync(path).ctimeMs,
        ]),
        home: readdirSync(join(base, NAME)),
        processes: running(),
      });
      const before = state();
      const planned = await host.planned(async (planner) => {
        await planner.shutAccount(stored());
        await planner.removeAccount(stored());
        await planner.openAccount(stored());
      });
      expect(planned).toContain(`would run: /usr/sbin/usermod -e 1 -- ${NAME}`);
      expect(planned).toContain(`would run: /usr/sbin/userdel -- ${NAME}`);
      expect(planned.some((line) => line.startsWith(`would write: path="${keysPath()}"`))).toBe(true);
      expect(state()).toEqual(before);
    });
  });

  describe("createAccount", () => {
    test("createAccount() creates the account with all its properties", async () => {
      const host = await directHost();
      await host.createAccount(stored());
      const { passwd, groups } = readAccounts();
      expect(passwd.get(NAME)).toEqual({ name: NAME, uid: UID, gid: UID, home: join(base, NAME) });
      expect(groups.get(GROUP)?.members.has(NAME)).toBe(true);
      expect(shadow()).toEqual({ password: "*", expires: EXPIRY_DAY, ageing: false });
      const home = lstatSync(join(base, NAME));
      expect([home.uid, home.gid, home.mode & 0o7777]).toEqual([UID, UID, 0o700]);
      expect(readFileSync(keysPath(), "utf8")).toBe("");
      for (const file of ["/etc/subuid", "/etc/subgid"]) {
        if (existsSync(file)) expect(readFileSync(file, "utf8")).not.toContain(NAME);
      }
      expect(await host.presence(stored())).toBe("present");
      expect([await host.nameTaken(NAME), await host.uidTaken(UID), await host.nameTaken("ext_tnobody")]).toEqual([
        true,
        true,
        false,
      ]);
    });

    test("createAccount() gives the account's group the same number, also beyond GID_MAX, and nothing where that is taken", async () => {
      const host = await directHost();
      expect(HIGH).toBeGreaterThan(60_000);
      await host.createAccount(stored({ uid: HIGH }));
      expect(readAccounts().passwd.get(NAME)).toMatchObject({ uid: HIGH, gid: HIGH });
      expect(readAccounts().groups.get(NAME)?.gid).toBe(HIGH);
      expect(await host.removeAccount(stored({ uid: HIGH }))).toEqual(CLOSED);
      expect(readAccounts().groups.has(NAME)).toBe(false);
      expect(await host.uidTaken(HIGH)).toBe(false);
      expect(run("groupadd", "-g", String(HIGH), OTHER_GROUP).status).toBe(0);
      try {
        expect(await host.uidTaken(HIGH)).toBe(true);
        await expect(host.createAccount(stored({ uid: HIGH }))).rejects.toThrow(/group/);
        expect([readAccounts().passwd.has(NAME), existsSync(join(base, NAME))]).toEqual([false, false]);
      } finally {
        run("groupdel", OTHER_GROUP);
      }
    });

    test("createAccount() takes numbers that useradd and groupadd give to nobody else once they are free", async () => {
      const host = await directHost();
      await host.createAccount(stored({ uid: HIGH }));
      expect(await host.removeAccount(stored({ uid: HIGH }))).toEqual(CLOSED);
      try {
        expect(run("useradd", "-M", "-U", PERSON).status).toBe(0);
        const { uid = 0, gid = 0 } = readAccounts().passwd.get(PERSON) ?? {};
        expect([uid, gid].every((id) => id >= 1000 && id <= 60_000)).toBe(true);
      } finally {
        run("userdel", PERSON);
      }
    });

    test("createAccount() does nothing when it is called again", async () => {
      const host = await directHost();
      await host.createAccount(stored());
      const inode = lstatSync(join(base, NAME)).ino;
      await host.createAccount(stored());
      expect(lstatSync(join(base, NAME)).ino).toBe(inode);
    });

    test("createAccount() refuses a home that exists, and does not adopt it", async () => {
      mkdirSync(join(base, NAME));
      writeFileSync(join(base, NAME, "old"), "old\n");
      const host = await directHost();
      expect(await host.nameTaken(NAME)).toBe(true);
      await expect(host.createAccount(stored())).rejects.toMatchObject({ code: "conflict" });
      expect(readAccounts().passwd.has(NAME)).toBe(false);
      expect(readFileSync(join(base, NAME, "old"), "utf8")).toBe("old\n");
    });

    test.each([
      ["without shadow entry", (): void => editAccounts("shadow", `/^${NAME}:/d`)],
      ["without its group", (): void => editAccounts("group", `/^${NAME}:/d; /^${GROUP}:/s/${NAME}//`)],
      ["without home", (): void => rmSync(join(base, NAME), { recursive: true })],
      ["with a home that is still root's", (): void => chownSync(join(base, NAME), 0, 0)],
    ])("createAccount() completes an account that a crash left %s", async (_, crash) => {
      const host = await directHost();
      await host.createAccount(stored());
      crash();
      await host.createAccount(stored());
      expect(shadow()).toEqual({ password: "*", expires: EXPIRY_DAY, ageing: false });
      expect(readAccounts().groups.get(GROUP)?.members.has(NAME)).toBe(true);
      expect(readAccounts().groups.has(NAME)).toBe(true);
      expect(lstatSync(join(base, NAME)).uid).toBe(UID);
      expect(await host.reconcile([stored()], true)).toEqual([]);
    });

    test("createAccount() serialises concurrent creations", async () => {
      const host = await directHost();
      const accounts = MANY.map((name, index) => stored({ name, uid: UID + 1 + index }));
      await Promise.all(accounts.map((account) => host.createAccount(account)));
      for (const account of accounts) expect(await host.presence(account)).toBe("present");
      await Promise.all(accounts.map((account) => host.removeAccount(account)));
      for (const account of accounts) expect(await host.presence(account)).toBe("missing");
    });

    test("createAccount() names the holder of another tool's lock, and what to do about a stale one", async () => {
      const host = await directHost();
      await whileAccountsAreLocked(String(process.pid), async () => {
        await expect(host.createAccount(stored())).rejects.toThrow(`held by process ${process.pid}`);
      });
      await whileAccountsAreLocked("", async () => {
        await expect(host.createAccount(stored())).rejects.toThrow("left over from a crash");
      });
      await host.createAccount(stored());
      expect(await host.presence(stored())).toBe("present");
    });
  });

  describe("only ours", () => {
    const stateOf = () => [readAccounts().passwd.get(NAME), shadow(), lstatSync(join(base, NAME)).ctimeMs];

    test("every change refuses an account with another uid, and changes nothing", async () => {
      run("useradd", "-m", "-d", join(base, NAME), "-u", String(UID), "-U", "--", NAME);
      const before = stateOf();
      const host = await directHost();
      for (const account of [stored({ uid: UID + 1 })]) {
        expect(await host.presence(account)).toBe("foreign");
        const calls = [
          ...[host.createAccount, host.writeKeys, host.openAccount, host.shutAccount, host.removeAccount],
          (it: Account) => host.takeKey(it, "SHA256:x"),
        ];
        for (const call of calls) await expect(call(account)).rejects.toMatchObject({ code: "conflict" });
        expect(await host.reconcile([account], false)).toMatchObject([
          { account: NAME, kind: "foreign", repaired: false },
        ]);
      }
      expect(stateOf()).toEqual(before);
    });

    describe("an account that somebody took out of our group", () => {
      const outside = () => expect(run("usermod", "-G", "", "--", NAME).status).toBe(0);
      const isIn = () => readAccounts().groups.get(GROUP)?.members.has(NAME) === true;
      async function opened() {
        const host = await directHost();
        const account = stored({ keys: testAccount().keys });
        await host.createAccount(account);
        await host.openAccount(account);
        outside();
        return { host, account };
      }

      test("is present, and shut, revoked and narrowed as any other", async () => {
        const { host, account } = await opened();
        expect([await host.presence(account), await host.lacking(account)]).toEqual(["present", "group"]);
        startAs(UID, "/usr/bin/sleep", "300");
        await until(() => running() > 0);
        expect(await host.shutAccount(account)).toEqual(CLOSED);
        expect([running(), readFileSync(keysPath(), "utf8")]).toEqual([0, ""]);
        expect(shadow()).toMatchObject({ expires: 1 });
        const taken = await host.takeKey(stored(), account.keys[0]?.fingerprint ?? "");
        expect(taken).toEqual({ rewritten: true, owed: [] });
        expect(await host.narrowKeys(stored())).toEqual([]);
      });

      test("is removed as any other", async () => {
        const { host, account } = await opened();
        expect(await host.removeAccount(account)).toEqual(CLOSED);
        expect([await host.presence(account), existsSync(join(base, NAME))]).toEqual(["missing", false]);
      });

      test("is given nothing until reconciling has put it back, which says so; also where the group is gone", async () => {
        const { host, account } = await opened();
        const refusal = { code: "conflict", reason: "account.group" };
        await expect(host.openAccount(account)).rejects.toMatchObject(refusal);
        await expect(host.writeKeys(account)).rejects.toMatchObject(refusal);
        run("groupdel", GROUP);
        expect(await host.reconcile([account], true)).toMatchObject([{ kind: "group", repaired: false }]);
        expect(isIn()).toBe(false);
        expect(await host.reconcile([account], false)).toMatchObject([{ kind: "group", repaired: true }]);
        expect([isIn(), await host.lacking(account)]).toEqual([true, undefined]);
        await host.openAccount(account);
        outside();
        await host.shutAccount(account);
        expect(await host.reconcile([stored({ open: false })], false)).toMatchObject([
          { kind: "group", repaired: true },
        ]);
        expect([isIn(), shadow()]).toMatchObject([true, { expires: 1 }]);
      });

      test("is shut whoever shares its uid", async () => {
        const { host, account } = await opened();
        const [other = ""] = MANY;
        run("useradd", "-o", "-M", "-u", String(UID), "--", other);
        expect(await host.shutAccount(account)).toEqual(CLOSED);
        expect(shadow()).toMatchObject({ expires: 1 });
      });
    });

    test("foreignKeys() names what sshd reads for who has our name or uid, and nothing for ours", async () => {
      const host = await directHost();
      const account = stored({ keys: testAccount().keys });
      expect(await host.foreignKeys(account)).toEqual([]);
      await host.createAccount(account);
      await host.openAccount(account);
      expect(await host.foreignKeys(account)).toEqual([]);
      run("usermod", "-u", String(UID + 1), "--", NAME);
      const sentence = `sshd reads keys of ${NAME} from ${keysPath()}`;
      expect(await host.foreignKeys(account)).toEqual([sentence]);
      writeFileSync(keysPath(), "");
      expect(await host.foreignKeys(account)).toEqual([]);
      // What is not looked at may hold a key.
      rmSync(keysPath());
      symlinkSync("/etc/passwd", keysPath());
      expect(await host.foreignKeys(account)).toEqual([sentence]);
    });

    test("changes to a missing account are refused, its removal is not", async () => {
      const host = await directHost();
      await expect(host.writeKeys(stored())).rejects.toThrow("is missing on the host");
      await expect(host.openAccount(stored())).rejects.toMatchObject({ code: "conflict" });
      await expect(host.shutAccount(stored())).rejects.toMatchObject({ code: "conflict" });
      await expect(host.takeKey(stored(), "SHA256:x")).rejects.toMatchObject({ code: "conflict" });
      expect(await host.removeAccount(stored())).toEqual(CLOSED);
    });
  });

  describe("removeAccount", () => {
    test("removeAccount() removes processes, jobs, mail, home and account", async () => {
      const host = await directHost();
      await host.createAccount(stored());
      writeFileSync(`/var/mail/${NAME}`, "mail\n");
      startAs(UID, "/usr/bin/sleep", "300");
      await until(() => running() > 0);
      expect(await host.removeAccount(stored())).toEqual(CLOSED);
      expect(await host.presence(stored())).toBe("missing");
      expect(readAccounts().groups.has(NAME)).toBe(false);
      expect([existsSync(join(base, NAME)), existsSync(`/var/mail/${NAME}`), running()]).toEqual([false, false, 0]);
      expect(readdirSync(join(base, ".uam-trash"))).toEqual([]);
      expect(await host.nameTaken(NAME)).toBe(false);
      await host.removeAccount(stored());
    });

    test("removeAccount() also removes the home of an account that an administrator removed", async () => {
      const host = await directHost();
      await host.createAccount(stored());
      run("userdel", "--", NAME);
      expect(await host.removeAccount(stored())).toEqual(CLOSED);
      expect(existsSync(join(base, NAME))).toBe(false);
    });

    test("removeAccount() follows no link and deletes a tree of any depth", async () => {
      const host = await directHost();
      await host.createAccount(stored());
      const victim = join(base, "victim");
      mkdirSync(victim);
      writeFileSync(join(victim, "file"), "precious\n");
      symlinkSync(victim, join(base, NAME, "link"));
      const deep = "import os\nfor i in range(2500):\n  os.mkdir('d')\n  os.chdir('d')\n";
      const script = `i=0; while [ $i -lt 2500 ]; do mkdir d && cd -P d || exit 1; i=$((i+1)); done`;
      // dash keeps no path for `cd -P .`; python, if there is one, is faster.
      const made = spawnSync("python3", ["-c", deep], { cwd: join(base, NAME) }).status === 0;
      if (!made) spawnSync("/bin/sh", ["-c", script], { cwd: join(base, NAME) });
      await host.removeAccount(stored());
      expect(existsSync(join(base, NAME))).toBe(false);
      expect(readdirSync(join(base, ".uam-trash"))).toEqual([]);
      expect(readFileSync(join(victim, "file"), "utf8")).toBe("precious\n");
      rmSync(victim, { recursive: true });
    });

    test("removeAccount() shuts the account while something is mounted in the home, and the mounted data survives", async () => {
      const host = await directHost();
      await host.createAccount(stored());
      const victim = join(base, "victim");
      const point = join(base, NAME, "mnt");
      mkdirSync(victim);
      mkdirSync(point);
      writeFileSync(join(victim, "file"), "precious\n");
      const mounted = run("mount", "--bind", victim, point).status === 0;
      if (mounted) {
        expect(await host.removeAccount(stored())).toEqual({
          refused: true,
          owed: [expect.stringContaining(`${point} is a mount point`)],
        });
        expect(await host.presence(stored())).toBe("present");
        expect(shadow()).toMatchObject({ expires: 1 });
        run("umount", point);
      }
      expect(await host.removeAccount(stored())).toEqual(CLOSED);
      expect(await host.presence(stored())).toBe("missing");
      expect(readFileSync(join(victim, "file"), "utf8")).toBe("precious\n");
      rmSync(victim, { recursive: true });
    });

    test("removeAccount() copes with its owner's own FUSE mount", async () => {
      const host = await directHost();
      await host.createAccount(stored());
      mkdirSync(join(base, NAME, "mnt"));
      await withSilentFuse(join(base, NAME, "mnt"), UID, async () => {
        await host.removeAccount(stored());
        expect(await host.presence(stored())).toBe("missing");
        expect([existsSync(join(base, NAME)), readdirSync(join(base, ".uam-trash"))]).toEqual([false, []]);
      });
    });

    test("reconcile() deletes what an earlier removal could not", async () => {
      const host = await directHost();
      await host.createAccount(stored());
      const file = join(base, NAME, "immutable");
      writeFileSync(file, "x");
      if (run("chattr", "+i", file).status !== 0) return;
      const weak = startHostWithout(["linux_immutable"], {
        ...{ mode: "direct", homeBase: base, markerGroup: GROUP, tools: { sshdConfig: sshd.config } },
      });
      const closing = await weak.removeAccount(stored());
      expect(await host.presence(stored())).toBe("missing");
      const [left = ""] = readdirSync(join(base, ".uam-trash"));
      const place = join(base, ".uam-trash", left);
      const sentence = `${place} could not be removed completely: ${place}/immutable: Operation not permitted`;
      expect(closing).toEqual({ refused: true, owed: [sentence] });
      // Found again by its name, and owed as long as it is there.
      expect(await weak.removeAccount(stored())).toEqual({ refused: true, owed: [sentence] });
      expect(await weak.reconcile([], false)).toEqual([
        { account: "", kind: "trash", problem: sentence, repaired: false },
      ]);
      expect((await weak.log()).some((line) => line.level === ("error" satisfies LogLevel))).toBe(true);
      weak.stop();
      expect(await host.reconcile([], true)).toMatchObject([{ kind: "trash", repaired: false }]);
      expect(await host.reconcile([], false)).toEqual([]);
      expect(readdirSync(join(base, ".uam-trash"))).toEqual([]);
    });
  });
});
