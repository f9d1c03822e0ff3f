/** A place where rounds go on one after the other: a service with its own data, commands that can fail, and file system for homes. */

import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readAccounts } from "../../../src/host/account.ts";
import { forgetAccounts } from "../../support/account-files.ts";
import { askEmbedded, askThroughRestarts } from "../../support/embedded-sql.ts";
import { BINARY, type Service, type ServiceAnswer, startService } from "../../support/service.ts";
import type { TestSshd } from "../../support/sshd.ts";
import { makeShims, type Shims } from "./shims.ts";

export const PASSWORD = "seven lanterns over cold water";
const ADMIN = "proof-admin";

export interface LaneKind {
  readonly mode: "direct" | "sudo";
  readonly homes: "tmpfs" | "ext4";
}

/** What the lanes of a run share. */
export interface Ground {
  readonly directory: string;
  /** With PAM and without. */
  readonly sshds: readonly TestSshd[];
}

export interface Lane {
  readonly index: number;
  readonly kind: LaneKind;
  readonly ground: Ground;
  /** Where the homes are: a small file system of its own. */
  readonly base: string;
  readonly dataDir: string;
  readonly shims: Shims;
  readonly pid: () => number;
  readonly alive: () => boolean;
  /** Undefined where the service did not answer. */
  readonly call: (method: string, path: string, cookie: string, body?: unknown) => Promise<ServiceAnswer | undefined>;
  readonly admin: () => string;
  /** The uid of an account that no round takes anything from. */
  readonly neighbour: () => number;
  /** Another command of the program, with the service's configuration; null if it was killed. */
  readonly command: (args: readonly string[], killAfter?: number) => Promise<{ status: number | null; output: string }>;
  /** As the database's superuser. Asked again where the connection was lost while the service lives: only for what may be done twice. */
  readonly sql: (text: string) => Promise<readonly Record<string, unknown>[]>;
  readonly kill: () => Promise<void>;
  /** Starts it again if it is not there. */
  readonly start: () => Promise<void>;
  readonly log: () => string;
  readonly end: () => Promise<void>;
}

