/** The floor of `GET /me/keys`: Bun.serve and the bare driver running the same two statements, and nothing else. */

import { createHash } from "node:crypto";
import postgres from "postgres";
import { KEYS, readJob, SESSION, shape } from "./work.ts";

const job = readJob();
const sql = postgres({ path: job.socket, username: job.username, database: job.database, max: 4 });

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const token = /__Host-uam_session=([A-Za-z0-9_-]{43})/.exec(request.headers.get("cookie") ?? "")?.[1] ?? "";
    const hash = createHash("sha256").update(token).digest();
    const [session] = await sql.unsafe(SESSION, [hash, new Date().toISOString()], { prepare: true });
    if (session === undefined) return Response.json({ error: "no session" }, { status: 401 });
    const rows = await sql.unsafe(KEYS, [session.id], { prepare: true });
    return Response.json({ data: { items: rows.map(shape) } });
  },
});
console.log(server.url.origin);
