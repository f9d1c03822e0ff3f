import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { REVOKED_KEYS, renderSshdDropIn } from "../../src/install/sshd-drop-in.ts";
import type { Account } from "../../src/protocol/host.ts";
import {
  base,
  CLOSED,
  directHost,
  keysPath,
  NAME,
  prepareHost,
  recorded,
  run,
  stored,
  UID,
} from "../support/direct-host.ts";
import { describeOnHost } from "../support/host-account.ts";
import { startSshd, type TestSshd } from "../support/sshd.ts";

describeOnHost("what sshd really reads", () => {
  prepareHost();

  /** An sshd of the test's own, stopped at its end. */
  const withSshd = async (options: readonly string[], work: (server: TestSshd) => Promise<void>): Promise<void> => {
    const server = await startSshd(mkdtempSync(join(base, "sshd-")), options);
    try {
      await work(server);
    } finally {
      server.stop();
    }
  };

  describe("expiry without the service", () => {
    test.each(["no", "yes"])("sshd refuses the key one second after expire_at with UsePAM %s", async (usePam) => {
      await withSshd([`UsePAM ${usePam}`], async (server) => {
        const { path, key } = server.makeKey(1);
        const host = await directHost();
        await host.createAccount(stored());
        // As long as this takes now, and four times as long to be sure.
        const begin = performance.now();
        await host.openAccount(stored({ keys: [key] }));
        expect(server.login(NAME, path)).toBe(true);
        let patience = 2000 + 5 * (performance.now() - begin);
        let expireAt = new Date(0);
        let admitted = false;
        // What came too late on a busy machine says nothing, and is tried again with more time.
        for (; Date.now() >= expireAt.getTime(); patience *= 2) {
          expireAt = new Date(Math.ceil((Date.now() + patience) / 1000) * 1000);
          await host.openAccount(stored({ keys: [key], expireAt }));
          admitted = server.login(NAME, path);
        }
        expect(admitted).toBe(true);
        const text = readFileSync(keysPath(), "utf8");
        await Bun.sleep(expireAt.getTime() + 1000 - Date.now());
        expect(server.login(NAME, path)).toBe(false);
        expect(readFileSync(keysPath(), "utf8")).toBe(text);
      });
    });
  });

  describe("an administrator's key files", () => {
    const withAdminKeys = (work: (server: TestSshd, file: string) => Promise<void>): Promise<void> => {
      const directory = join(base, "admin-keys");
      mkdirSync(directory, { recursive: true });
      return withSshd([`AuthorizedKeysFile .ssh/authorized_keys ${directory}/%u`], async (server) => {
        try {
          await work(server, join(directory, NAME));
        } finally {
          rmSync(directory, { recursive: true });
        }
      });
    };

    test("takeKey() fails while one still contains the revoked key, however it is spelled", async () => {
      await withAdminKeys(async (server, file) => {
        const [first, second] = [server.makeKey(1), server.makeKey(2)];
        const host = await directHost({ tools: { sshdConfig: server.config } });
        await host.createAccount(stored());
        const left = stored({ keys: [second.key] });
        writeFileSync(file, `no-pty,command="true" ${first.key.type}  ${first.key.base64} the same\n`);
        expect(server.login(NAME, first.path)).toBe(true);
        expect(await host.takeKey(left, first.key.fingerprint)).toEqual({
          rewritten: false,
          problem: expect.stringContaining(
            `sshd still reads the revoked key ${first.key.fingerprint} of ${NAME} from ${file}`,
          ),
        });
        writeFileSync(file, `${second.key.type} ${second.key.base64}\n`);
        expect(await host.takeKey(left, first.key.fingerprint)).toEqual({ rewritten: true, owed: [] });
        expect([server.login(NAME, first.path), server.login(NAME, second.path)]).toEqual([false, true]);
      });
    });

    test("takeKey() treats a file that is too long to be searched as one that contains the key", async () => {
      await withAdminKeys(async (server, file) => {
        const { key } = server.makeKey(1);
        const host = await directHost({ tools: { sshdConfig: server.config } });
        await host.createAccount(stored());
        writeFileSync(file, Buffer.alloc(4_194_305, "\n"));
        expect(await host.takeKey(stored(), key.fingerprint)).toEqual({
          rewritten: false,
          problem: expect.stringContaining("is too long to be searched"),
        });
        rmSync(file);
        mkdirSync(file);
        expect(await host.takeKey(stored(), key.fingerprint)).toEqual({ rewritten: true, owed: [] });
      });
    });

    test("shutAccount() shuts the account all the same, and logs what they contain as an error", async () => {
      await withAdminKeys(async (server, file) => {
        const { path, key } = server.makeKey(1);
        const host = await directHost({ tools: { sshdConfig: server.config } });
        await host.createAccount(stored());
        writeFileSync(file, `${key.type} ${key.base64}\n`);
        expect(server.login(NAME, path)).toBe(true);
        expect(await host.shutAccount(stored())).toEqual(CLOSED);
        expect(server.login(NAME, path)).toBe(false);
        const errors = recorded.lines.filter(({ level }) => level === "error").map(({ message }) => message);
        expect(errors).toEqual([expect.stringContaining(`sshd still reads keys of ${NAME} from ${file}`)]);
        expect(readFileSync(file, "utf8")).toContain(key.base64);
      });
    });
  });

  test("shutAccount() moves the owner's second file away when it shuts the account", async () => {
    const host = await directHost();
    await host.createAccount(stored());
    const second = join(base, NAME, ".ssh/authorized_keys2");
    writeFileSync(second, "ssh-ed25519 AAAA\n");
    chownSync(second, UID, UID);
    expect(await host.shutAccount(stored())).toEqual(CLOSED);
    expect(existsSync(second)).toBe(false);
  });

  test("the drop-in's file of revoked keys refuses a key in the account's file, and affects nobody else", async () => {
    const [dropIn, revoked] = [join(base, "50-uam.conf"), join(base, "revoked-keys")];
    writeFileSync(dropIn, renderSshdDropIn("%h/.ssh/authorized_keys", revoked));
    writeFileSync(revoked, REVOKED_KEYS);
    await withSshd([`Include ${dropIn}`], async (server) => {
      const [first, second] = [server.makeKey(1), server.makeKey(2)];
      const logins = () => [server.login(NAME, first.path), server.login(NAME, second.path)];
      const host = await directHost({ tools: { sshdConfig: server.config } });
      await host.createAccount(stored());
      await host.writeKeys(stored({ keys: [first.key, second.key] }));
      expect(logins()).toEqual([true, true]);
      const list = (text: string): void => {
        writeFileSync(`${revoked}.new`, text);
        renameSync(`${revoked}.new`, revoked);
      };
      list(`${REVOKED_KEYS}${first.key.type} ${first.key.base64}\n`);
      expect(logins()).toEqual([false, true]);
      // Nobody else is affected: not by what is listed, and not by a file that is no list of keys.
      const other = `${NAME}-other`.replace("ext_", "");
      expect(run("useradd", "-m", "-d", join(base, other), "-p", "*", "--", other)).toMatchObject({ status: 0 });
      try {
        const line = `${first.key.type} ${first.key.base64}\n`;
        mkdirSync(join(base, other, ".ssh"), { mode: 0o700 });
        writeFileSync(join(base, other, ".ssh/authorized_keys"), line, { mode: 0o600 });
        expect(run("chown", "-R", `${other}:`, join(base, other))).toMatchObject({ status: 0 });
        expect(server.login(other, first.path)).toBe(true);
        list("not a list of keys\n");
        expect([...logins(), server.login(other, first.path)]).toEqual([false, false, true]);
      } finally {
        run("userdel", "-r", "--", other);
      }
      list("");
      expect(logins()).toEqual([true, true]);
      rmSync(revoked);
      expect(logins()).toEqual([false, false]);
    });
  });

  describe("a layout outside the homes", () => {
    test("upload opens, revocation, disabling and deletion shut real logins, whatever is in the home", async () => {
      const directory = join(base, "keys");
      mkdirSync(directory);
      chmodSync(directory, 0o755);
      const authorizedKeysFile = `${directory}/%u/authorized_keys`;
      await withSshd([`AuthorizedKeysFile ${authorizedKeysFile}`], async (server) => {
        const [first, second] = [server.makeKey(1), server.makeKey(2)];
        const logins = () => [server.login(NAME, first.path), server.login(NAME, second.path)];
        const host = await directHost({ authorizedKeysFile, tools: { sshdConfig: server.config } });
        const both = stored({ keys: [first.key, second.key] });
        const left: Account = { ...both, keys: [second.key] };
        await host.createAccount(both);
        mkdirSync(join(base, NAME, ".ssh"));
        writeFileSync(keysPath(), `${first.key.type} ${first.key.base64}\n`);
        expect(logins()).toEqual([false, false]);
        await host.writeKeys(both);
        expect(logins()).toEqual([true, true]);
        expect(await host.takeKey(left, first.key.fingerprint)).toEqual({ rewritten: true, owed: [] });
        expect(logins()).toEqual([false, true]);
        expect(await host.reconcile([left], true)).toEqual([]);
        // Not owned by the account: it may read, so that sshd can as the account, but put nothing back.
        for (const [path, mode] of [
          [join(directory, NAME), 0o750],
          [join(directory, NAME, "authorized_keys"), 0o640],
        ] as const) {
          const stat = lstatSync(path);
          expect([stat.uid, stat.gid, stat.mode & 0o7777]).toEqual([0, UID, mode]);
        }
        expect(await host.shutAccount(left)).toEqual(CLOSED);
        expect(logins()).toEqual([false, false]);
        await host.openAccount(left);
        expect(logins()).toEqual([false, true]);
        expect(await host.removeAccount(left)).toEqual(CLOSED);
        expect([readdirSync(directory), readdirSync(join(directory, ".uam-trash"))]).toEqual([[".uam-trash"], []]);
        expect(existsSync(join(base, NAME))).toBe(false);
        expect(logins()).toEqual([false, false]);
      });
    });
  });
});
