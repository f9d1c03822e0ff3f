/** The same work on Node.js with Fastify and pg; plain JavaScript, so that any Node.js runs it. */

import process from "node:process";
import fastify from "fastify";
import pg from "pg";
import { READS, SESSION, sessionValues } from "./work.mjs";

const job = JSON.parse(process.argv[2]);
const pool = new pg.Pool({ host: job.directory, user: job.username, database: job.database, max: 4 });
const app = fastify();
for (const [path, read] of Object.entries(READS)) {
  app.get(`/api/v1${path}`, async (request, reply) => {
    const values = sessionValues(request.headers.cookie);
    const [session] = (await pool.query({ name: "session", text: SESSION, values })).rows;
    if (session?.user_type !== read.for) return reply.code(401).send({ error: "no session" });
    if (read.text === undefined) return read.answer(session, []);
    const { rows } = await pool.query({ name: read.name, text: read.text, values: read.values(session) });
    return read.answer(session, rows);
  });
}
console.log(await app.listen({ host: "127.0.0.1", port: 0 }));
