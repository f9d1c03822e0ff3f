/** Two replicas of the application in this process, on one database and one host in memory. */

import { randomBytes } from "node:crypto";
import { sql } from "drizzle-orm";
import { webOptionsOf } from "../../../src/cli/commands/service/web-options.ts";
import { hashToken } from "../../../src/domain/auth/sessions/sessions.ts";
import { purgeDue } from "../../../src/domain/lifecycle/clean-up.ts";
import { expireDue, recycleDue } from "../../../src/domain/lifecycle/lifecycle.ts";
import { reconcileHost } from "../../../src/domain/lifecycle/reconcile.ts";
import { type Services, systemContext } from "../../../src/domain/operation/context.ts";
import { fleetOf } from "../../../src/domain/wire/fleet.ts";
import { usableKeys } from "../../../src/host/key-file/authorized-keys.ts";
import type { Account, Drift, Host } from "../../../src/protocol/host.ts";
import { type App, createApp } from "../../../src/server/api/app.ts";
import { publicMessage } from "../../../src/shared/errors.ts";
import { DAY, MINUTE } from "../../../src/shared/time/clock.ts";
import { openDatabase } from "../../../src/store/client.ts";
import { createTestApp, type TestApp } from "../app.ts";
import type { FakeHost } from "../fake-host.ts";
import { freshKey } from "../keys.ts";
import { observation } from "./observation.ts";
import { EMPTY_GROUP } from "./operations.ts";
import type { Job, Observed, PairAnswer, Row, State, Subject, World } from "./world.ts";

export interface LocalWorld extends World {
  readonly app: TestApp;
  close(): Promise<void>;
}

/** What an account holds that somebody put there. */
const FOREIGN = "SHA256:foreign";
const NO_DIRECTORY = "/nonexistent";

