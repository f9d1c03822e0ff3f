/** uam user adopt on real accounts that somebody else made. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { createTestCli, type TestCli } from "../../../support/cli.ts";
import { describeOnHost } from "../../../support/host-account.ts";
import { startSshd, type TestSshd } from "../../../support/sshd.ts";

const NAME = "uamtadopt";
const OTHER = "uamtother";
const RENAMED = `ext_${NAME}`;
const UID = 45_801;
const PASSWORD = "$6$uamt$Uza4ijVNmoWXbFtV4Cwg4AT4iKZ0P5zzsfCIDdrE6iT8qU8HlSQ0kVQoWzX0mfAn3nN0iYvZXqzE9ewAdRzT/0";

function run(command: string, ...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8" });
  return { status, stdout, stderr };
}

describeOnHost("uam user adopt", () => {
  setDefaultTimeout(180_000);
  let cli: TestCli;
  let base: string;
  let keys: readonly string[];
  let sshd: TestSshd;
  beforeAll(async () => {
    base = mkdtempSync("/var/lib/uam-tadopt-");
    run("/bin/chmod", "755", base);
    cli = await createTestCli({ UAM_HOST_MODE: "direct", UAM_UID_RANGE: "78800-78899", UAM_HOME_BASE: base });
    sshd = await startSshd(base);
    keys = [0, 1].map((index) => {
      const path = join(base, `key${index}`);
      run("/usr/bin/ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", `laptop ${index}`, "-f", path);
      return readFileSync(`${path}.pub`, "utf8").trim();
    });
  });
  beforeEach(() => {
    removeAccounts();
    make(NAME, UID);
  });
  afterEach(removeAccounts);
  afterAll(async () => {
    sshd?.stop();
    await cli?.close();
    rmSync(base, { recursive: true, force: true });
  });

  function make(name: string, uid: number): void {
    const args = ["-m", "-U", "-u", String(uid), "-d", join(base, name), "-s", "/bin/bash", "-p", PASSWORD, name];
    const made = run("/usr/sbin/useradd", ...args);
    if (made.status !== 0) throw new Error(made.stderr);
  }

  function removeAccounts(): void {
    for (const uid of [UID, UID + 1]) run("/usr/bin/pkill", "-KILL", "-U", String(uid));
    for (const name of [NAME, OTHER, RENAMED, `ext_${OTHER}`]) {
      run("/usr/sbin/userdel", "-f", name);
      run("/usr/sbin/groupdel", name);
      rmSync(join(base, name), { recursive: true, force: true });
    }
  }

  /** A file of the account's, as its owner makes it. */
  function give(path: string, text: string, name = NAME, uid = UID): void {
    const whole = join(base, name, path);
    for (const part of path.split("/").slice(0, -1)) {
      const directory = join(base, name, part);
      if (!existsSync(directory)) mkdirSync(directory, { mode: 0o700 });
      chownSync(directory, uid, uid);
    }
    writeFileSync(whole, text, { mode: 0o600 });
    chownSync(whole, uid, uid);
  }

  const passwd = () => readFileSync("/etc/passwd", "utf8");
  const look = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await cli.run(["user", "adopt", ...args, "--json"]);
    return { code, stderr, ...JSON.parse(stdout === "" ? "{}" : stdout) };
  };

  describe("without --yes", () => {
    test("shows keys with their comments, other ways in and the effects, and changes nothing", async () => {
      give(".ssh/authorized_keys", `from="10.0.0.0/8",command="x" ${keys[0]}\n# ${keys[1]}\nssh-dss AAAA x\n`);
      give(".ssh/authorized_keys2", `${keys[1]}\n`);
      give(".rhosts", "+ +\n");
      const before = [passwd(), readFileSync("/etc/shadow", "utf8"), readFileSync("/etc/group", "utf8")];
      const { keys: found, ...seen } = await look(NAME);
      expect(seen).toMatchObject({
        code: 0,
        account: NAME,
        username: NAME,
        uid: UID,
        password: "set",
        groups: [],
        obstacles: [],
      });
      expect(found).toMatchObject([
        {
          path: join(base, NAME, ".ssh/authorized_keys"),
          options: 'from="10.0.0.0/8",command="x"',
          comment: "laptop 0",
          refusal: null,
        },
        { path: join(base, NAME, ".ssh/authorized_keys2"), comment: "laptop 1", refusal: null },
      ]);
      expect(seen.other_ways).toContain(`There is ${join(base, NAME, ".rhosts")}`);
      expect(seen.effects[0]).toBe(`The account is renamed: ${NAME} becomes ${RENAMED}, and logs in by that name`);
      expect(seen.effects).toContain("None of the 2 keys counts until an administrator confirms it");
      const text = await cli.run(["user", "adopt", NAME]);
      expect(text).toMatchObject({ code: 0, stderr: "" });
      expect(text.stdout).toContain("As a user's:\n");
      expect([passwd(), readFileSync("/etc/shadow", "utf8"), readFileSync("/etc/group", "utf8")]).toEqual(before);
      expect((await cli.json(["audit", "list"])).total).toBe(0);
    });

    test("follows no link, waits for no FIFO and reads no huge file of the account's", async () => {
      const home = join(base, NAME);
      mkdirSync(join(home, ".ssh"));
      symlinkSync("/etc/shadow", join(home, ".ssh/authorized_keys"));
      run("/usr/bin/mkfifo", join(home, ".ssh/authorized_keys2"));
      expect(await look(NAME)).toMatchObject({
        code: 0,
        keys: [],
        key_files: [
          { path: join(home, ".ssh/authorized_keys"), keys: 0, problem: "is a link" },
          { path: join(home, ".ssh/authorized_keys2"), keys: 0, problem: null },
        ],
      });
      rmSync(join(home, ".ssh"), { recursive: true });
      give(".ssh/authorized_keys", "");
      run("/usr/bin/truncate", "-s", "1T", join(home, ".ssh/authorized_keys"));
      expect((await look(NAME)).key_files[0]).toMatchObject({ keys: 0, problem: "is too long to be searched" });
    });

    test("a comment of the owner's does not drive the terminal", async () => {
      give(".ssh/authorized_keys", `${(keys[0] ?? "").split(" ").slice(0, 2).join(" ")} \u001b[2J\u202e\n`);
      const { stdout } = await cli.run(["user", "adopt", NAME]);
      expect(stdout).not.toMatch(/[\u001b\u202e]/);
    });

    test("refuses system accounts, root, users of the service, the operator, and what shares a uid, home or group", async () => {
      const obstacles = async (...args: readonly string[]) => {
        const { code, obstacles } = await look(...args);
        expect(code).toBe(1);
        return obstacles as readonly string[];
      };
      expect(await obstacles("root")).toContain("root is an account of the system (uid 0)");
      expect(await obstacles("daemon")).toContain("daemon is an account of the system (uid 1)");
      expect(await obstacles("nobody")).toContain("nobody is an account of the system (uid 65534)");
      const own = await cli.run(["user", "adopt", NAME, "--json"], { operator: NAME });
      expect(JSON.parse(own.stdout).obstacles).toEqual([`${NAME} is your own account: somebody else has to do this`]);
      make(OTHER, UID + 1);
      run("/usr/sbin/usermod", "-o", "-u", String(UID), OTHER);
      expect(await obstacles(NAME)).toContain(`${OTHER} has the same uid ${UID}`);
      run("/usr/sbin/usermod", "-u", String(UID + 1), OTHER);
      run("/usr/sbin/usermod", "-d", join(base, NAME), "-g", NAME, OTHER);
      const shared = await obstacles(NAME);
      expect(shared).toContain(`${OTHER} has the same home ${join(base, NAME)}`);
      expect(shared.some((it) => it.startsWith(`${NAME} has no group of its own, or shares it.`))).toBe(true);
      expect(await cli.run(["user", "create", "tadoptee", "--email", "t@example.org"])).toMatchObject({ code: 0 });
      expect((await obstacles("ext_tadoptee"))[0]).toMatch(/which only this service gives/);
      expect(await obstacles(NAME, "--username", "tadoptee")).toContain(
        "The username tadoptee is taken: give another with --username",
      );
      expect(await cli.run(["user", "delete", "tadoptee", "--yes"])).toMatchObject({ code: 0 });
      expect((await cli.run(["user", "adopt", "uamtnobody"])).stderr).toBe(
        "uam: This host has no account uamtnobody\n",
      );
      expect((await cli.run(["user", "adopt", NAME], { isRoot: false })).code).toBe(1);
    });
  });

  describe("with --yes", () => {
    const shadowOf = (name: string) =>
      (
        readFileSync("/etc/shadow", "utf8")
          .split("\n")
          .find((line) => line.startsWith(`${name}:`)) ?? ""
      ).split(":");
    const groupsOf = (name: string) => run("/usr/bin/id", "-Gn", name).stdout.trim().split(" ").sort();
    const adopt = (...args: readonly string[]) =>
      cli.run(["user", "adopt", NAME, "--email", "t@example.org", "--yes", ...args]);
    const record = () => join(cli.dataDir, "adopted", `${UID}.json`);
    const fileOf = (path: string) => readFileSync(join(base, path), "utf8");
    const uidOf = (name: string) => run("/usr/bin/id", "-u", name).stdout.trim();

    /** All that giving it back has to restore. */
    function state(name = NAME) {
      const passwdLine = passwd()
        .split("\n")
        .find((line) => line.startsWith(`${name}:`));
      const { uid, gid, mode } = lstatSync(join(base, name));
      const ids = ["subuid", "subgid"].map((file) =>
        readFileSync(`/etc/${file}`, "utf8")
          .split("\n")
          .filter((line) => line.startsWith(`${name}:`))
          .sort(),
      );
      return { passwdLine, shadow: shadowOf(name), groups: groupsOf(name), home: { uid, gid, mode }, ids };
    }

    async function inDatabase(...statements: readonly string[]): Promise<void> {
      const sql = postgres(cli.variables.UAM_DATABASE_URL ?? "");
      for (const statement of statements) await sql.unsafe(statement);
      await sql.end();
    }

    afterEach(async () => {
      await cli.run(["user", "delete", NAME, "--yes"]);
      await cli.run(["reconcile"]);
      // Each test takes the same account, as if for the first time.
      await inDatabase("delete from given_uids");
    });

    test("keeps uid and files, and takes password, keys, groups, jobs and processes", async () => {
      run("/usr/sbin/usermod", "-a", "-G", "games", NAME);
      give(".ssh/authorized_keys", `${keys[0]}\n`);
      give(".ssh/authorized_keys2", `${keys[1]}\n`);
      give("work", "of years\n");
      const child = Bun.spawn([
        "/usr/bin/setpriv",
        "--reuid",
        String(UID),
        "--clear-groups",
        "--",
        "/bin/sleep",
        "600",
      ]);
      const { code, stderr } = await adopt("--full-name", "Tea Tester");
      expect([code, stderr]).toEqual([0, expect.stringContaining("No key counts yet")]);
      await child.exited;
      expect(child.signalCode).toBe("SIGKILL");
      expect([uidOf(NAME), uidOf(RENAMED)]).toEqual(["", String(UID)]);
      expect(groupsOf(RENAMED)).toEqual([RENAMED, "uam-ext"]);
      expect(shadowOf(RENAMED)[1]).toBe("*");
      expect(Number(shadowOf(RENAMED)[7])).toBeGreaterThan(20_000);
      expect([fileOf(`${RENAMED}/work`), existsSync(join(base, NAME))]).toEqual(["of years\n", false]);
      expect(fileOf(`${RENAMED}/.ssh/authorized_keys`)).toBe("");
      expect(existsSync(join(base, RENAMED, ".ssh/authorized_keys2"))).toBe(false);
      const shown = await cli.json(["user", "show", NAME]);
      expect(shown).toMatchObject({ host_account: RENAMED, status: "active", full_name: "Tea Tester" });
      const { mode, uid } = lstatSync(record());
      expect([mode & 0o777, uid]).toEqual([0o600, 0]);
      expect(await cli.run(["reconcile", "--check"])).toMatchObject({ code: 0 });
      expect((await cli.json(["audit", "list", "--action", "user.adopt"])).items).toMatchObject([
        { actor: "olga", result: "success", detail: expect.stringContaining(`"account":"${NAME}"`) },
      ]);
    });

    test("a found key counts once it is confirmed, and the account cannot be given back any more", async () => {
      give(".ssh/authorized_keys", `command="x" ${keys[0]}\n${keys[1]}\n`);
      const lets = (name: string, key: number) => sshd.login(name, join(base, `key${key}`));
      expect(lets(NAME, 1)).toBe(true);
      expect(await adopt()).toMatchObject({ code: 0 });
      expect([lets(NAME, 1), lets(RENAMED, 0), lets(RENAMED, 1)]).toEqual([false, false, false]);
      const { items } = await cli.json(["key", "found", NAME]);
      expect(items).toMatchObject([
        { options: 'command="x"', comment: "laptop 0", found_in: join(base, NAME, ".ssh/authorized_keys") },
        { options: "", comment: "laptop 1", status: "found", refusal: "" },
      ]);
      expect((await cli.run(["key", "confirm", NAME])).code).toBe(2);
      expect(await cli.run(["key", "confirm", NAME, "SHA256:nobody"])).toMatchObject({ code: 1 });
      expect(await cli.run(["key", "confirm", NAME, items[1].fingerprint])).toMatchObject({ code: 0 });
      expect([lets(RENAMED, 0), lets(RENAMED, 1)]).toEqual([false, true]);
      const data = (line = "") => line.split(" ")[1] ?? "?";
      expect(fileOf(`${RENAMED}/.ssh/authorized_keys`)).toContain(data(keys[1]));
      expect(fileOf(`${RENAMED}/.ssh/authorized_keys`)).not.toContain(data(keys[0]));
      expect((await cli.json(["audit", "list", "--action", "key.confirm"])).items).toMatchObject([
        { result: "success" },
        { result: "failed" },
      ]);
      expect(await cli.run(["key", "dismiss", NAME, items[0].fingerprint])).toMatchObject({ code: 0 });
      expect(await cli.run(["key", "confirm", NAME, items[0].fingerprint])).toMatchObject({ code: 1 });
      expect((await cli.json(["key", "found", NAME])).items).toMatchObject([
        { status: "dismissed" },
        { status: "stored" },
      ]);
      expect(await cli.run(["user", "give-back", NAME, "--yes"])).toMatchObject({
        code: 1,
        stderr: `uam: ${NAME} has had a key: the account is theirs now\n`,
      });
    });

    test("give-back restores name, home, password, ageing, groups, subordinate ids and keys", async () => {
      run("/usr/sbin/usermod", "-a", "-G", "games", NAME);
      run("/usr/bin/chage", "-M", "90", "-W", "5", "-E", "2031-01-02", NAME);
      run("/usr/sbin/usermod", "--add-subuids", "900000-900999", "--add-subgids", "900000-900999", NAME);
      run("/bin/chmod", "751", join(base, NAME));
      give(".ssh/authorized_keys", `from="10.0.0.0/8" ${keys[0]}\n`);
      const before = state();
      expect(await adopt()).toMatchObject({ code: 0 });
      expect(await cli.run(["user", "give-back", NAME, "--yes"])).toMatchObject({ code: 0 });
      expect(state()).toEqual(before);
      expect(fileOf(`${NAME}/.ssh/authorized_keys`)).toBe(`from="10.0.0.0/8" ${keys[0]}\n`);
      expect([existsSync(record()), (await cli.run(["user", "show", NAME])).code]).toEqual([false, 1]);
      // The uid is its own still.
      expect(await adopt()).toMatchObject({ code: 0 });
    });

    test("an adoption that a crash cut short is taken back by the next reconciliation", async () => {
      give(".ssh/authorized_keys", `${keys[0]}\n`);
      const before = state();
      expect(await adopt()).toMatchObject({ code: 0 });
      // As a crash between host and commit leaves it.
      const written = JSON.parse(readFileSync(record(), "utf8"));
      await inDatabase("delete from users", "delete from given_uids");
      writeFileSync(record(), JSON.stringify({ ...written, state: "taking" }));
      await cli.run(["reconcile"]);
      expect(state()).toEqual(before);
      expect(fileOf(`${NAME}/.ssh/authorized_keys`)).toBe(`${keys[0]}\n`);
      expect(existsSync(record())).toBe(false);
    });

    test("a refused change of the host leaves the account as it was, and nobody stored", async () => {
      const before = state();
      mkdirSync(join(base, RENAMED));
      expect(await adopt()).toMatchObject({ code: 1, stderr: `uam: ${join(base, RENAMED)} exists already\n` });
      expect(state()).toEqual(before);
      expect((await cli.run(["user", "show", NAME])).code).toBe(1);
    });

    test("of two at once one adopts, and the other finds no account of that name", async () => {
      const both = await Promise.all([adopt(), adopt("--username", "uamtsecond")]);
      expect(both.map(({ code }) => code).sort()).toEqual([0, 1]);
      const users = (await cli.json(["user", "list"])).items;
      expect(users).toHaveLength(1);
      expect(uidOf(users[0].host_account)).toBe(String(UID));
      await cli.run(["user", "delete", users[0].username, "--yes"]);
    });

    test("deleting the user removes account, home and what was written down", async () => {
      expect(await adopt()).toMatchObject({ code: 0 });
      expect(await cli.run(["user", "delete", NAME, "--yes"])).toMatchObject({ code: 0 });
      expect([uidOf(RENAMED), uidOf(NAME), existsSync(join(base, RENAMED))]).toEqual(["", "", false]);
      await cli.run(["reconcile"]);
      expect(existsSync(record())).toBe(false);
      make(NAME, UID);
      expect((await look(NAME)).obstacles).toEqual([`The uid ${UID} of ${NAME} was an earlier user's`]);
    });
  });
});
