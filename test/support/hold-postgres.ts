/** A process that uses the embedded PostgreSQL of argv[2] for as long as its standard input stays open. */

import process from "node:process";
import { silentLog } from "../../src/shared/log.ts";
import { openEmbeddedPostgres } from "../../src/store/postgres/embedded-postgres.ts";

const [dataDir = "", lifetime] = process.argv.slice(2);
const server = await openEmbeddedPostgres({
  dataDir,
  log: silentLog,
  lifetime: lifetime === "service" ? "service" : "command",
  fsync: false,
});
process.stdout.write(`${JSON.stringify({ owned: server.owned, host: server.connection.host })}\n`);
for await (const _ of process.stdin);
await server.stop();
