/** The whole chain: the built binary in direct mode, its embedded PostgreSQL, an account, and sshd with PAM. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { describeOnHost } from "../support/host-account.ts";
import { type Service, startService } from "../support/service.ts";
import { startSshd, type TestSshd } from "../support/sshd.ts";
import { until } from "../support/until.ts";

const NAME = "tfirstlight";
const ACCOUNT = `ext_${NAME}`;
const PASSWORD = "seven lanterns over cold water";
/** A home base of root's, as sshd's StrictModes requires. */
const BASE = "/home";
const HOME = `${BASE}/${ACCOUNT}`;
const FILE = `${HOME}/.ssh/authorized_keys`;

describeOnHost("from an upload to a login and from a revocation to a refusal", () => {
  let directory: string;
  let service: Service;
  let sshd: TestSshd;
  let admin: string;
  let user: string;
  let userId: number;
  const keyIds: number[] = [];

  beforeAll(async () => {
    removeLeftovers();
    directory = mkdtempSync("/var/tmp/uam-first-light-");
    mkdirSync(join(directory, "sshd"));
    sshd = await startSshd(join(directory, "sshd"), ["UsePAM yes"]);
    service = await startService(directory, { UAM_HOST_MODE: "direct", UAM_UID_RANGE: "58900-58999" });
  });
  afterAll(async () => {
    sshd?.stop();
    await service?.stop();
    removeLeftovers();
    rmSync(directory, { recursive: true, force: true });
  });

  function pair(number: number) {
    const made = sshd.makeKey(number);
    return { path: made.path, text: readFileSync(`${made.path}.pub`, "utf8") };
  }

  test("an administrator is added at the command line and logs in", async () => {
    const added = service.run(
      ["admin", "add", "root-admin", "--email", "a@example.org", "--password-stdin"],
      `${PASSWORD}\n`,
    );
    expect(added).toMatchObject({ status: 0, stdout: "" });
    const answer = await service.call("POST", "/auth/admin/login", "", { username: "root-admin", password: PASSWORD });
    expect(answer.status).toBe(200);
    admin = answer.cookie;
  });

  test("a created user has an account", async () => {
    const answer = await service.call("POST", "/users", admin, { username: NAME, email: "x@example.org", ttl_days: 3 });
    expect(answer.status).toBe(201);
    userId = answer.body.data.id;
    expect(spawnSync("id", [ACCOUNT]).status).toBe(0);
    expect(statSync(HOME).mode & 0o777).toBe(0o700);
    expect((await service.call("POST", "/users", admin, { username: NAME, email: "x@example.org" })).status).toBe(409);
  });

  /** A minute has to pass between two codes. */
  async function logIn(): Promise<void> {
    let printed = service.run(["otp", NAME]);
    for (let again = 0; again < 40 && printed.stdout === ""; again++) {
      await Bun.sleep(2000);
      printed = service.run(["otp", NAME]);
    }
    expect(printed.stdout).toMatch(/^\d{8}\n$/);
    const answer = await service.call("POST", "/auth/otp/login", "", { username: NAME, code: printed.stdout.trim() });
    expect(answer.status).toBe(200);
    user = answer.cookie;
  }

  test("the user logs in with a code printed on the host", logIn);

  test("two uploaded keys open real logins", async () => {
    for (const number of [1, 2]) {
      const key = pair(number);
      expect(sshd.login(ACCOUNT, key.path)).toBe(false);
      const answer = await service.call("POST", "/me/keys", user, { name: `key ${number}`, public_key: key.text });
      expect(answer.status).toBe(201);
      keyIds.push(answer.body.data.id);
      expect(sshd.login(ACCOUNT, key.path)).toBe(true);
    }
    const id = sshd.run(ACCOUNT, join(directory, "sshd/key1"), "id -un");
    expect(id).toBe(`${ACCOUNT}\n`);
    const lines = readFileSync(FILE, "utf8").trimEnd().split("\n");
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line).toMatch(/^expiry-time="\d{14}Z" ssh-ed25519 [A-Za-z0-9+/=]+ uam:\d+$/);
  });

  test("renaming does not touch the file", async () => {
    const before = statSync(FILE, { bigint: true });
    expect((await service.call("PATCH", `/me/keys/${keyIds[0]}`, user, { name: "renamed" })).status).toBe(200);
    const after = statSync(FILE, { bigint: true });
    expect([after.ino, after.mtimeNs, after.ctimeNs]).toEqual([before.ino, before.mtimeNs, before.ctimeNs]);
  });

  test("a revoked key is refused on the next attempt and the other works", async () => {
    expect((await service.call("DELETE", `/me/keys/${keyIds[0]}`, user)).status).toBe(200);
    expect(sshd.login(ACCOUNT, join(directory, "sshd/key1"))).toBe(false);
    expect(sshd.login(ACCOUNT, join(directory, "sshd/key2"))).toBe(true);
  });

  test("administrators see the open SSH logins, and end one over the API and one at the command line", async () => {
    const path = join(directory, "sshd/key2");
    const list = async (): Promise<readonly { readonly id: string }[]> =>
      (await service.call("GET", `/users/${userId}/sessions`, admin)).body.data.items;
    // The login of the test before may still be ending.
    await until(async () => (await list()).length === 0);
    const clients = [1, 2].map(() => sshd.open(ACCOUNT, path, "sleep 300"));
    await until(async () => (await list()).length === 2);
    const [first, second] = await list();
    expect(first).toEqual({ id: expect.any(String), since: expect.any(String), from: "127.0.0.1", key: null } as never);
    const ended = await service.call("DELETE", `/users/${userId}/sessions/${first?.id}`, admin);
    expect([ended.status, ended.body]).toEqual([200, { data: { status: "ended" } }]);
    expect(await list()).toEqual([second as never]);
    const printed = service.run(["user", "sessions", NAME, "--json"]);
    expect(JSON.parse(printed.stdout).items).toEqual([second]);
    expect(service.run(["user", "end-session", NAME, second?.id ?? ""])).toMatchObject({ status: 0, stdout: "" });
    expect(await list()).toEqual([]);
    expect(service.run(["user", "end-session", NAME, second?.id ?? ""])).toMatchObject({ status: 1, stdout: "" });
    for (const client of clients) client.kill();
    expect(sshd.login(ACCOUNT, path)).toBe(true);
  });

  test("with the directory read-only an upload is a 500, nothing is stored and the audit says failed", async () => {
    const key = pair(3);
    expect(spawnSync("chattr", ["+i", `${HOME}/.ssh`]).status).toBe(0);
    try {
      const answer = await service.call("POST", "/me/keys", user, { name: "blocked", public_key: key.text });
      expect(answer.status).toBe(500);
      expect(answer.body.error).toContain(ACCOUNT);
    } finally {
      spawnSync("chattr", ["-i", `${HOME}/.ssh`]);
    }
    const keys = await service.call("GET", "/me/keys", user);
    expect(keys.body.data.items.map((item: { id: number }) => item.id)).toEqual([keyIds[1]]);
    const audit = await service.call("GET", "/audit?action=key.create&page_size=1", admin);
    expect(audit.body.data.items[0]).toMatchObject({ result: "failed", actor: NAME, resource_id: "" });
    expect(JSON.parse(audit.body.data.items[0].detail)).toMatchObject({ name: "blocked", err: expect.any(String) });
    expect(sshd.login(ACCOUNT, key.path)).toBe(false);
    expect(sshd.login(ACCOUNT, join(directory, "sshd/key2"))).toBe(true);
  });

  test("disabling ends access and enabling gives it back", async () => {
    const path = join(directory, "sshd/key2");
    expect((await service.call("POST", `/users/${userId}/disable`, admin)).status).toBe(200);
    expect(readFileSync(FILE, "utf8")).toBe("");
    expect(sshd.login(ACCOUNT, path)).toBe(false);
    expect((await service.call("POST", `/users/${userId}/enable`, admin)).status).toBe(200);
    expect(sshd.login(ACCOUNT, path)).toBe(true);
    expect((await service.call("GET", "/me/keys", user)).status).toBe(401);
  });

  test("with the session that enabling ended gone, the user logs in again", logIn);

  test("30 concurrent pairs of upload and revoke leave a file that equals the stored active keys", async () => {
    const texts = Array.from({ length: 30 }, (_, index) => pair(100 + index).text);
    await Promise.all(
      texts.map(async (text, index) => {
        const made = await service.call("POST", "/me/keys", user, { name: `pair ${index}`, public_key: text });
        expect(made.status).toBe(201);
        if (index % 3 !== 0)
          expect((await service.call("DELETE", `/me/keys/${made.body.data.id}`, user)).status).toBe(200);
      }),
    );
    const stored = (await service.call("GET", "/me/keys", user)).body.data.items;
    const inFile = readFileSync(FILE, "utf8").trimEnd().split("\n");
    expect(inFile.map((line) => line.split(" ").slice(1, 3).join(" "))).toEqual(
      stored.map((key: { public_key: string }) => key.public_key),
    );
    expect(stored).toHaveLength(11);
  });

  test("the state survives a kill of the service", async () => {
    await service.stop("SIGKILL");
    service = await startService(directory, { UAM_HOST_MODE: "direct", UAM_UID_RANGE: "58900-58999" });
    expect((await service.call("GET", "/me/keys", user)).body.data.items).toHaveLength(11);
  });

  test("SIGTERM ends the service with exit code 0", async () => {
    expect(await service.stop()).toBe(0);
    expect(spawnSync("pgrep", ["-f", join(directory, "data")]).status).toBe(1);
    service = await startService(directory, { UAM_HOST_MODE: "direct", UAM_UID_RANGE: "58900-58999" });
  });

  test("deleting removes account, home and keys and keeps the audit", async () => {
    expect((await service.call("DELETE", `/users/${userId}`, admin)).status).toBe(200);
    expect(spawnSync("id", [ACCOUNT]).status).toBe(1);
    expect(existsSync(HOME)).toBe(false);
    expect(sshd.login(ACCOUNT, join(directory, "sshd/key2"))).toBe(false);
    expect((await service.call("GET", "/me/keys", user)).status).toBe(404);
    const audit = await service.call("GET", `/audit?resource_type=user&resource_id=${userId}`, admin);
    expect(audit.body.data.items.map((item: { action: string }) => item.action)).toEqual([
      "user.delete",
      "user.enable",
      "user.disable",
      "session.end",
      "session.end",
      "session.end",
      "user.create",
    ]);
  });
});

/** Removes what an earlier run that was killed may have left. */
function removeLeftovers(): void {
  spawnSync("chattr", ["-i", `${HOME}/.ssh`]);
  spawnSync("pkill", ["-KILL", "-u", ACCOUNT]);
  spawnSync("userdel", ["-f", "--", ACCOUNT]);
  rmSync(HOME, { recursive: true, force: true });
}
