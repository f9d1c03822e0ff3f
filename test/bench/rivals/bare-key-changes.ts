/**
 * What a key change cannot do without, on Bun.serve and the bare driver: the session, the user's row locked and its keys read, the change,
 * its mail and its audit record in one transaction, the file on disk. A revocation also has its note committed beforehand, and
 * ends and looks for what runs as the user. Nothing is checked, nobody hostile is thought of, and nothing is read back.
 */

import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import postgres, { type TransactionSql } from "postgres";
import { SESSION, sessionValues } from "./work.mjs";
import { writeDurably } from "./write-durably.ts";

const job = JSON.parse(process.argv[2] ?? "{}");
const sql = postgres({ path: job.socket, username: job.username, database: job.database, max: 4, fetch_types: false });
/** As long as what a user is told of a key. */
const MAIL = "x".repeat(2000);

interface Key {
  readonly id: string;
  readonly public_key: string;
}

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const [session] = await sql.unsafe(SESSION, sessionValues(request.headers.get("cookie")), { prepare: true });
    if (session === undefined) return Response.json({ error: "no session" }, { status: 401 });
    if (request.method === "POST")
      return await upload(Number(session.id), (await request.json()) as Record<string, string>);
    return await revoke(Number(session.id), Number(new URL(request.url).pathname.split("/").at(-1)));
  },
});
console.log(server.url.origin);

async function upload(user: number, { name, public_key: text }: Record<string, string>): Promise<Response> {
  const fingerprint = `SHA256:${createHash("sha256")
    .update(text ?? "")
    .digest("base64")}`;
  const id = await sql.begin(async (tx) => {
    const keys = await lockedKeys(tx, user);
    const [[stored]] = await Promise.all([
      tx<Key[]>`insert into ssh_keys (user_id, name, type, bits, fingerprint, public_key, created_at)
        values (${user}, ${name ?? ""}, 'ssh-ed25519', 256, ${fingerprint}, ${text ?? ""}, now()) returning *`,
      queueMail(tx),
    ]);
    writeFile([...keys, ...(stored === undefined ? [] : [stored])]);
    await record(tx, "key.create", Number(stored?.id), user);
    return Number(stored?.id);
  });
  return Response.json({ data: { id } });
}

async function revoke(user: number, id: number): Promise<Response> {
  await sql.begin(async (tx) => {
    const keys = await lockedKeys(tx, user);
    const [note] = await sql`insert into closings (user_id, kind, key_id, action, actor_type, actor, begun_at, due_at)
      values (${user}, 'revoke', ${id}, 'key.revoke', 'user', 'bench', now(), now() + interval '1 minute') returning id`;
    writeFile(keys.filter((key) => Number(key.id) !== id));
    // Once to end what is there, and once to see that nothing is.
    lookAtProcesses();
    lookAtProcesses();
    await Promise.all([
      tx`with settled as (delete from closings where id = ${note?.id})
        update ssh_keys set status = 'revoked', revoked_at = now() where id = ${id}`,
      queueMail(tx),
    ]);
    await record(tx, "key.revoke", id, user);
  });
  return Response.json({ data: { id } });
}

async function lockedKeys(tx: TransactionSql, user: number): Promise<readonly Key[]> {
  const [, keys] = await Promise.all([
    tx`select 1 from users where id = ${user} for update`,
    tx<Key[]>`select k.* from users u join ssh_keys k on k.user_id = u.id and k.status = 'active' where u.id = ${user}`,
  ]);
  return keys;
}

function queueMail(tx: TransactionSql) {
  return tx`insert into outbox (recipient, subject, text, html, created_at, due_at, status, finished_at)
    values ('b@example.org', 'A key', ${MAIL}, ${MAIL}, now(), now(), 'sent', now())`;
}

/** Under the lock of the log's head, since the seal needs the record before and is not the database's to make. */
async function record(tx: TransactionSql, action: string, id: number, user: number): Promise<void> {
  const [next] =
    await tx`select id, mac, n::text as n from audit_next('bench', ${action}, 'ssh_key', ${String(id)}, ${user})`;
  await tx`select audit_append(${next?.id}, ${next?.mac}, now(), 'user', 'bench', ${action}, 'ssh_key', ${String(id)}, '{}',
    'success', '127.0.0.1', ${user}, ${next?.n}::bigint[], ${randomBytes(32)})`;
}

function writeFile(keys: readonly Key[]): void {
  writeDurably(job.directory, keys.map((key) => `${key.public_key}\n`).join(""));
}

function lookAtProcesses(): void {
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      readFileSync(`/proc/${name}/status`, "latin1").includes("Uid:");
    } catch {
      // It has ended.
    }
  }
}
