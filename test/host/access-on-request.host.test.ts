/** From the button to a shell: access on request by the rule `self`, on a real account with a real sshd. How long it takes is printed. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "../../src/config/config.ts";
import { findUserByName, type User } from "../../src/domain/accounts/find-user.ts";
import { requestAccess } from "../../src/domain/approvals/access-requests.ts";
import { openSession } from "../../src/domain/auth/sessions/sessions.ts";
import { uploadKey } from "../../src/domain/keys/keys.ts";
import type { Context } from "../../src/domain/operation/context.ts";
import { endAccess } from "../../src/domain/requests/end.ts";
import { bunRuntime } from "../../src/runtime/bun.ts";
import { openServices } from "../../src/server/compose.ts";
import { silentLog } from "../../src/shared/log.ts";
import { createTestCli, type TestCli } from "../support/cli.ts";
import { describeOnHost } from "../support/host-account.ts";
import { startSshd, type TestSshd } from "../support/sshd.ts";

const NAME = "tasker";
const ACCOUNT = `ext_${NAME}`;
const ROUNDS = 5;

describeOnHost("access on request on a real host", () => {
  let directory: string;
  let cli: TestCli;
  let sshd: TestSshd;
  beforeAll(async () => {
    removeLeftovers();
    directory = mkdtempSync("/var/tmp/uam-on-request-");
    mkdirSync(join(directory, "sshd"));
    sshd = await startSshd(join(directory, "sshd"), ["UsePAM yes"]);
    cli = await createTestCli({ UAM_HOST_MODE: "direct", UAM_UID_RANGE: "58830-58839" });
    const made = ["user", "create", NAME, "--email", "t@example.org", "--on-request", "self:4h"];
    expect(await cli.run(made)).toMatchObject({ code: 0 });
  });
  afterAll(async () => {
    sshd?.stop();
    await cli?.close();
    removeLeftovers();
    rmSync(directory, { recursive: true, force: true });
  });

  test("refuses before, lets in right after, has the end in the key's line, and refuses again once it is ended", async () => {
    const config = readConfig(cli.variables, { isRoot: true, currentDirectory: "/" });
    const { services, close } = await openServices(config, silentLog, { lifetime: "command", machine: bunRuntime });
    const context: Context = { ...services, actor: { type: "user", name: NAME, ip: "" }, requestId: "" };
    const { id } = (await findUserByName(services.db, NAME)) as User;
    const { path } = sshd.makeKey(83);
    await uploadKey(context, id, { name: "laptop", publicKey: readFileSync(`${path}.pub`, "utf8") });
    const taken: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      expect(sshd.login(ACCOUNT, path)).toBe(false);
      const token = await login(context, id);
      const begun = performance.now();
      const { until } = await requestAccess(context, { userId: id, token }, { hours: 1, reason: "Deploy" });
      expect(sshd.login(ACCOUNT, path)).toBe(true);
      taken.push(performance.now() - begun);
      const last = new Date((until?.getTime() ?? 0) - 1000).toISOString().slice(0, 19).replace(/\D/g, "");
      expect(readFileSync(`/home/${ACCOUNT}/.ssh/authorized_keys`, "utf8")).toContain(`expiry-time="${last}Z"`);
      await endAccess(context, id);
    }
    expect(sshd.login(ACCOUNT, path)).toBe(false);
    await close();
    console.info(`from the button to a shell: ${taken.map((time) => `${Math.round(time)} ms`).join(", ")}`);
  });
});

async function login(context: Context, id: number): Promise<string> {
  const principal = { userType: "user", id, username: NAME, email: "t@example.org" } as const;
  return await context.db.transaction(async (tx) => (await openSession(tx, context, principal)).token);
}

function removeLeftovers(): void {
  spawnSync("/usr/sbin/userdel", ["-rf", "--", ACCOUNT]);
  spawnSync("/bin/rm", ["-rf", `/home/${ACCOUNT}`]);
}
