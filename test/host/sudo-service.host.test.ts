/** The whole chain in sudo mode: the built binary as a system user, its embedded PostgreSQL, an account, and sshd with PAM. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describeOnHost } from "../support/host-account.ts";
import { BINARY, type Service, startService } from "../support/service.ts";
import { startSshd, type TestSshd } from "../support/sshd.ts";
import { createSudoLab, run, SERVICE, type SudoLab, shadowOf } from "../support/sudo-lab.ts";

const USERNAME = "tsudo";
const ACCOUNT = `ext_${USERNAME}`;
const PASSWORD = "seven lanterns over cold water";
const AS_SERVICE = ["/usr/bin/setpriv", "--reuid", SERVICE, "--regid", SERVICE, "--init-groups", "--"];

// Real commands and logins, on machines that may be busy with other tests.
setDefaultTimeout(180_000);

describeOnHost("a service in sudo mode", () => {
  let lab: SudoLab;
  let service: Service;
  let sshd: TestSshd;
  let admin: string;
  let userId: number;
  let variables: Record<string, string>;

  beforeAll(async () => {
    lab = createSudoLab();
    const directory = join(lab.base, "service");
    mkdirSync(directory);
    mkdirSync(join(lab.base, "sshd"));
    expect(run("chown", `${SERVICE}:${SERVICE}`, directory).status).toBe(0);
    sshd = await startSshd(join(lab.base, "sshd"), ["UsePAM yes"]);
    variables = { UAM_HOST_MODE: "sudo", UAM_HOME_BASE: lab.base, UAM_UID_RANGE: "58700-58799" };
    // The rules as the program prints them, for the group that it uses.
    const env = { ...variables, PATH: "/usr/sbin:/usr/bin:/sbin:/bin", UAM_DATA_DIR: join(directory, "data") };
    const printed = Bun.spawnSync([BINARY, "sudoers", "--user", SERVICE], { env, cwd: directory });
    expect(printed.exitCode).toBe(0);
    lab.install(printed.stdout.toString());
    service = await startService(directory, variables, AS_SERVICE);
  });
  afterAll(async () => {
    await service?.stop();
    sshd?.stop();
    lab?.remove();
  });

  test("an administrator creates a user, who has an account", async () => {
    const added = service.run(
      ["admin", "add", "root-admin", "--email", "a@example.org", "--password-stdin"],
      `${PASSWORD}\n`,
    );
    expect(added).toMatchObject({ status: 0, stdout: "" });
    const login = await service.call("POST", "/auth/admin/login", "", { username: "root-admin", password: PASSWORD });
    admin = login.cookie;
    const made = await service.call("POST", "/users", admin, { username: USERNAME, email: "x@example.org" });
    expect(made.status).toBe(201);
    userId = made.body.data.id;
    expect(run("id", ACCOUNT).status).toBe(0);
  });

  test("an uploaded key opens a login, a revoked one does not, and what cannot be written is a refusal", async () => {
    const code = service.run(["otp", USERNAME]).stdout.trim();
    const { cookie } = await service.call("POST", "/auth/otp/login", "", { username: USERNAME, code });
    const upload = async (number: number) => {
      const { path } = sshd.makeKey(number);
      const text = readFileSync(`${path}.pub`, "utf8");
      const answer = await service.call("POST", "/me/keys", cookie, { name: `key ${number}`, public_key: text });
      return { path, answer };
    };
    const [first, second] = [await upload(1), await upload(2)];
    expect([first.answer.status, second.answer.status]).toEqual([201, 201]);
    expect([sshd.login(ACCOUNT, first.path), sshd.login(ACCOUNT, second.path)]).toEqual([true, true]);
    expect((await service.call("DELETE", `/me/keys/${first.answer.body.data.id}`, cookie)).status).toBe(200);
    expect([sshd.login(ACCOUNT, first.path), sshd.login(ACCOUNT, second.path)]).toEqual([false, true]);
    const ssh = lab.ssh;
    expect(run("chattr", "+i", ssh).status).toBe(0);
    const third = await upload(3);
    run("chattr", "-i", ssh);
    expect(third.answer.status).toBe(500);
    expect(sshd.login(ACCOUNT, second.path)).toBe(true);
    const pairs = await Promise.all(
      Array.from({ length: 8 }, async (_, index) => {
        const { answer } = await upload(10 + index);
        expect(answer.status).toBe(201);
        if (index % 2 === 0) await service.call("DELETE", `/me/keys/${answer.body.data.id}`, cookie);
        return answer;
      }),
    );
    expect(pairs).toHaveLength(8);
    const stored = (await service.call("GET", "/me/keys", cookie)).body.data.items;
    const lines = readFileSync(lab.keys, "utf8").trimEnd().split("\n");
    expect(lines.map((line) => line.split(" ").slice(1, 3).join(" "))).toEqual(
      stored.map((key: { public_key: string }) => key.public_key),
    );
  });

  test("disabling shuts the account and enabling opens it", async () => {
    expect((await service.call("POST", `/users/${userId}/disable`, admin)).status).toBe(200);
    expect(shadowOf(ACCOUNT)).toMatchObject({ expires: 1 });
    expect((await service.call("POST", `/users/${userId}/enable`, admin)).status).toBe(200);
    expect(sshd.login(ACCOUNT, join(lab.base, "sshd/key2"))).toBe(true);
  });

  test("deleting removes account and home", async () => {
    expect((await service.call("DELETE", `/users/${userId}`, admin)).status).toBe(200);
    expect([run("id", ACCOUNT).status, existsSync(lab.home(ACCOUNT))]).toEqual([1, false]);
  });

  test("without its rules the service does not start, and says what to do", async () => {
    expect(await service.stop()).toBe(0);
    lab.install(undefined);
    const directory = join(lab.base, "service");
    await expect(startService(directory, variables, AS_SERVICE)).rejects.toThrow('what "uam sudoers" prints');
  });
});
