/**
 * What the fleet costs where there is none: this binary against that of another commit, in turns. Key changes are in direct mode, so they need root.
 */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { freshKey } from "../support/keys.ts";
import { BINARY, type Service, startProgram } from "../support/service.ts";
import { describeMachine, percentile, timed } from "./bench.ts";
import { measure } from "./load.ts";
import type { BenchOptions } from "./options.ts";
import { treeTime } from "./processor-time.ts";
import { prepare } from "./requests.ts";
import { makeTakers, removeTakers, type Taker, takersFor, turnsOf } from "./turns.ts";

const BOOTS = 15;
const ROUNDS = 5;
const QUIET = 3000;

/** A binary, and the installation that it runs on. */
interface Candidate {
  readonly name: string;
  readonly binary: string;
  readonly directory: string;
  /** The first of the users whose host accounts are made. */
  readonly user: string;
  readonly uids: string;
}

/** Prints boot, memory, `GET /me/keys`, upload and revocation of both, and the ratios. */
export async function benchFleetSingle({ calls, rival }: BenchOptions): Promise<void> {
  const binaries = [{ name: "this", binary: BINARY }, ...(rival === undefined ? [] : [rival])];
  const candidates = binaries.map((each, index) => ({
    ...each,
    directory: mkdtempSync("/var/tmp/uam-bench-"),
    user: `tsingle${index}`,
    uids: `${58700 + 100 * index}-${58799 + 100 * index}`,
  }));
  try {
    console.log(`\n## A single host, in turns with the program of before\n\n${describeMachine()}`);
    await boots(candidates);
    await requests(candidates);
    await changes(candidates, calls);
  } finally {
    for (const { directory } of candidates) rmSync(directory, { recursive: true, force: true });
  }
}

async function boots(candidates: readonly Candidate[]): Promise<void> {
  const times = new Map(candidates.map(({ name }) => [name, [] as number[]]));
  const cpu = new Map(candidates.map(({ name }) => [name, [] as number[]]));
  const memory = new Map(candidates.map(({ name }) => [name, [] as number[]]));
  for (let boot = 0; boot <= BOOTS; boot++) {
    for (const { name, binary, directory } of candidates) {
      let service: Service | undefined;
      const time = await timed(async () => {
        service = await startProgram([binary], directory, { UAM_LOG_LEVEL: "warn" });
      });
      await Bun.sleep(QUIET);
      // The first boot makes the database.
      if (boot > 0) times.get(name)?.push(time);
      if (boot > 0) cpu.get(name)?.push(treeTime(service?.pid ?? 0) / 1000);
      if (boot > 0) memory.get(name)?.push(residentMiB(service?.pid ?? 0));
      await service?.stop();
    }
  }
  compare("boot", "ms", times);
  compare(`boot and ${QUIET / 1000} s`, "ms of processor time", cpu);
  compare(`memory after ${QUIET / 1000} s`, "MiB", memory);
}

async function requests(candidates: readonly Candidate[]): Promise<void> {
  const subjects: Record<string, Service & { readonly cookies: readonly string[] }> = {};
  try {
    for (const { name, binary, directory } of candidates) {
      const service = await startProgram([binary], directory, { UAM_LOG_LEVEL: "warn" });
      subjects[name] = { ...service, cookies: [await prepare(service)] };
    }
    const figures = Object.entries(measure(subjects, { rounds: ROUNDS }));
    compare("GET /me/keys", "requests/s", new Map(figures.map(([name, { rate }]) => [name, [rate]])));
    compare("GET /me/keys", "us of CPU each", new Map(figures.map(([name, { cpu }]) => [name, [cpu]])));
  } finally {
    for (const service of Object.values(subjects)) await service.stop();
  }
}

async function changes(candidates: readonly Candidate[], calls: number): Promise<void> {
  if (process.getuid?.() !== 0) return console.log("key changes are left out: they need root");
  const uploads = new Map(candidates.map(({ name }) => [name, [] as number[]]));
  const revocations = new Map(candidates.map(({ name }) => [name, [] as number[]]));
  const used = { upload: new Map<string, number>(), revocation: new Map<string, number>() };
  const running: (Candidate & {
    readonly service: Service;
    readonly next: () => Taker;
    readonly remove: () => Promise<unknown>;
  })[] = [];
  try {
    for (const candidate of candidates)
      running.push({ ...candidate, ...(await withAccounts(candidate, takersFor(calls))) });
    for (let call = 0; call < calls; call++) {
      for (const { name, service, next } of running) {
        const { cookie } = next();
        let id = 0;
        const count = (what: keyof typeof used, before: number) =>
          used[what].set(name, (used[what].get(name) ?? 0) + treeTime(service.pid) - before);
        const text = freshKey();
        const began = treeTime(service.pid);
        const upload = await timed(async () => {
          id = (await service.call("POST", "/me/keys", cookie, { name: "bench", public_key: text })).body.data.id;
        });
        count("upload", began);
        uploads.get(name)?.push(upload);
        const then = treeTime(service.pid);
        revocations.get(name)?.push(await timed(() => service.call("DELETE", `/me/keys/${id}`, cookie)));
        count("revocation", then);
      }
    }
    compare("key upload", "ms", uploads);
    compare("revocation", "ms", revocations);
    for (const [what, times] of Object.entries(used)) {
      const each = new Map([...times].map(([name, microseconds]) => [name, [microseconds / 1000 / calls]]));
      compare(`${what}: of all processes`, "ms of processor time", each);
    }
  } finally {
    for (const { service, remove, user } of running) {
      await remove();
      await service.stop();
      for (let each = 0; each < takersFor(calls); each++) {
        spawnSync("userdel", ["--", each === 0 ? `ext_${user}` : `ext_${user}-${each}`]);
      }
    }
  }
}

/** A service in direct mode whose users have accounts on this host. */
async function withAccounts({ binary, directory, user, uids }: Candidate, count: number) {
  const service = await startProgram([binary], join(directory), {
    UAM_DATA_DIR: join(directory, "direct"),
    UAM_HOST_MODE: "direct",
    UAM_UID_RANGE: uids,
    UAM_LOG_LEVEL: "warn",
  });
  const password = service.run(["admin", "add", "bench-admin", "--email", "a@example.org"]).stdout.trim();
  const admin = (await service.call("POST", "/auth/admin/login", "", { username: "bench-admin", password })).cookie;
  const takers = await makeTakers(service, admin, user, count);
  return { service, next: turnsOf(takers), remove: () => removeTakers(service, admin, takers) };
}

/** The medians, and what the first takes of the second: the median over the turns, since a slow moment of the machine slows down both. */
function compare(what: string, unit: string, figures: ReadonlyMap<string, readonly number[]>): void {
  const parts = [...figures].map(([name, values]) => {
    const median = percentile(values, 0.5);
    return `${name} ${median.toFixed(median < 100 ? 1 : 0)}`;
  });
  const [own = [], before = []] = figures.values();
  const ratios = own.flatMap((value, turn) => (before[turn] === undefined ? [] : [value / before[turn]]));
  const ratio = ratios.length === 0 ? "" : `, ratio ${percentile(ratios, 0.5).toFixed(3)} (aim 0.95 to 1.05)`;
  console.log(`${what.padEnd(28)} ${parts.join(", ")} ${unit}${ratio}`);
}

function residentMiB(pid: number): number {
  const [, kib = "0"] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kib) / 1024;
}