export async function openWorld(): Promise<LocalWorld> {
  const app = await createTestApp({ UAM_AUDIT_RETENTION: "1d", UAM_AUDIT_RETENTION_MIN: "1d" });
  const host = comparing(app.host);
  const first = { ...app.services, host };
  const databases = [openDatabase(app.connection, 8), openDatabase(app.connection, 2)] as const;
  const second: Services = { ...first, db: databases[0].db, autocommit: databases[1].db };
  const about = { version: "0", runtime: "test", pages: undefined, setupCommand: undefined };
  const replicas = [first, second].map((services) => {
    const other = createApp(services, webOptionsOf(app.config, about));
    other.enter("serving");
    return { app: other, services };
  }) as [{ app: App; services: Services }, { app: App; services: Services }];
  const admin = (await app.admin()).cookie;
  await app.db.execute(sql`update sessions set expires_at = '2900-01-01'`);
  await app.db.execute(sql`insert into host_groups (name, created_at) values (${EMPTY_GROUP}, now())`);
  const [own] = await app.db.execute<{ name: string }>(sql`select name from hosts where id = 1`);
  return {
    app,
    admin,
    localHost: own?.name ?? "",
    call: async (replica, { method, path, cookie, body }) => {
      const request = new Request(`http://127.0.0.1:8080/api/v1${path}`, {
        method,
        headers: {
          ...(cookie === "" ? {} : { cookie }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        body: body === undefined ? null : JSON.stringify(body),
      });
      const response = await replicas[replica].app.fetch(request, "192.0.2.1");
      return { status: response.status, body: await response.json() };
    },
    job: (replica, job) => runJob(replicas[replica].services, job),
    prepare: (state, withDrift) => prepare(app, admin, { state, withDrift }),
    renew: async (subject) => await renew(app, subject),
    observe: async (subject) => await observe(app, subject),
    forget: async (subject) => await forget(app, subject),
    close: async () => {
      for (const { services } of replicas) await fleetOf(services).stop();
      for (const database of databases) await database.close();
      await app.close();
    },
  };
}

async function runJob(services: Services, job: Job): Promise<PairAnswer> {
  const context = systemContext(services);
  const time = { now: services.clock.now(), holdUntil: undefined };
  const work: Record<Job, () => Promise<unknown>> = {
    expire: () => expireDue(context, time),
    recycle: () => recycleDue(context, time),
    reconcile: () => reconcileHost(services, NO_DIRECTORY, "repair"),
    compare: () => reconcileHost(services, NO_DIRECTORY, "check"),
    purge: async () => void (await purgeDue(context, time)),
    lock: () => Promise.reject(new Error("uam lock is a command")),
  };
  try {
    return { status: 0, body: await work[job]() };
  } catch (error) {
    return { status: 1, body: publicMessage(error) };
  }
}

/** The host in memory, which also compares what it has with what is stored, and repairs it. */
function comparing(host: FakeHost): Host {
  return {
    ...host,
    reconcile: async (accounts, checkOnly) => {
      const drifts: Drift[] = [];
      for (const wanted of accounts) {
        const problem = problemOf(host, wanted);
        if (problem === undefined) continue;
        if (!checkOnly && problem.kind !== "missing") {
          if (wanted.open) await host.openAccount(wanted);
          else await host.shutAccount(wanted);
        }
        drifts.push({ account: wanted.name, ...problem, repaired: !checkOnly && problem.kind !== "missing" });
      }
      return drifts;
    },
  };
}

function problemOf(host: FakeHost, wanted: Account): Pick<Drift, "kind" | "problem"> | undefined {
  const found = host.accounts.get(wanted.name);
  if (found === undefined) return { kind: "missing", problem: "the account is missing" };
  const keys = wanted.open ? usableKeys(wanted.keys).map(({ fingerprint }) => fingerprint) : [];
  if (found.file.some((fingerprint) => !keys.includes(fingerprint))) {
    return { kind: "key_added", problem: "the file holds a key that is not stored" };
  }
  if (found.file.length !== keys.length) return { kind: "key_file", problem: "the file lacks a key" };
  return found.open === wanted.open ? undefined : { kind: "expiry_date", problem: "the account is open or shut" };
}

let made = 0;

interface Wanted {
  readonly state: State;
  readonly withDrift: boolean;
}

async function prepare(app: TestApp, admin: string, { state, withDrift }: Wanted): Promise<Subject> {
  const number = ++made;
  // So that a purge has something to do: what was recorded before is older than the retention.
  app.clock.advance(2 * DAY);
  const now = app.clock.now();
  const username = `pair${number}x`;
  const uid = 100_000 + number;
  const token = randomBytes(32).toString("base64url");
  const past = { due: MINUTE, expired: DAY, recyclable: 31 * DAY } as Partial<Record<State, number>>;
  const expireAt = new Date(now.getTime() + (past[state] === undefined ? 90 * DAY : -past[state])).toISOString();
  const status =
    state === "disabled" ? "disabled" : state === "expired" || state === "recyclable" ? "expired" : "active";
  const fingerprints = [`SHA256:first${number}`, `SHA256:second${number}`];
  const publicKeys = [freshKey(""), freshKey("")].map((key) => key.trim());
  const at = now.toISOString();
  const person = sql`${username}, ${`${username}@example.org`}`;
  const application = sql`insert into approvals (username, email, created_at) values (${person}, ${at}) returning id`;
  const [row] = await app.db.execute<{
    ids: { user: number; keys: number[]; application: number; extension: number; since: number };
  }>(
    state === "nobody"
      ? sql`with a as (${application}) select json_build_object('user', 0, 'keys', '[]'::json, 'extension', 0,
          'application', (select id from a), 'since', (select id from audit_head)) as ids`
      : sql`with u as (insert into users (username, email, status, expire_at, disabled_at, created_at, updated_at)
            values (${person}, ${status}, ${expireAt}, ${state === "disabled" ? at : null}, ${at}, ${at}) returning id),
          c as (insert into accounts (user_id, uid) select id, ${uid}::int from u),
          g as (insert into grants (user_id, group_id, created_at)
            select u.id, h.id, ${at} from u, host_groups h where h.name = ${state === "away" ? EMPTY_GROUP : "default"}),
          k as (insert into ssh_keys (user_id, name, type, bits, fingerprint, public_key, created_at)
            select u.id, 'key', 'ssh-ed25519', 256, f.fingerprint, f.key, ${at} from u,
              (values (${fingerprints[0]}, ${publicKeys[0]}), (${fingerprints[1]}, ${publicKeys[1]})) f (fingerprint, key)
            returning id),
          s as (insert into sessions (token_hash, user_type, principal_id, username, created_at, expires_at)
            select ${Buffer.from(hashToken(token))}, 'user', id, ${username}, ${at}, '2900-01-01' from u),
          a as (${application}),
          e as (insert into approvals (kind, user_id, days, username, email, purpose, created_at)
            select 'extension', id, 7, ${person}, 'more', ${at} from u returning id)
        select json_build_object('user', (select id from u), 'keys', (select json_agg(id order by id) from k),
          'application', (select id from a), 'extension', (select id from e), 'since', (select id from audit_head)) as ids`,
  );
  if (row === undefined) throw new Error("nothing was prepared");
  const fresh = [freshKey("one"), freshKey("two")];
  if (state !== "nobody" && state !== "away") {
    const open = status === "active";
    const drift = withDrift ? [FOREIGN] : [];
    const file = [...(open ? fingerprints : []), ...drift];
    app.host.accounts.set(`ext_${username}`, { uid, open, expireAt: new Date(expireAt), file });
  }
  return {
    ...{ username, fresh, userId: row.ids.user, keyIds: row.ids.keys, startedAt: now },
    ...{ application: row.ids.application, extension: row.ids.extension, since: row.ids.since },
    session: `${admin.split("=")[0]}=${token}`,
    labels: new Map([...fingerprints, ...fresh.map(fingerprintOf)].map((each, index) => [each, `KEY${index}`])),
  };
}

function fingerprintOf(publicKey: string): string {
  const blob = Buffer.from(publicKey.split(" ")[1] ?? "", "base64");
  return `SHA256:${new Bun.CryptoHasher("sha256").update(blob).digest("base64").replace(/=+$/, "")}`;
}

async function renew({ db }: TestApp, { username, userId, session, startedAt }: Subject): Promise<boolean> {
  if (userId === 0) return false;
  const rows = await db.execute(sql`
    insert into sessions (token_hash, user_type, principal_id, username, created_at, expires_at)
    values (${Buffer.from(hashToken(session.split("=")[1] ?? ""))}, 'user', ${userId}, ${username}, ${startedAt.toISOString()}, '2900-01-01')
    on conflict do nothing returning 1`);
  return rows.length > 0;
}

async function observe({ db, host }: TestApp, subject: Subject): Promise<Observed> {
  const [row] = await db.execute<{ seen: Record<Exclude<keyof Observed, "host">, Row[]> }>(
    observation(subject, subject.startedAt),
  );
  if (row === undefined) throw new Error("nothing was observed");
  const account = host.accounts.get(`ext_${subject.username}`);
  return { ...row.seen, host: account === undefined ? undefined : { open: account.open, file: account.file } };
}

async function forget({ db, host }: TestApp, { username, userId }: Subject): Promise<void> {
  host.accounts.delete(`ext_${username}`);
  host.calls.splice(0);
  await db.execute(sql`with u as (delete from users where username = ${username} returning id),
    c as (delete from closings where user_id = ${userId}), a as (delete from approvals where username = ${username}),
    s as (delete from sessions where user_type = 'user'), o as (delete from outbox), p as (delete from settings),
    i as (delete from account_intents) delete from policy_state`);
}
