/**
 * Key upload and revocation in direct mode, end to end, compared with the bare work they consist of: one fsynced commit, and one
 * file written, fsynced and renamed, and its directory fsynced; and with a bare server that does what they cannot do without.
 * Creates host accounts ext_tbench…, so it needs root.
 */

import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { silentLog } from "../../src/shared/log.ts";
import { openEmbeddedPostgres } from "../../src/store/postgres/embedded-postgres.ts";
import { freshKey } from "../support/keys.ts";
import { startService } from "../support/service.ts";
import { describeMachine, percentile, timed } from "./bench.ts";
import type { BenchOptions } from "./options.ts";
import { writeDurably } from "./rivals/write-durably.ts";
import { makeTakers, removeTakers, type Taker, takersFor, turnsOf } from "./turns.ts";

const NAME = "tbench";
const BLOCKS = 4;
/** Times the bare work. */
const AIMS = { upload: 2, revoke: 3.5, bare: 1 } as const;

/** Prints the medians of both changes and of the bare work, and the ratios. */
export async function benchKeyChanges({ calls }: BenchOptions): Promise<void> {
  if (process.getuid?.() !== 0) return console.log("\n## Key changes in direct mode\n\nleft out: needs root");
  const directory = mkdtempSync("/var/tmp/uam-bench-");
  const service = await startService(directory, {
    UAM_HOST_MODE: "direct",
    UAM_UID_RANGE: "58600-58699",
    UAM_LOG_LEVEL: "warn",
  });
  const shared = await openEmbeddedPostgres({ dataDir: join(directory, "data"), log: silentLog });
  const { host, port, username, database } = shared.connection;
  const sql = postgres({ path: `${host}/.s.PGSQL.${port}`, username, database, max: 1 });
  let takers: readonly Taker[] = [];
  let admin = "";
  let bare: ReturnType<typeof spawn> | undefined;
  try {
    const password = service.run(["admin", "add", "bench-admin", "--email", "a@example.org"]).stdout.trim();
    admin = (await service.call("POST", "/auth/admin/login", "", { username: "bench-admin", password })).cookie;
    takers = await makeTakers(service, admin, NAME, takersFor(calls));
    const next = turnsOf(takers);
    const floorDirectory = `/home/ext_${NAME}/floor`;
    mkdirSync(floorDirectory);
    const job = { socket: `${host}/.s.PGSQL.${port}`, username, database, directory: floorDirectory };
    bare = spawn(process.execPath, [join(import.meta.dir, "rivals/bare-key-changes.ts"), JSON.stringify(job)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const rival = await new Promise<string>((resolve) =>
      bare?.stdout?.once("data", (text) => resolve(String(text).trim())),
    );
    const times = { upload: [] as number[], revoke: [] as number[], bare: [] as number[] };
    const rivals = { upload: [] as number[], revoke: [] as number[], bare: [] as number[] };
    // In blocks: two servers that take turns at every call find the processors' caches full of the other's.
    for (let block = 0; block < BLOCKS; block++) {
      for (const [origin, into] of [
        [service.origin, times],
        [rival, rivals],
      ] as const) {
        for (let call = 0; call < calls / BLOCKS; call++) {
          const { cookie } = next();
          const text = freshKey();
          const body = JSON.stringify({ name: "bench", public_key: text });
          let id = 0;
          into.bare.push(await timed(() => bareWork(sql, floorDirectory, text)));
          into.upload.push(
            await timed(async () => {
              id = (await change(`${origin}/api/v1/me/keys`, { method: "POST", body }, cookie)).data.id;
            }),
          );
          into.revoke.push(await timed(() => change(`${origin}/api/v1/me/keys/${id}`, { method: "DELETE" }, cookie)));
        }
      }
    }
    console.log(`\n## Key changes in direct mode, ${calls} of each, one after the other\n\n${describeMachine()}`);
    const floor = percentile(times.bare, 0.5);
    for (const name of ["upload", "revoke", "bare"] as const) {
      const median = percentile(times[name], 0.5);
      const least = name === "bare" ? "" : `   ${(median / percentile(rivals[name], 0.5)).toFixed(2)} of a bare server`;
      console.log(
        `${name.padEnd(8)} median ${median.toFixed(2)} ms   p99 ${percentile(times[name], 0.99).toFixed(2)} ms   ${(median / floor).toFixed(2)} of the bare work (aim ${AIMS[name]})${least}`,
      );
    }
  } finally {
    bare?.kill();
    await removeTakers(service, admin, takers);
    await sql.end();
    await shared.stop();
    await service.stop();
    rmSync(directory, { recursive: true, force: true });
    for (let each = 0; each < takersFor(calls); each++) {
      spawnSync("userdel", ["--", each === 0 ? `ext_${NAME}` : `ext_${NAME}-${each}`]);
    }
  }
}

async function change(url: string, request: RequestInit, cookie: string) {
  const answer = await fetch(url, { ...request, headers: { cookie, "content-type": "application/json" } });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as { readonly data: { readonly id: number } };
}

async function bareWork(sql: postgres.Sql, directory: string, text: string): Promise<void> {
  await sql`insert into settings (key, value, updated_at) values ('bench', 1, now()) on conflict (key) do update set value = settings.value + 1`;
  writeDurably(directory, text);
}
