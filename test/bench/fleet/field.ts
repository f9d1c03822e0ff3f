/** The service with thousands of hosts: their rows, their users, and what its processes use of the machine. */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { createSeal } from "../../../src/domain/audit/seal.ts";
import { fleetSecrets } from "../../../src/domain/wire/fleet-key.ts";
import { cursorOf } from "../../../src/protocol/fleet.ts";
import { silentLog } from "../../../src/shared/log.ts";
import { openEmbeddedPostgres } from "../../../src/store/postgres/embedded-postgres.ts";
import { freshKey } from "../../support/keys.ts";
import { type Service, startService } from "../../support/service.ts";
import { simulatedKey } from "../../support/simulated-agent.ts";
import { processorTime } from "../processor-time.ts";

/** The first simulated host: far from the numbers that enrolled ones get. */
export const FIRST_HOST = 100_000;
const KEYS_EACH = 3;

const VARIABLES = { UAM_LOG_LEVEL: "warn", UAM_RATE_LIMIT: "off", UAM_UID_RANGE: "100000-200000" };

export interface Field {
  /** The replicas; the first one brought the database along. */
  readonly services: readonly Service[];
  readonly sql: postgres.Sql;
  /** Session cookies of an administrator, and of the user whose keys are changed. */
  readonly admin: string;
  readonly user: string;
  readonly userId: number;
  /** 32 bytes in base64. */
  readonly serviceKey: string;
  /** The log's head as a cursor. */
  head(): Promise<string>;
  /** Stops the replica and starts it again at the same address; milliseconds without it. */
  restart(index: number): Promise<number>;
  close(): Promise<void>;
}

/** A service with so many hosts in its default group and so many users on each of them, whose rows are inserted directly. */
export async function openField(hosts: number, users: number, replicas = 1): Promise<Field> {
  const directory = mkdtempSync("/var/tmp/uam-bench-");
  const services = [await startService(directory, VARIABLES)];
  const [first] = services as [Service];
  const shared = await openEmbeddedPostgres({ dataDir: join(directory, "data"), log: silentLog });
  const { host, port, username, database } = shared.connection;
  const sql = postgres({ path: `${host}/.s.PGSQL.${port}`, username, database, max: 2, onnotice: () => {} });
  const auditKey = readFileSync(join(directory, "data/audit.key"), "utf8").trim();
  const asReplica = {
    UAM_AUDIT_KEY: auditKey,
    UAM_DATABASE_URL: `postgres://${username}@localhost/${database}?host=${host}`,
  };
  for (let more = 1; more < replicas; more++) {
    services.push(await startService(mkdtempSync(join(directory, "replica-")), { ...VARIABLES, ...asReplica }));
  }
  await insertUsers(sql, users);
  await insertHosts(sql, hosts);
  const password = first.run(["admin", "add", "bench-admin", "--email", "a@example.org"]).stdout.trim();
  const admin = (await first.call("POST", "/auth/admin/login", "", { username: "bench-admin", password })).cookie;
  const made = await first.call("POST", "/users", admin, { username: "bench", email: "b@example.org" });
  const code = first.run(["otp", "bench"]).stdout.trim();
  const { cookie } = await first.call("POST", "/auth/otp/login", "", { username: "bench", code });
  const secrets = fleetSecrets(createSeal(Buffer.from(auditKey, "hex")));
  return {
    services,
    sql,
    admin,
    user: cookie,
    userId: made.body.data.id,
    serviceKey: Buffer.from(secrets.publicKey).toString("base64"),
    head: async () => {
      const [row] = await sql<[{ id: string; mac: Uint8Array }]>`select id, mac from audit order by id desc limit 1`;
      return row === undefined ? "" : cursorOf(Number(row.id), row.mac);
    },
    restart: async (index) => {
      const began = performance.now();
      const { origin } = services[index] as Service;
      await services[index]?.stop();
      services[index] = await startService(directory, { ...VARIABLES, UAM_LISTEN: new URL(origin).host });
      return performance.now() - began;
    },
    close: async () => {
      await sql.end();
      await shared.stop();
      for (const service of services.toReversed()) await service.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function insertUsers(sql: postgres.Sql, users: number): Promise<void> {
  await sql`
    insert into users (username, email, supervisor, expire_at, created_at, updated_at)
    select 'u' || n, 'u' || n || '@example.org', 'boss', now() + interval '90 days', now(), now() from generate_series(1, ${users}) n`;
  await sql`insert into accounts (user_id, uid) select id, 100000 + row_number() over (order by id) from users`;
  await sql`
    insert into grants (user_id, group_id, created_at)
    select u.id, g.id, now() from users u, host_groups g where g.name = 'default'`;
  const keys = Array.from({ length: users * KEYS_EACH }, (_, index) => ({
    username: `u${1 + (index % users)}`,
    public_key: freshKey(),
    fingerprint: `SHA256:${crypto.randomUUID()}`,
  }));
  await sql`
    insert into ssh_keys (user_id, name, type, bits, fingerprint, public_key, created_at)
    select u.id, 'laptop', 'ssh-ed25519', 256, k.fingerprint, k.public_key, now()
    from json_to_recordset(${JSON.stringify(keys)}::text::json) as k (username text, public_key text, fingerprint text)
    join users u using (username)`;
}

async function insertHosts(sql: postgres.Sql, hosts: number): Promise<void> {
  const rows = Array.from({ length: hosts }, (_, index) => {
    const id = FIRST_HOST + index;
    return { id, key: Buffer.from(simulatedKey(id).publicKey).toString("hex") };
  });
  await sql`
    insert into hosts (id, name, public_key, enrolled_at)
    select id, 'host-' || id, decode(key, 'hex'), now()
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as h (id integer, key text)`;
  await sql`
    insert into host_group_members (group_id, host_id)
    select g.id, h.id from hosts h, host_groups g where g.name = 'default' and h.id >= ${FIRST_HOST}`;
  await sql`analyze`;
}

/** What a part of the service has used so far. */
export interface Use {
  /** Processor time in milliseconds. */
  readonly cpu: number;
  /** MiB. */
  readonly memory: number;
}

/** The service itself, and PostgreSQL's processes together, of which memory that they share counts once. */
export function useOf(service: Service): { readonly service: Use; readonly database: Use } {
  const postmaster = childrenOf(service.pid).find((pid) => commandOf(pid) === "postgres");
  const database = postmaster === undefined ? [] : [postmaster, ...childrenOf(postmaster)];
  return {
    service: { cpu: processorMs(service.pid), memory: residentMiB(service.pid, "Rss") },
    database: {
      cpu: database.reduce((sum, pid) => sum + processorMs(pid, pid === postmaster), 0),
      memory: database.reduce((sum, pid) => sum + residentMiB(pid, "Pss"), 0),
    },
  };
}

/** What a process has used so far, in milliseconds; with its children that have ended, where asked. */
export function processorMs(pid: number, withEnded = false): number {
  return processorTime(pid, withEnded) / 1000;
}

function childrenOf(parent: number): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && statOf(Number(name))[1] === String(parent))
    .map(Number);
}

function commandOf(pid: number): string {
  return readIfThere(`/proc/${pid}/comm`).trim();
}

/** The fields of proc_pid_stat(5) from the third on; none of a process that is gone. */
function statOf(pid: number): readonly string[] {
  const stat = readIfThere(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function residentMiB(pid: number, kind: "Rss" | "Pss"): number {
  const [, kib = "0"] = new RegExp(`^${kind}:\\s+(\\d+) kB$`, "m").exec(readIfThere(`/proc/${pid}/smaps_rollup`)) ?? [];
  return Number(kib) / 1024;
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
