/** The same work on Node.js with Fastify and pg; plain JavaScript, so that any Node.js runs it. */

import { createHash } from "node:crypto";
import process from "node:process";
import fastify from "fastify";
import pg from "pg";

const job = JSON.parse(process.argv[2]);
const pool = new pg.Pool({ host: job.directory, user: job.username, database: job.database, max: 4 });
const app = fastify();
app.get("/api/v1/me/keys", async (request, reply) => {
  const token = /__Host-uam_session=([A-Za-z0-9_-]{43})/.exec(request.headers.cookie ?? "")?.[1] ?? "";
  const hash = createHash("sha256").update(token).digest();
  const session = await pool.query({ name: "session", text: job.session, values: [hash, new Date().toISOString()] });
  if (session.rows.length === 0) return reply.code(401).send({ error: "no session" });
  const keys = await pool.query({ name: "keys", text: job.keys, values: [session.rows[0].id] });
  const items = keys.rows.map((row) => ({
    id: Number(row.id),
    name: row.name,
    type: row.type,
    bits: row.bits,
    fingerprint: row.fingerprint,
    public_key: row.public_key,
    status: row.status,
    created_at: row.created_at,
    revoked_at: row.revoked_at,
  }));
  return { data: { items } };
});
console.log(await app.listen({ host: "127.0.0.1", port: 0 }));
