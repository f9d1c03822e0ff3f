/** The built binary in direct mode, over HTTP, with real accounts named ext_tq…; for operations that need no clock of their own. */

import { createHash, randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { readAccounts } from "../../../src/host/account.ts";
import { DAY } from "../../../src/shared/time/clock.ts";
import { freshKey } from "../../support/keys.ts";
import { EMPTY_GROUP } from "../../support/pairs/operations.ts";
import type { HostState, Observed, Row, State, Subject, World } from "../../support/pairs/world.ts";
import { BINARY, startService } from "../../support/service.ts";

export interface RealWorld extends World {
  /** What the program says of its audit log. */
  verify(): Promise<{ readonly status: number; readonly output: string }>;
  log(): string;
  close(): Promise<void>;
}

/** The states that can be had at once. */
export const REAL_STATES: readonly State[] = ["active", "disabled", "away", "nobody"];
const PREFIX = "tq";
const COOKIE = "__Host-uam_session";

export async function openRealWorld(): Promise<RealWorld> {
  forgetAccounts();
  const directory = mkdtempSync("/var/lib/uam-pairs-");
  chmodSync(directory, 0o755);
  const [base, dataDir] = [join(directory, "home"), join(directory, "data")];
  mkdirSync(base, { mode: 0o755 });
  const variables = {
    ...{ UAM_HOST_MODE: "direct", UAM_HOME_BASE: base, UAM_UID_RANGE: "52000-52990", UAM_DATA_DIR: dataDir },
    ...{ UAM_RATE_LIMIT: "off", UAM_LOG_LEVEL: "warn" },
  };
  const service = await startService(directory, variables);
  const command = async (...args: readonly string[]) => {
    const child = Bun.spawn([BINARY, ...args], {
      ...{ cwd: directory, stdio: ["ignore", "pipe", "pipe"] as const },
      env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", ...variables },
    });
    const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return { status: await child.exited, stdout: stdout.trim(), output: (stdout + stderr).trim() };
  };
  const sql = postgres({
    ...{ host: join(dataDir, "postgres/run"), port: 5432, username: "postgres", database: "uam", max: 2 },
    onnotice: () => {},
  });
  const { stdout: password } = await command("admin", "add", "admin", "--email", "a@example.org");
  const admin = (await service.call("POST", "/auth/admin/login", "", { username: "admin", password })).cookie;
  await sql`update sessions set expires_at = now() + interval '7 days'`;
  await sql`insert into host_groups (name, created_at) values (${EMPTY_GROUP}, now())`;
  let made = 0;

  async function ask(method: string, path: string, body?: unknown, cookie = admin) {
    const answer = await service.call(method, path, cookie, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body.data;
  }

  async function prepare(state: State): Promise<Subject> {
    const username = `${PREFIX}${++made}x`;
    const email = `${username}@example.org`;
    const token = randomBytes(32).toString("base64url");
    const session = `${COOKIE}=${token}`;
    const keys = [freshKey(), freshKey()];
    const fresh = [freshKey("one"), freshKey("two")];
    const keyIds: number[] = [];
    let userId = 0;
    if (state !== "nobody") {
      userId = (await ask("POST", "/users", { username, email })).id;
      await insertSession(userId, username, session);
      for (const key of keys) {
        keyIds.push((await ask("POST", "/me/keys", { name: "key", public_key: key }, session)).id);
      }
      if (state === "disabled") await ask("POST", `/users/${userId}/disable`);
      if (state === "away") await ask("PUT", `/users/${userId}/hosts`, { hosts: [], groups: [EMPTY_GROUP] });
    }
    const [application] = await sql`insert into approvals (username, email, created_at)
      values (${username}, ${email}, now()) returning id`;
    const [extension] =
      userId === 0
        ? []
        : await sql`insert into approvals (kind, user_id, days, username, email, purpose, created_at)
            values ('extension', ${userId}, 7, ${username}, ${email}, 'more', now()) returning id`;
    await sql`delete from outbox where recipient = ${email}`;
    const [head] = await sql`select id from audit_head`;
    return {
      ...{ username, userId, session, keyIds, fresh, startedAt: new Date() },
      labels: new Map([...keys, ...fresh].map((key, index) => [fingerprintOf(key.split(" ")[1] ?? ""), `KEY${index}`])),
      application: Number(application?.id),
      extension: Number(extension?.id ?? 0),
      since: Number(head?.id),
    };
  }

  async function insertSession(userId: number, username: string, session: string): Promise<boolean> {
    const hash = createHash("sha256")
      .update(session.slice(COOKIE.length + 1))
      .digest();
    const rows = await sql`insert into sessions (token_hash, user_type, principal_id, username, created_at, expires_at)
      values (${hash}, 'user', ${userId}, ${username}, now(), now() + interval '1 day') on conflict do nothing returning 1`;
    return rows.length > 0;
  }

  return {
    admin,
    localHost: String((await sql`select name from hosts where id = 1`)[0]?.name),
    call: async (_, { method, path, cookie, body }) => {
      const answer = await service.call(method, path, cookie, body);
      return { status: answer.status, body: answer.body };
    },
    job: async (_, job, { username }) => {
      const args = { lock: ["lock", username], reconcile: ["reconcile"], compare: ["reconcile", "--check"] };
      if (!(job in args)) throw new Error(`${job} is done by the clock`);
      const { status } = await command(...args[job as keyof typeof args]);
      return { status, body: "" };
    },
    prepare,
    renew: async ({ userId, username, session }) => userId > 0 && (await insertSession(userId, username, session)),
    observe: async (subject) => {
      const seen = await observe(sql, subject);
      return { ...seen, host: hostState(base, subject.username) };
    },
    forget: async ({ username, userId }) => {
      const ids = await sql`select id from users where username = ${username}`;
      for (const { id } of ids) await service.call("DELETE", `/users/${id}`, admin);
      await sql`delete from approvals where username = ${username}`;
      await sql`delete from closings where user_id = ${userId}`;
      await sql`delete from settings`;
      await sql`delete from policy_state`;
    },
    verify: () => command("audit", "verify"),
    log: service.log,
    close: async () => {
      await sql.end();
      await service.stop();
      forgetAccounts();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function observe(sql: postgres.Sql, { username, userId, since }: Subject): Promise<Omit<Observed, "host">> {
  const email = `${username}@example.org`;
  return await sql.begin("isolation level repeatable read", async (tx) => {
    const users = await tx`select u.*, u.expire_at <= now() as due, exists (
        select 1 from grants g left join host_group_members m on m.group_id = g.group_id
        where g.user_id = u.id and (g.host_id = 1 or m.host_id = 1)) as local
      from users u where username = ${username}`;
    const ids = [userId, ...users.map(({ id }) => Number(id))];
    const [accounts, keys, grants, closings, approvals, intents, mails, records] = [
      await tx`select user_id, host_id from accounts where user_id in ${tx(ids)}`,
      await tx`select id, user_id, name, fingerprint, source_networks, status from ssh_keys where user_id in ${tx(ids)}`,
      await tx`select user_id, host_id, group_id from grants where user_id in ${tx(ids)}`,
      await tx`select user_id, kind, key_id, action, problem from closings where user_id in ${tx(ids)}`,
      await tx`select * from approvals where username = ${username}`,
      await tx`select name from account_intents where name = ${`ext_${username}`}`,
      await tx`select recipient, subject from outbox where recipient = ${email}`,
      await tx`select actor_type, actor, action, resource_type, resource_id, detail, result, subject_id
        from audit where id > ${since}`,
    ].map(asPlain);
    return { users: asPlain(users), accounts, keys, grants, closings, approvals, intents, mails, records } as Omit<
      Observed,
      "host"
    >;
  });
}

/** Times as text, as in an answer. */
function asPlain(rows: readonly unknown[]): readonly Row[] {
  return JSON.parse(JSON.stringify(rows));
}

function hostState(base: string, username: string): HostState | undefined {
  const name = `ext_${username}`;
  const entry = readFileSync("/etc/shadow", "utf8")
    .split("\n")
    .find((line) => line.startsWith(`${name}:`));
  if (entry === undefined) return undefined;
  const expires = Number(entry.split(":")[7]) * DAY;
  const file = join(base, name, ".ssh/authorized_keys");
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
  return {
    open: expires > Date.now(),
    file: lines.map((line) => fingerprintOf(/ssh-ed25519 (\S+)/.exec(line)?.[1] ?? "")),
  };
}

function fingerprintOf(base64: string): string {
  const digest = createHash("sha256").update(Buffer.from(base64, "base64")).digest("base64");
  return `SHA256:${digest.replace(/=+$/, "")}`;
}

/** Also those that a run which was killed has left. */
function forgetAccounts(): void {
  for (const name of readAccounts().passwd.keys()) {
    if (new RegExp(`^ext_${PREFIX}\\d+x$`).test(name)) Bun.spawnSync(["/usr/sbin/userdel", "-f", "--", name]);
  }
}
