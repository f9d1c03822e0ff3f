/**
 * `bun run test:long upgrade [--records N] [--kills N] [--seed N] [--data-only]`: from 0.1.0, which serves under load with a log of so many
 * records, to the built binary. The migration is killed at random moments, and finds the disk full; each time the old program goes on
 * serving. Then it succeeds, the new one takes over, and everything verifies; so does a backup of 0.1.0 that the new one restores.
 * Before that a small data directory of each older version (each-version.ts), and with --data-only nothing else.
 */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { askEmbedded } from "../../support/embedded-sql.ts";
import { BINARY, type Service, startProgram } from "../../support/service.ts";
import { createRandom } from "../closings/random.ts";
import { upgradeEach } from "./each-version.ts";
import { type Load, startLoad } from "./load.ts";
import { AUDIT_KEY, buildOld, fillLog } from "./versions.ts";

const { values } = parseArgs({
  options: {
    records: { type: "string", default: "1000000" },
    kills: { type: "string", default: "8" },
    "data-only": { type: "boolean", default: false },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const [records, kills, seed] = [values.records, values.kills, values.seed].map(Number) as [number, number, number];
/** Longer than a backend needs to see that its client is gone, and than what it had locked is waited for. */
const BACK_WITHIN = 60_000;
const ADMIN = "old-admin";
let password = "";
/** Whatever serves now. */
let serving: Service | undefined;
const findings: string[] = [];
const random = createRandom(seed);
const begin = performance.now();
const tell = (line: string) => console.log(`${((performance.now() - begin) / 1000).toFixed(0).padStart(5)} s  ${line}`);
const variables = { UAM_AUDIT_KEY: AUDIT_KEY, UAM_RATE_LIMIT: "off", UAM_LOG_LEVEL: "warn" };

if (process.geteuid?.() !== 0) throw new Error("This mounts a small file system: run it as root");
const first = buildOld("0.1.0", tell);
const directory = mkdtempSync("/var/tmp/uam-upgrade-");
const disk = join(directory, "disk");
mountDisk();
const dataDir = join(disk, "data");
try {
  findings.push(...(await upgradeEach(directory, tell)));
  if (!values["data-only"]) await story();
} finally {
  // Also where something was thrown.
  await serving?.stop("SIGKILL");
  await Bun.sleep(500);
  spawnSync("umount", ["-l", disk]);
  rmSync(directory, { recursive: true, force: true });
}
tell(`${findings.length} findings, seed ${seed}`);
for (const finding of findings) console.log(`\n${finding}`);
process.exit(findings.length === 0 ? 0 : 1);

async function story(): Promise<void> {
  let old = await serve(first.binary);
  await timed(`${records} records made`, async () => fillLog(first, join(dataDir, "postgres/run"), records));
  const admin = await logIn(old);
  const backup = join(directory, "old.backup");
  await timed("backup by 0.1.0", async () => must(await run(first.binary, "backup", backup)));
  let load = startLoad(old, admin);
  const made: string[] = [];
  await load.nextSuccess(BACK_WITHIN);
  await Bun.sleep(5000);
  tell(`0.1.0 serves: ${load.made.length} users made, the longest wait ${Math.round(load.longestGap())} ms`);

  await fullDisk(load);
  let longest = 30_000;
  for (let kill = 1; kill <= kills; kill++) {
    const wait = random.below(longest);
    const ended = await migrateAndKill(wait);
    if (ended !== undefined) {
      // It was done sooner: what took so long was killed before.
      longest = Math.max(500, Math.round(longest / 2));
      if (await isMigrated()) {
        tell(`migrated within ${wait} ms, before it was killed`);
        break;
      }
      findings.push(`the migration ended with ${ended} by itself`);
      continue;
    }
    const back = await load.nextSuccess(BACK_WITHIN).catch((error: unknown) => String(error));
    tell(
      `killed after ${wait} ms: 0.1.0 answers again ${typeof back === "number" ? `${Math.round(back)} ms later` : "NOT"}`,
    );
    if (typeof back === "string") findings.push(`killed after ${wait} ms, and 0.1.0 does not answer: ${back}`);
    if (await isMigrated()) findings.push("a migration that was killed has left something");
  }

  // The machine fails: service and database are killed in the middle of it.
  if (!(await isMigrated())) {
    await load.stop();
    made.push(...load.made);
    report(load);
    const migration = start("migrate");
    await Bun.sleep(3000);
    killAll(migration, old);
    old = await serve(first.binary);
    tell("everything was killed in the middle; 0.1.0 serves again");
    load = startLoad(old, admin);
    await load.nextSuccess(BACK_WITHIN).catch((error: unknown) => findings.push(`after a crash: ${error}`));
  }

  load.longestGap();
  await timed("migrated while 0.1.0 serves", async () => must(await run(BINARY, "migrate")));
  // It cannot go on beside this schema, and says so with errors; what it acknowledges all the same has to be there.
  await Bun.sleep(3000);
  await load.stop();
  report(load);
  made.push(...load.made);
  await old.stop();

  const service = await timed("the new version serves", () => serve(BINARY));
  await checkAll(service, made);
  await service.stop();

  const restored = join(disk, "restored");
  rmSync(dataDir, { recursive: true, force: true });
  await timed("backup of 0.1.0 restored", async () => must(await run(BINARY, "restore", backup, restored)));
  const verified = await timed("verified", async () => await run(BINARY, "audit", "verify", restored));
  tell(verified.output.split("\n")[0] ?? "");
  if (verified.status !== 0) findings.push(`restored: audit verify: ${verified.output}`);
}

async function serve(binary: string): Promise<Service> {
  serving = await startProgram([binary], disk, { ...variables, UAM_DATA_DIR: dataDir });
  return serving;
}

/** What was acknowledged is there, and the log is whole. */
async function checkAll(service: Service, made: readonly string[]): Promise<void> {
  const verified = await timed("verified", async () => await run(BINARY, "audit", "verify"));
  tell(verified.output.split("\n")[0] ?? "");
  if (verified.status !== 0) findings.push(`audit verify: ${verified.output}`);
  const check = await run(BINARY, "reconcile", "--check");
  if (check.status !== 0) findings.push(`reconcile --check: ${check.output}`);
  const stored = new Set((await query("select username from users")).map(({ username }) => String(username)));
  const lost = made.filter((name) => !stored.has(name));
  tell(`${made.length} users were acknowledged, ${stored.size} are stored`);
  if (lost.length > 0) findings.push(`acknowledged and not there: ${lost.join(", ")}`);
  const admin = await logInAgain(service);
  for (const path of ["/audit?page_size=20", "/audit?action=user.create&page=3", "/users", "/admin/stats"]) {
    const { status } = await service.call("GET", path, admin);
    if (status !== 200) findings.push(`GET ${path} of the new version: ${status}`);
  }
}

/** Room for what the old program does, and not for a log that is written anew. */
async function fullDisk(load: Load): Promise<void> {
  const filler = join(disk, "filler");
  const { bavail, bsize } = statfsSync(disk);
  const left = 40 * 2 ** 20;
  const size = Math.max(0, bavail * bsize - left);
  must(await run("/usr/bin/fallocate", "-l", String(size), filler));
  const failed = await run(BINARY, "migrate");
  tell(`with 40 MiB left: exit ${failed.status}, ${failed.output.slice(-300)}`);
  if (!/disk that \S+ is on is full/.test(failed.output)) findings.push("a migration without room does not say so");
  if (failed.status === 0) findings.push("a migration went through with hardly any room: make the log larger");
  rmSync(filler);
  const back = await load.nextSuccess(BACK_WITHIN).catch((error: unknown) => String(error));
  tell(
    `0.1.0 after a migration without room: ${typeof back === "number" ? `answers ${Math.round(back)} ms later` : back}`,
  );
  if (typeof back === "string") findings.push(`0.1.0 does not answer after a migration without room: ${back}`);
  if (await isMigrated()) findings.push("a migration without room has left something");
}

/** The exit code, or undefined if it was killed. */
async function migrateAndKill(wait: number): Promise<number | undefined> {
  const child = start("migrate");
  const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  const timer = setTimeout(() => child.kill("SIGKILL"), wait);
  const code = await ended;
  clearTimeout(timer);
  return code ?? undefined;
}

function start(...args: readonly string[]): ChildProcess {
  return spawn(BINARY, args, { cwd: disk, env: environment(dataDir), stdio: "ignore" });
}

function killAll(migration: ChildProcess, old: Service): void {
  migration.kill("SIGKILL");
  process.kill(old.pid, "SIGKILL");
  const file = join(dataDir, "postgres/data/postmaster.pid");
  if (existsSync(file)) spawnSync("sh", ["-c", `kill -KILL $(head -n 1 ${file})`]);
  Bun.sleepSync(1000);
}

async function isMigrated(): Promise<boolean> {
  const rows = await query("select 1 from information_schema.tables where table_name = 'closings'");
  return rows.length > 0;
}

function query(text: string) {
  return askEmbedded(dataDir, text);
}

async function logIn(service: Service): Promise<string> {
  password = service.run(["admin", "add", ADMIN, "--email", "a@example.org"]).stdout.trim();
  return await logInAgain(service);
}

async function logInAgain(service: Service): Promise<string> {
  const login = await service.call("POST", "/auth/admin/login", "", { username: ADMIN, password });
  if (login.status !== 200) throw new Error(`no login: ${JSON.stringify(login.body)}`);
  return login.cookie;
}

interface Ran {
  readonly status: number;
  readonly output: string;
}

/** A last argument that is a directory's path is the data directory. */
async function run(binary: string, ...args: readonly string[]): Promise<Ran> {
  const own = args.at(-1)?.endsWith("/restored") === true;
  const given = own ? args.slice(0, -1) : args;
  // The load goes on meanwhile, in this process.
  const child = Bun.spawn([binary, ...given], {
    ...{ cwd: disk, stdio: ["ignore", "pipe", "pipe"] as const },
    env: environment(own ? (args.at(-1) ?? "") : dataDir),
  });
  const output = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { status: await child.exited, output: output.join("").trim() };
}

function environment(place: string) {
  return { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", ...variables, UAM_DATA_DIR: place };
}

function must({ status, output }: Ran): void {
  if (status !== 0) throw new Error(`exit ${status}: ${output}`);
}

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const result = await work();
  tell(`${what} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
  return result;
}

function report({ failures }: Load): void {
  for (const [text, count] of failures) tell(`0.1.0 refused ${count} times: ${text}`);
}

/** Sparse, large enough for the log twice. */
function mountDisk(): void {
  mkdirSync(disk);
  const image = join(directory, "disk.img");
  const megabytes = 1500 + Math.ceil(records / 400);
  for (const [command = "", ...args] of [
    ["truncate", "--size", `${megabytes}M`, image],
    ["mkfs.ext4", "-q", image],
    ["mount", "-o", "loop", image, disk],
  ]) {
    const { status, stderr } = spawnSync(command, args, { encoding: "utf8" });
    if (status !== 0) throw new Error(`${command}: ${stderr}`);
  }
  for (const name of readdirSync(disk)) rmSync(join(disk, name), { recursive: true });
}