export function must(...[command = "", ...args]: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stderr}`);
}

export async function makeLane(index: number, kind: LaneKind, ground: Ground): Promise<Lane> {
  forgetAccounts(`tp${index}x`);
  const directory = join(ground.directory, `lane${index}`);
  const base = join(directory, "home");
  const own = join(directory, "service");
  for (const path of [directory, base, own]) mkdirSync(path, { mode: 0o755 });
  mountHomes(directory, base, kind);
  // What is mounted in a home later is to be seen by the service too, which is in a namespace of its own.
  must("mount", "--make-shared", base);
  const shims = makeShims(join(directory, "shims"));
  const user = `uam-tproof${index}`;
  const first = 53_000 + index * 500;
  const dataDir = join(own, "data");
  const variables = {
    ...{ UAM_HOST_MODE: kind.mode, UAM_HOME_BASE: base, UAM_UID_RANGE: `${first}-${first + 499}` },
    ...{ UAM_RATE_LIMIT: "off", UAM_DATA_DIR: dataDir },
  };
  const rules = kind.mode === "sudo" ? allow(user, own, variables) : undefined;
  const as = rules === undefined ? [] : ["/usr/bin/setpriv", "--reuid", user, "--regid", user, "--init-groups", "--"];
  // With the real one, before any script is in its place.
  if (as.length > 0) as[0] = join(directory, "shims/real/setpriv");
  const prefix = [...shims.wrapper, ...as];
  const command: Lane["command"] = async (args, killAfter) => {
    const child = Bun.spawn([...prefix, BINARY, ...args], {
      ...{ cwd: own, stdio: ["ignore", "pipe", "pipe"] as const },
      env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", ...variables },
    });
    const timer = setTimeout(() => child.kill("SIGKILL"), killAfter ?? 120_000);
    const output = (await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])).join("");
    await child.exited;
    clearTimeout(timer);
    return { status: child.signalCode === null ? child.exitCode : null, output };
  };
  let service: Service | undefined;
  let log = "";
  let cookie = "";
  const neighbour = `tp${index}x0`;
  const lane: Lane = {
    ...{ index, kind, ground, base, dataDir, shims, command },
    pid: () => service?.pid ?? 0,
    alive: () => service !== undefined && spawnSync("kill", ["-0", String(service.pid)]).status === 0,
    call: (method, path, session, body) => service?.call(method, path, session, body).catch(() => undefined) ?? gone(),
    admin: () => cookie,
    neighbour: () => readAccounts().passwd.get(`ext_${neighbour}`)?.uid ?? 0,
    // Rounds kill servers and what starts them: a question of ours may be what is cut off by that.
    sql: (text) =>
      askThroughRestarts(
        () => askEmbedded(dataDir, text),
        () => lane.alive(),
      ),
    kill: async () => {
      log = service?.log() ?? log;
      await service?.stop("SIGKILL");
      service = undefined;
    },
    start: async () => {
      if (service !== undefined && !lane.alive()) await lane.kill();
      service ??= await startService(own, variables, prefix);
    },
    log: () => service?.log() ?? log,
    end: async () => {
      await service?.stop();
      for (let round = 0; round < 5; round++) spawnSync("umount", ["-l", base]);
      forgetAccounts(`tp${index}x`);
      if (rules !== undefined) forbid(user, rules);
    },
  };
  await lane.start();
  const add = Bun.spawn([...prefix, BINARY, "admin", "add", ADMIN, "--email", "a@example.org", "--password-stdin"], {
    ...{ cwd: own, stdin: Buffer.from(`${PASSWORD}\n`), stdout: "ignore" as const },
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", ...variables },
  });
  if ((await add.exited) !== 0) throw new Error("no administrator could be added");
  cookie = (await lane.call("POST", "/auth/admin/login", "", { username: ADMIN, password: PASSWORD }))?.cookie ?? "";
  if (cookie === "") throw new Error(`the administrator could not log in:\n${lane.log()}`);
  await lane.call("POST", "/users", cookie, { username: neighbour, email: "n@example.org" });
  return lane;
}

const gone = async (): Promise<undefined> => undefined;

/** Small enough for an account's owner to leave no room in. */
export function mountHomes(directory: string, base: string, { homes }: Pick<LaneKind, "homes">): void {
  if (homes === "tmpfs") {
    must("mount", "-t", "tmpfs", "-o", "mode=755,size=48m,nr_inodes=600", "uam-proof", base);
    return;
  }
  const image = join(directory, "homes.img");
  must("truncate", "--size", "48M", image);
  must("mkfs.ext4", "-q", "-N", "600", image);
  must("mount", "-o", "loop", image, base);
  rmSync(join(base, "lost+found"), { recursive: true });
}

/** Makes the service's user and its rules; returns where they are. */
function allow(user: string, own: string, variables: Readonly<Record<string, string>>): string {
  const rules = `/etc/sudoers.d/${user}`;
  forbid(user, rules);
  must("useradd", "-r", "-M", "-U", "-s", "/usr/sbin/nologin", user);
  must("chown", `${user}:${user}`, own);
  const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", ...variables };
  const printed = Bun.spawnSync([BINARY, "sudoers", "--user", user], { env, cwd: own });
  if (printed.exitCode !== 0) throw new Error(printed.stderr.toString());
  writeFileSync(`${own}.rules`, printed.stdout);
  chmodSync(`${own}.rules`, 0o440);
  must("visudo", "-cf", `${own}.rules`);
  spawnSync("cp", ["-p", `${own}.rules`, `${rules}.new`]);
  renameSync(`${rules}.new`, rules);
  return rules;
}

function forbid(user: string, rules: string): void {
  rmSync(rules, { force: true });
  spawnSync("pkill", ["-KILL", "-u", user]);
  for (let attempt = 0; attempt < 20 && spawnSync("userdel", [user]).status === 8; attempt++) Bun.sleepSync(50);
}
