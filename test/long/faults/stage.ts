/** The built program as a service with an administrator, and what must hold of it while something fails and afterwards. */

import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../../../src/host/safe-open.ts";
import { type Service, type ServiceAnswer, startProgram, startService } from "../../support/service.ts";

export const PASSWORD = "seven lanterns over cold water";
/** What somebody who is not concerned may wait, in milliseconds. */
const PROMPT = 1000;

export interface Stage {
  readonly service: Service;
  /** Of the service's data is below it. */
  readonly directory: string;
  /** The administrator's session. */
  readonly cookie: string;
  /** As the administrator; status 0 where there was no answer in time. */
  readonly call: (method: string, path: string, body?: unknown, patience?: number) => Promise<ServiceAnswer>;
  readonly fault: (isSo: boolean, sentence: string) => void;
  /** Notes a fault unless others are answered within a second. */
  readonly othersAreServed: (when: string) => Promise<void>;
  /** Waits until requests that change something are done again; notes a fault if that takes longer. */
  readonly recovers: (within: number) => Promise<void>;
  /** Restarts nothing: for a database that was lost. */
  readonly postmaster: () => number;
}

export interface Setting {
  readonly variables?: Readonly<Record<string, string>>;
  /** Instead of the built program. */
  readonly program?: (directory: string) => readonly string[];
  /** A command that runs the service. */
  readonly as?: (directory: string) => readonly string[];
  /** Mounts a small file system at that place in the directory: tmpfs, or ext4, whose blocks nobody has reserved. */
  readonly small?: { readonly place: string; readonly kind: "tmpfs" | "ext4"; readonly size: string };
  /** Whether as few descriptors and processes have to be there afterwards as before. */
  readonly leaks?: boolean;
  /** Whether the audit log can be read afterwards, and has to verify. */
  readonly verifies?: boolean;
}

export type Act = (stage: Stage) => Promise<void>;

/** Lets that happen to a service of its own. Returns what must not be, in sentences. */
export async function onStage(setting: Setting, act: Act): Promise<readonly string[]> {
  const directory = mkdtempSync("/var/lib/uam-faults-");
  chmodSync(directory, 0o755);
  const { small } = setting;
  const mounted = small === undefined ? undefined : mountSmall(directory, small);
  const faults: string[] = [];
  let service: Service | undefined;
  try {
    const variables = { UAM_RATE_LIMIT: "off", UAM_CAPTCHA: "off", ...setting.variables };
    const program = setting.program?.(directory);
    service =
      program === undefined
        ? await startService(directory, variables, setting.as?.(directory) ?? [])
        : await startProgram(program, directory, variables);
    const stage = await open(service, directory, faults);
    // The pools are full from here on.
    await Promise.all(
      Array.from({ length: 40 }, (_, count) => stage.call("GET", count % 2 === 0 ? "/users" : "/audit")),
    );
    const before = usedBy(service.pid);
    await act(stage);
    if (setting.leaks !== false) await noLeak(service.pid, before, faults);
    if (setting.verifies !== false) {
      const verified = service.run(["audit", "verify"]);
      stage.fault(verified.status !== 0, `the audit log does not verify: ${verified.stdout}${verified.stderr}`);
    }
    const code = await service.stop();
    stage.fault(code !== 0, `it ended with ${code} when it was told to stop`);
    service = undefined;
  } finally {
    await service?.stop("SIGKILL");
    if (mounted !== undefined) spawnSync("umount", ["-l", mounted]);
    rmSync(directory, { recursive: true, force: true });
  }
  return faults;
}

