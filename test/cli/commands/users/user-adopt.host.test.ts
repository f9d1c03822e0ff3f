/** uam user adopt on real accounts that somebody else made. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createTestCli, type TestCli } from "../../../support/cli.ts";
import { describeOnHost } from "../../../support/host-account.ts";

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
  beforeAll(async () => {
    base = mkdtempSync("/var/lib/uam-tadopt-");
    run("/bin/chmod", "755", base);
    cli = await createTestCli({ UAM_HOST_MODE: "direct", UAM_UID_RANGE: "78800-78899", UAM_HOME_BASE: base });
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
});
