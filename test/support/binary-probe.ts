/** Compiled by the build's test: reports what works only if everything is inside the binary. */

import process from "node:process";
import { hash } from "@node-rs/argon2";
import { renderAsync } from "@resvg/resvg-js";
import postgres from "postgres";
import { creationOptions, verifyNewPasskey, verifyPasskey } from "../../src/domain/auth/factors/webauthn.ts";
import { silentLog } from "../../src/shared/log.ts";
import { COMMIT, VERSION } from "../../src/shared/version.ts";
import { openEmbeddedPostgres } from "../../src/store/postgres/embedded-postgres.ts";
import { makePasskey, PASSKEY_ORIGIN } from "./authenticator.ts";

const server = await openEmbeddedPostgres({ dataDir: process.argv[2] ?? "", log: silentLog, fsync: false });
const sql = postgres({ ...server.connection, max: 1 });
const [row] = await sql`show server_version`;
await sql.end();
await server.stop();
const image = await renderAsync("<svg xmlns='http://www.w3.org/2000/svg' width='4' height='4'/>");
/** Both ends of a passkey: libraries that were bundled and left out in part. */
async function passkeyWorks(): Promise<boolean> {
  const site = { baseUrl: PASSKEY_ORIGIN, host: "localhost", port: 22, contact: undefined, console: true };
  const context = { policy: { site }, log: silentLog };
  const { passkey, answer } = makePasskey(
    creationOptions(site, "AAAA", { username: "x", handle: Buffer.alloc(8) }, []),
  );
  const made = await verifyNewPasskey(context, answer, "AAAA");
  if (made === undefined) return false;
  const used = await verifyPasskey(context, passkey.answer({ challenge: "BBBB", rpId: "localhost" }), made, "BBBB");
  const forged = passkey.answer({ challenge: "BBBB", rpId: "localhost" }, { spoiltSignature: true });
  return used !== undefined && (await verifyPasskey(context, forged, made, "BBBB")) === undefined;
}

const report = {
  version: VERSION,
  commit: COMMIT,
  postgres: row?.server_version,
  hash: await hash("x"),
  png: image.asPng().length > 0,
  passkey: await passkeyWorks(),
  dotenv: process.env.FROM_DOTENV ?? null,
};
process.stdout.write(JSON.stringify(report));
