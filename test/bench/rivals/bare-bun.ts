/** The floor of the hot reads: Bun.serve and the bare driver running the same statements, and nothing else. */

import process from "node:process";
import postgres from "postgres";
import { READS, SESSION, sessionValues } from "./work.mjs";

const job = JSON.parse(process.argv[2] ?? "{}");
const sql = postgres({ path: job.socket, username: job.username, database: job.database, max: 4 });
const reads = new Map(Object.entries(READS).map(([path, read]) => [`/api/v1${path}`, read]));

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const read = reads.get(new URL(request.url).pathname);
    if (read === undefined) return Response.json({ error: "no such path" }, { status: 404 });
    const [session] = await sql.unsafe(SESSION, sessionValues(request.headers.get("cookie")), { prepare: true });
    if (session?.user_type !== read.for) return Response.json({ error: "no session" }, { status: 401 });
    const { text, values } = read;
    const rows = text === undefined ? [] : await sql.unsafe(text, values?.(session) as string[], { prepare: true });
    return Response.json(read.answer(session, rows));
  },
});
console.log(server.url.origin);
