/** Taking access away in sudo mode: once a closing has returned, no key that it took away logs in. */

import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { whileAccountsAreLocked } from "../support/account-files.ts";
import { hasFuse, withHeldMount } from "../support/holding-fuse.ts";
import { describeOnHost } from "../support/host-account.ts";
import type { RemoteHost } from "../support/host-client.ts";
import { startSshd, type TestSshd } from "../support/sshd.ts";
import {
  CLOSED,
  createSudoLab,
  NAME,
  run,
  running,
  type SudoLab,
  shadowOf,
  startAs,
  stored,
  UID,
} from "../support/sudo-lab.ts";
import { until } from "../support/until.ts";

// Real commands and logins, on machines that may be busy with other tests.
setDefaultTimeout(180_000);

let lab: SudoLab;
let directory: string;
let sshd: TestSshd;
let host: RemoteHost;
let keys = 0;

describeOnHost("closings in sudo mode", () => {
  beforeAll(async () => {
    lab = createSudoLab();
    // Not in the base, over which another file system is mounted.
    directory = mkdtempSync("/var/lib/uam-test-closing-");
    sshd = await startSshd(directory, ["UsePAM yes"]);
    host = lab.startHost();
  });
  afterEach(() => lab.cleanUp());
  afterAll(() => {
    host?.stop();
    sshd?.stop();
    lab?.remove();
    rmSync(directory, { recursive: true });
  });

  /** An open account with two keys that log in. */
  const prepared = async (on = host) => {
    const [first, second] = [sshd.makeKey(++keys), sshd.makeKey(++keys)];
    const open = stored({ keys: [first.key, second.key] });
    await on.createAccount(open);
    await on.openAccount(open);
    const logins = () => [sshd.login(NAME, first.path), sshd.login(NAME, second.path)];
    expect(logins()).toEqual([true, true]);
    return { open, left: { ...open, keys: [second.key] }, revoked: first.key.fingerprint, logins };
  };

  test("an immutable key file prevents no closing, and is named", async () => {
    const { open, left, revoked, logins } = await prepared();
    expect(run("chattr", "+i", lab.keys).status).toBe(0);
    try {
      expect(await host.takeKey(left, revoked)).toEqual({
        rewritten: false,
        problem: expect.stringContaining(`Cannot write ${lab.keys} for ${NAME}`),
      });
      expect(await host.shutAccount(open)).toEqual({
        refused: true,
        owed: [expect.stringContaining(`Cannot write ${lab.keys} for ${NAME}`)],
      });
      expect(logins()).toEqual([false, false]);
      expect(await host.removeAccount(open)).toEqual({
        refused: true,
        owed: [expect.stringMatching(/could not be removed completely: .*authorized_keys: Operation not permitted$/)],
      });
      expect([await host.presence(open), existsSync(lab.home())]).toEqual(["missing", false]);
    } finally {
      if (existsSync(lab.keys)) run("chattr", "-i", lab.keys);
      run("chattr", "-R", "-i", join(lab.base, ".uam-trash"));
    }
    expect(await host.removeAccount(open)).toEqual(CLOSED);
  });

  test("a file system without a free inode, and a second name for the key file, prevent no closing", async () => {
    expect(run("mount", "-t", "tmpfs", "-o", "mode=755,nr_inodes=64", "tmpfs", lab.base).status).toBe(0);
    const service = lab.startHost();
    const exhaust = (): void => {
      linkSync(lab.keys, join(lab.ssh, "x"));
      lab.asAccount("for i in $(seq 100); do touch f$i 2>/dev/null || exit 0; done; exit 9");
    };
    try {
      const { open, left, revoked, logins } = await prepared(service);
      exhaust();
      // install(1) removes the file before it creates the new one: there is no room for the key that stays.
      expect(await service.takeKey(left, revoked)).toMatchObject({ rewritten: true });
      expect(logins()[0]).toBe(false);
      expect(await service.shutAccount(open)).toEqual(CLOSED);
      expect(logins()).toEqual([false, false]);
      expect(await service.removeAccount(open)).toEqual(CLOSED);
      expect([await host.presence(open), existsSync(lab.home())]).toEqual(["missing", false]);
    } finally {
      service.stop();
      run("umount", "-l", lab.base);
    }
  });

  test.if(hasFuse)("a mount whose name is not text prevents only the removal of the home", async () => {
    const { open, logins } = await prepared();
    const path = Buffer.concat([Buffer.from(join(lab.home(), "m")), Buffer.from([0xff])]);
    await withHeldMount({ path, mounter: UID, server: UID }, async () => {
      expect(await host.shutAccount(open)).toMatchObject({ refused: true });
      expect(logins()).toEqual([false, false]);
      expect(await host.removeAccount(open)).toMatchObject({ refused: true });
      expect(logins()).toEqual([false, false]);
    });
    expect(await host.removeAccount(open)).toEqual(CLOSED);
  });

  test("removeAccount() leaves the account shut while the account tools refuse, and finishes later", async () => {
    const { open, logins } = await prepared();
    await whileAccountsAreLocked(String(process.pid), async () => {
      expect(await host.removeAccount(open)).toEqual({
        refused: true,
        owed: [expect.stringContaining("usermod refused"), expect.stringContaining("userdel refused")],
      });
      expect(logins()).toEqual([false, false]);
    });
    const drifts = await host.reconcile([{ ...open, open: false }], false);
    expect(drifts.map(({ kind, repaired }) => [kind, repaired])).toEqual([["expiry_date", true]]);
    expect(shadowOf()).toMatchObject({ expires: 1 });
    expect(await host.removeAccount(open)).toEqual(CLOSED);
    expect(await host.presence(open)).toBe("missing");
  });

  describe("a key that comes back", () => {
    test.each(["authorized_keys", "authorized_keys2"])("reconcile() ends what puts it back into %s", async (file) => {
      const { path, key } = sshd.makeKey(++keys);
      await host.createAccount(stored());
      const line = `${key.type} ${key.base64}`;
      const crontab = `/var/spool/cron/crontabs/${NAME}`;
      mkdirSync("/var/spool/cron/crontabs", { recursive: true });
      writeFileSync(crontab, `* * * * * echo '${line}' >> ${lab.ssh}/${file}\n`);
      run("chown", String(UID), crontab);
      startAs(UID, "/bin/sh", "-c", `cd ${lab.ssh}; while :; do echo '${line}' >> ${file}; sleep 0.5; done`);
      await until(() => existsSync(join(lab.ssh, file)) && readFileSync(join(lab.ssh, file), "utf8") !== "");
      expect(sshd.login(NAME, path)).toBe(true);
      expect(await host.reconcile([stored()], true)).toMatchObject([{ kind: "key_added", repaired: false }]);
      expect(await host.reconcile([stored()], false)).toMatchObject([{ kind: "key_added", repaired: true }]);
      expect([running(), existsSync(crontab)]).toEqual([0, false]);
      await Bun.sleep(700);
      expect(sshd.login(NAME, path)).toBe(false);
      expect(await host.reconcile([stored()], true)).toEqual([]);
    });
  });
});
