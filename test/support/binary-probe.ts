/** Compiled by the build's test: reports what works only if everything is inside the binary. */

import process from "node:process";
import { hash } from "@node-rs/argon2";
import { Resvg } from "@resvg/resvg-js";
import postgres from "postgres";
import { silentLog } from "../../src/shared/log.ts";
import { COMMIT, VERSION } from "../../src/shared/version.ts";
import { openEmbeddedPostgres } from "../../src/store/postgres/embedded-postgres.ts";

const server = await openEmbeddedPostgres({ dataDir: process.argv[2] ?? "", log: silentLog, fsync: false });
const sql = postgres({ ...server.connection, max: 1 });
const [row] = await sql`show server_version`;
await sql.end();
await server.stop();
const png = new Resvg("<svg xmlns='http://www.w3.org/2000/svg' width='4' height='4'/>").render().asPng();
const report = {
  version: VERSION,
  commit: COMMIT,
  postgres: row?.server_version,
  hash: await hash("x"),
  png: png.length > 0,
  dotenv: process.env.FROM_DOTENV ?? null,
};
process.stdout.write(JSON.stringify(report));
