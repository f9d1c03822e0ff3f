/** A service on this host with real accounts named ext_tl…, commands that can be made to fail, and hosts with simulated agents. */

import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { forgetAccounts } from "../../support/account-files.ts";
import { askEmbedded } from "../../support/embedded-sql.ts";
import { BINARY, type Service, startService } from "../../support/service.ts";
import { createSimulatedAgent, type SimulatedAgent, simulatedKey } from "../../support/simulated-agent.ts";
import { makeShims, type Shims } from "../closings/shims.ts";

/** What all accounts of the suite are called, without `ext_`. */
export const PREFIX = "tl";
/** The group whose hosts have simulated agents. */
export const AGENTS_GROUP = "with-agents";
const FIRST_HOST = 100_000;
const FIRST_UID = 56_000;
const LAST_UID = 59_900;

export interface Ground {
  readonly service: Service;
  readonly dataDir: string;
  readonly shims: Shims;
  readonly admin: string;
  readonly agents: readonly SimulatedAgent[];
  /** As the database's superuser, on a connection of its own. */
  readonly sql: (text: string) => Promise<readonly Record<string, unknown>[]>;
  /** Another command of the program, beside the running service. */
  readonly command: (
    ...args: readonly string[]
  ) => Promise<{ readonly status: number; readonly stdout: string; readonly output: string }>;
  /** Processes of the suite's accounts. */
  readonly accountProcesses: () => string;
  readonly end: () => Promise<void>;
}

export async function openGround(agents: number): Promise<Ground> {
  forgetAccounts(PREFIX);
  // The way to a home must be root's alone.
  const directory = mkdtempSync("/var/lib/uam-load-");
  chmodSync(directory, 0o755);
  const [base, dataDir] = [join(directory, "home"), join(directory, "data")];
  mkdirSync(base, { mode: 0o755 });
  const shims = makeShims(join(directory, "shims"));
  const variables = {
    ...{
      UAM_HOST_MODE: "direct",
      UAM_HOME_BASE: base,
      UAM_UID_RANGE: `${FIRST_UID}-${LAST_UID}`,
      UAM_DATA_DIR: dataDir,
    },
    ...{ UAM_RATE_LIMIT: "off", UAM_CAPTCHA: "off", UAM_LOG_LEVEL: "warn", UAM_SESSION_TTL: "48h" },
  };
  const service = await startService(directory, variables, shims.wrapper);
  const command: Ground["command"] = async (...args) => {
    const child = Bun.spawn([...shims.wrapper, BINARY, ...args], {
      ...{ cwd: directory, stdio: ["ignore", "pipe", "pipe"] as const },
      env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", ...variables },
    });
    const output = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return { status: await child.exited, stdout: output[0].trim(), output: output.join("").trim() };
  };
  const sql: Ground["sql"] = (text) => askEmbedded(dataDir, text);
  const { stdout: password } = await command("admin", "add", "load-admin", "--email", "a@example.org");
  const login = await service.call("POST", "/auth/admin/login", "", { username: "load-admin", password });
  if (login.cookie === "") throw new Error(`the administrator could not log in: ${JSON.stringify(login.body)}`);
  const joined = await joinAgents(service, sql, agents);
  return {
    ...{ service, dataDir, shims, admin: login.cookie, agents: joined, sql, command },
    accountProcesses: () => {
      const { stdout } = spawnSync("ps", ["-eo", "uid=,pid=,args="], { encoding: "utf8" });
      const isOurs = (uid: number) => uid >= FIRST_UID && uid <= LAST_UID;
      return stdout
        .split("\n")
        .filter((line) => isOurs(Number(line.trim().split(" ")[0])))
        .join("\n");
    },
    end: async () => {
      for (const agent of joined) agent.stop();
      await service.stop();
      forgetAccounts(PREFIX);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** An administrator who logs in again and again. */
export async function makeAdmin(ground: Ground): Promise<{ readonly username: string; readonly password: string }> {
  const username = "load-logins";
  const { stdout: password } = await ground.command(
    "admin",
    "add",
    username,
    "--email",
    "l@example.org",
    "--role",
    "auditor",
  );
  return { username, password };
}

async function joinAgents(service: Service, sql: Ground["sql"], count: number): Promise<readonly SimulatedAgent[]> {
  await sql(`insert into host_groups (name, created_at) values ('${AGENTS_GROUP}', now())`);
  return await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const host = FIRST_HOST + index;
      const { key, publicKey } = simulatedKey(host);
      const hex = Buffer.from(publicKey).toString("hex");
      await sql(`with h as (insert into hosts (id, name, public_key, enrolled_at)
          values (${host}, 'host-${host}', '\\x${hex}', now()) returning id)
        insert into host_group_members (group_id, host_id)
        select g.id, h.id from h, host_groups g where g.name = '${AGENTS_GROUP}'`);
      const agent = createSimulatedAgent({
        ...{ host, key, serviceKey: undefined, cursor: "", wait: 55 },
        applying: () => 20,
        send: async ({ method, target, headers, body }) => {
          const init = { method, headers, ...(body === "" ? {} : { body }) };
          const response = await fetch(`${service.origin}/api/v1${target}`, init);
          const answered = Object.fromEntries(response.headers);
          return { status: response.status, headers: answered, body: new Uint8Array(await response.arrayBuffer()) };
        },
      });
      void agent.run();
      return agent;
    }),
  );
}