async function open(service: Service, directory: string, faults: string[]): Promise<Stage> {
  const added = service.run(["admin", "add", "boss", "--email", "b@example.org", "--password-stdin"], `${PASSWORD}\n`);
  if (added.status !== 0) throw new Error(added.stderr);
  const { cookie } = await service.call("POST", "/auth/admin/login", "", { username: "boss", password: PASSWORD });
  const fault = (isSo: boolean, sentence: string) => void (isSo && faults.push(sentence));
  const call: Stage["call"] = (method, path, body, patience = 30_000) =>
    Promise.race([service.call(method, path, cookie, body).catch(noAnswer), Bun.sleep(patience).then(noAnswer)]);
  let count = 0;
  return {
    ...{ service, directory, cookie, call, fault },
    async othersAreServed(when) {
      for (const path of ["/healthz", "/users"]) {
        let best = Number.POSITIVE_INFINITY;
        // On a machine this busy some may come late, but not one after the other.
        for (let attempt = 0; attempt < 20 && best > PROMPT; attempt++) {
          const began = performance.now();
          const { status } = await call("GET", path, undefined, 10_000);
          if (status === 200) best = Math.min(best, performance.now() - began);
        }
        fault(best > PROMPT, `GET ${path} is not answered within a second ${when}: ${best.toFixed(0)} ms`);
      }
    },
    async recovers(within) {
      const end = performance.now() + within;
      let last: ServiceAnswer = noAnswer();
      while (performance.now() < end) {
        last = await call("POST", "/users", { username: `again-${++count}`, email: "a@example.org" });
        if (last.status === 201) return;
        await Bun.sleep(100);
      }
      fault(true, `no change is done again after ${within / 1000} s: ${last.status} ${JSON.stringify(last.body)}`);
    },
    postmaster: () => {
      // It is not there while a server that was killed is being started again.
      try {
        return Number(readFileSync(join(directory, "data/postgres/data/postmaster.pid"), "utf8").split("\n")[0]);
      } catch (error) {
        if (errorCode(error) !== "ENOENT") throw error;
        return 0;
      }
    },
  };
}

const noAnswer = (): ServiceAnswer => ({ status: 0, cookie: "", body: {} });

export interface Used {
  readonly descriptors: number;
  readonly processes: number;
}

/** Descriptors of the process, and its children. */
export function usedBy(pid: number): Used {
  return { descriptors: readdirSync(`/proc/${pid}/fd`).length, processes: childrenOf(pid).length };
}

export function childrenOf(pid: number): readonly number[] {
  const { stdout } = spawnSync("ps", ["-o", "pid=", "--ppid", String(pid)], { encoding: "utf8" });
  return stdout.split("\n").map(Number).filter(Boolean);
}

/** Connections of its pools that the service opens when it needs them, and had not needed yet before. */
const POOLED = 4;

async function noLeak(pid: number, before: Used, faults: string[]): Promise<void> {
  const end = performance.now() + 20_000;
  let now = usedBy(pid);
  const isMore = () => now.descriptors > before.descriptors + POOLED || now.processes > before.processes;
  while (isMore() && performance.now() < end) {
    await Bun.sleep(250);
    now = usedBy(pid);
  }
  if (isMore()) faults.push(`more is used than before: ${JSON.stringify(before)}, ${JSON.stringify(now)}`);
}

function mountSmall(directory: string, { place, kind, size }: NonNullable<Setting["small"]>): string {
  const at = join(directory, place);
  mkdirSync(at, { recursive: true, mode: 0o711 });
  if (kind === "tmpfs") {
    must("mount", "-t", "tmpfs", "-o", `size=${size},mode=711`, "uam-faults", at);
    return at;
  }
  const image = join(directory, "image");
  must("truncate", "--size", size, image);
  must("mkfs.ext4", "-q", "-m", "0", image);
  must("mount", "-o", "loop", image, at);
  chmodSync(at, 0o711);
  return at;
}

/** Leaves no block free at that place; returns what makes room again. */
export function fill(at: string): () => void {
  const files = [
    [join(at, "filler"), "64k"],
    [join(at, "filler-of-the-rest"), "512"],
  ] as const;
  for (const [file, block] of files)
    spawnSync("dd", ["if=/dev/zero", `of=${file}`, `bs=${block}`], { stdio: "ignore" });
  return () => {
    for (const [file] of files) if (existsSync(file)) rmSync(file);
  };
}

export function must(...[command = "", ...args]: readonly string[]): void {
  const { status, stderr, error } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${error?.message ?? stderr}`);
}
