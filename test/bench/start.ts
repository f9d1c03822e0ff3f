/** From the start of the binary to its first healthy answer, its memory, and its size. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestDatabase } from "../support/database.ts";
import { BINARY, startService } from "../support/service.ts";
import { describeMachine, percentile, timed } from "./bench.ts";

const LATER_STARTS = 5;
const REQUESTS = [100_000, 200_000, 400_000] as const;
const QUIET = 60_000;
/** What the systemd unit sets besides (src/install/unit.ts). */
const AS_IN_THE_UNIT = { BUN_JSC_heapGrowthMaxIncrease: "1" };

/** Prints seconds, MiB and MB beside their aims. */
export async function benchStart(): Promise<void> {
  console.log(`\n## Start, memory and size of the binary\n\n${describeMachine()}`);
  const directory = mkdtempSync(join(tmpdir(), "uam-bench-"));
  try {
    console.log(`first boot, embedded database  ${await startAndStop(directory)} s (aim 1.5)`);
    console.log(`later boots, embedded database ${await laterStarts(directory, {})} s (aim 0.2)`);
    const database = await createTestDatabase();
    if ("host" in database.connection) {
      const { host, username, database: name } = database.connection;
      const url = `postgres://${username}@localhost/${name}?host=${host}`;
      console.log(
        `boots, external database       ${await laterStarts(directory, { UAM_DATABASE_URL: url })} s (aim 0.1)`,
      );
    }
    await database.drop();
    await memory(directory);
    console.log(`size of the binary             ${(statSync(BINARY).size / 1e6).toFixed(0)} MB (aim under 110)`);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function laterStarts(directory: string, variables: Record<string, string>): Promise<string> {
  const times: number[] = [];
  for (let start = 0; start < LATER_STARTS; start++) times.push(Number(await startAndStop(directory, variables)));
  return percentile(times, 0.5).toFixed(2);
}

async function startAndStop(directory: string, variables: Record<string, string> = {}): Promise<string> {
  let service: Awaited<ReturnType<typeof startService>> | undefined;
  const milliseconds = await timed(async () => {
    service = await startService(directory, variables);
  });
  await service?.stop();
  return (milliseconds / 1000).toFixed(2);
}

/** A leak would keep growing; what the runtime has taken for its heap and compiled code stays about the same. */
async function memory(directory: string): Promise<void> {
  const service = await startService(directory, { ...AS_IN_THE_UNIT, UAM_LOG_LEVEL: "warn" });
  console.log(`resident memory, idle          ${residentMiB(service.pid)} MiB (aim 75)`);
  let requests = 0;
  for (const target of REQUESTS) {
    while (requests < target) requests += load(`${service.origin}/api/v1/auth/me`);
    console.log(
      `after ${String(requests).padStart(6)} requests          ${residentMiB(service.pid)} MiB (aim: no growth)`,
    );
  }
  await Bun.sleep(QUIET);
  console.log(`${QUIET / 1000} s later                     ${residentMiB(service.pid)} MiB`);
  await service.stop();
}

/** Two seconds of requests without a session, made by wrk (Debian package); how many there were. */
function load(url: string): number {
  const text = execFileSync("wrk", ["-t1", "-c32", "-d2s", url], { encoding: "utf8" });
  return Number(/(\d+) requests in/.exec(text)?.[1]);
}

function residentMiB(pid: number): number {
  const [, kib = "0"] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Math.round(Number(kib) / 1024);
}
