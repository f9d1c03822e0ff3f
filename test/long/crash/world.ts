/** A service with its database and a host, in which processes die at a step that a test names, or at any moment. */

import { type ChildProcess, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import { type Config, readConfig } from "../../../src/config/config.ts";
import { addAdmin } from "../../../src/domain/auth/administrators/add-admin.ts";
import { type Context, systemContext } from "../../../src/domain/operation/context.ts";
import { readAccounts } from "../../../src/host/account.ts";
import { bunRuntime } from "../../../src/runtime/bun.ts";
import { openToLook, type ServicesHandle } from "../../../src/server/compose.ts";
import { silentLog } from "../../../src/shared/log.ts";
import { hostAccountOf } from "../../../src/shared/text/account-name.ts";
import { FAULT_VARIABLE, type Fault } from "../../../src/shared/work/fault-point.ts";
import { forgetAccounts } from "../../support/account-files.ts";
import { createTestClock } from "../../support/clock.ts";
import { askEmbedded } from "../../support/embedded-sql.ts";
import { HANG } from "../../support/hang.ts";
import { insertHost } from "../../support/host-rows.ts";
import { freePort } from "../../support/port.ts";
import { type Receiver, startReceiver } from "../../support/receiver.ts";
import type { ServiceAnswer } from "../../support/service.ts";

import { ELSEWHERE } from "./deeds.ts";

const PASSWORD = "seven lanterns over cold water";
const ADMIN = "crash-admin";
/** Nothing else on a machine that runs tests has these. */
const FIRST_UID = 100_000;
/** Never given out again: a whole run of the suite takes some thousands in each world. */
const UIDS = 20_000;
const PLACES = 10;
const FIRST_PORT = 27_410;
const PLACE_VARIABLE = "CRASH_PLACE";
/** The processor time of the service until it serves, in milliseconds; by the clock it also waits for disks and for others. */
export const MOST_WORK_TO_SERVE = 3000;
/** A request that a dead database keeps waiting is given up after so many milliseconds. */
const PATIENCE = 20_000;

/** In milliseconds, until the service served. */
export interface Start {
  readonly took: number;
  /** Less the time for which the service's and the database's first threads waited for a processor that others had. */
  readonly net: number;
  /** The processor time that all threads of the service took. */
  readonly work: number;
  /** Whether the machine had so much else to do that what the service runs waited, too: then the time says nothing. */
  readonly isDisturbed: boolean;
}

export interface WorldOptions {
  /** The program as a command. */
  readonly program: readonly string[];
  /** `agents`: the service has no host of its own. */
  readonly hostMode: "direct" | "agents";
}

export interface World {
  /** What the names of its users begin with. */
  readonly prefix: string;
  readonly directory: string;
  /** Where the homes are. */
  readonly base: string;
  readonly dataDir: string;
  readonly hostMode: "direct" | "agents";
  readonly origin: string;
  /** The file that arms a fault point. */
  readonly fault: string;
  readonly receiver: Receiver;
  /** A name that no user had. */
  name(): string;
  readonly admin: () => string;
  /** The service, undefined while it does not run. */
  service(): ChildProcess | undefined;
  /** The service, and commands and agents under way. */
  processes(): readonly ChildProcess[];
  /** A process that minds the fault points, too. */
  launch(argv: readonly string[]): ChildProcess;
  /** Undefined where no answer came. */
  call(method: string, path: string, cookie: string, body?: unknown): Promise<ServiceAnswer | undefined>;
  /** Another command of the program, under way. */
  command(args: readonly string[]): { readonly child: ChildProcess; readonly output: Promise<string> };
  /** The services as another instance on the same database has them; open until the service is killed. */
  context(): Promise<Context>;
  /** The same, once a database that was killed is back. */
  contextAgain(): Promise<Context>;
  readonly config: Config;
  /** As the database's superuser. */
  sql(text: string): Promise<readonly Record<string, unknown>[]>;
  postmaster(): number;
  /** Whether the service answers, and its database too. */
  ready(): Promise<boolean>;
  arm(fault: Fault): void;
  disarm(): void;
  /** Starts the service if it does not run; "died" if it did before it served. */
  start(): Promise<Start | "running" | "died">;
  /** Kills the service, and waits until it is gone. */
  kill(): Promise<void>;
  log(): string;
  end(): Promise<void>;
}

export async function makeWorld({ program, hostMode }: WorldOptions): Promise<World> {
  const place = takePlace();
  const prefix = `tc${place.number}x`;
  const first = FIRST_UID + place.number * UIDS;
  forgetAccounts(prefix);
  // Not below /tmp: the way to a home must be root's alone.
  const directory = mkdtempSync("/var/lib/uam-crash-");
  chmodSync(directory, 0o755);
  const [base, dataDir, fault] = ["home", "data", "fault"].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(base, { mode: 0o755 });
  const receiver = await startReceiver();
  const listen = `127.0.0.1:${await freePort()}`;
  const origin = `http://${listen}`;
  const variables = {
    ...(hostMode === "agents" ? { UAM_LOCAL_HOST: "off" } : { UAM_HOST_MODE: hostMode }),
    ...{ UAM_HOME_BASE: base, UAM_UID_RANGE: `${first}-${first + UIDS - 1}` },
    ...{
      UAM_RATE_LIMIT: "off",
      UAM_DATA_DIR: dataDir,
      UAM_LISTEN: listen,
      UAM_BASE_URL: origin,
      UAM_LOG_FORMAT: "json",
    },
    ...{ UAM_WEBHOOK_NETWORKS: "127.0.0.0/8", UAM_AUDIT_STREAM: `file:${join(directory, "audit.jsonl")}` },
    ...{ UAM_FLEET_WAIT: "1s", UAM_CONSOLE: "off" },
  };
  const environment = {
    ...{ PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", [FAULT_VARIABLE]: fault },
    [PLACE_VARIABLE]: String(place.number),
    ...variables,
  };
  const config = readConfig(variables, { isRoot: true, currentDirectory: directory });
  const [path = "", ...before] = program;
  let child: ChildProcess | undefined;
  let gone: Promise<void> = Promise.resolve();
  let log = "";
  let cookie = "";
  let names = 0;
  const commands = new Set<ChildProcess>();
  let handle: ServicesHandle | undefined;

  async function closeHandle(): Promise<void> {
    const open = handle;
    handle = undefined;
    await Promise.race([open?.close().catch(() => undefined), Bun.sleep(2000)]);
  }

  const world: World = {
    ...{ prefix, directory, base, dataDir, hostMode, origin, fault, receiver, config },
    name: () => `${prefix}${(++names).toString(36)}`,
    admin: () => cookie,
    service: () => child,
    processes: () => [...(child === undefined ? [] : [child]), ...commands],
    call: async (method, target, session, body) => {
      try {
        const response = await fetch(`${origin}/api/v1${target}`, {
          method,
          headers: {
            ...(session === "" ? {} : { cookie: session }),
            ...(body === undefined ? {} : { "content-type": "application/json" }),
          },
          body: body === undefined ? null : JSON.stringify(body),
          signal: AbortSignal.timeout(PATIENCE),
        });
        const set = response.headers.get("set-cookie")?.split(";")[0] ?? "";
        return { status: response.status, cookie: set, body: await response.json() };
      } catch {
        return undefined;
      }
    },
    launch: ([program = "", ...args]) => {
      const running = spawn(program, args, { cwd: directory, env: environment, stdio: ["ignore", "pipe", "pipe"] });
      commands.add(running);
      running.once("close", () => commands.delete(running));
      return running;
    },
    command: (args) => {
      const running = world.launch([path, ...before, ...args]);
      return { child: running, output: outputOf(running) };
    },
    context: async () => {
      handle ??= await openToLook(config, silentLog, bunRuntime);
      return { ...systemContext(handle.services), actor: { type: "cli", name: "crash", ip: "" } };
    },
    contextAgain: async () => {
      await closeHandle();
      for (let attempt = 1; ; attempt++) {
        try {
          return await world.context();
        } catch (error) {
          if (attempt === 100) throw error;
          await Bun.sleep(100);
        }
      }
    },
    sql: (text) => askEmbedded(dataDir, text),
    postmaster: () => {
      const file = join(dataDir, "postgres/data/postmaster.pid");
      return existsSync(file) ? Number(readFileSync(file, "utf8").split("\n")[0]) : 0;
    },
    ready: async () => (await fetch(`${origin}/api/v1/readyz`).catch(() => undefined))?.ok === true,
    arm: (wanted) => writeFileSync(fault, JSON.stringify(wanted)),
    disarm: () => rmSync(fault, { force: true }),
    start: async () => {
      if (child !== undefined) return "running";
      const began = performance.now();
      const started = spawn(path, [...before, "serve"], {
        cwd: directory,
        env: environment,
        stdio: ["ignore", "ignore", "pipe"],
      });
      log = log.slice(-20_000);
      started.stderr.setEncoding("utf8").on("data", (text: string) => {
        log += text;
      });
      child = started;
      gone = new Promise((resolve) => started.once("close", () => resolve()));
      void gone.then(() => {
        if (child === started) child = undefined;
      });
      while (child === started) {
        if (performance.now() - began > 2 * HANG) throw new Error(`the service does not serve:\n${log}`);
        if (await world.ready()) {
          const took = performance.now() - began;
          const net = took - delayOf(started.pid ?? 0) - delayOf(world.postmaster());
          const work = workOf(started.pid ?? 0);
          return { took, net, work, isDisturbed: (loadavg()[0] ?? 0) > 2 * availableParallelism() };
        }
        await Bun.sleep(10);
      }
      return "died";
    },
    kill: async () => {
      const closing = closeHandle();
      child?.kill("SIGKILL");
      await Promise.all([closing, gone]);
    },
    log: () => log,
    end: async () => {
      await world.kill();
      await receiver.close();
      forgetAccounts(prefix);
      rmSync(directory, { recursive: true, force: true });
      place.leave();
    },
  };
  if ((await world.start()) === "died") throw new Error(`the service did not start:\n${log}`);
  await addAdmin(await world.context(), ADMIN, "a@example.org", PASSWORD);
  cookie = (await world.call("POST", "/auth/admin/login", "", { username: ADMIN, password: PASSWORD }))?.cookie ?? "";
  const { db, clock } = await world.context();
  await insertHost({ db, clock: { ...createTestClock(), ...clock } }, ELSEWHERE);
  const hook = await world.call("POST", "/webhooks", cookie, { url: receiver.url, password: PASSWORD });
  if (hook?.status !== 201) throw new Error(`no webhook: ${JSON.stringify(hook)}`);
  return world;
}

/**
 * Names and uids that no other world on this machine has, whichever run it belongs to: each removes what is left of its own
 * when it begins. Held by listening on a port, which ends with the process.
 */
function takePlace(): { readonly number: number; readonly leave: () => void } {
  for (let number = 0; number < PLACES; number++) {
    try {
      const listener = Bun.listen({ hostname: "127.0.0.1", port: FIRST_PORT + number, socket: { data: () => {} } });
      endLeftOver(number);
      return { number, leave: () => listener.stop(true) };
    } catch {
      // Another world has it.
    }
  }
  throw new Error(`${PLACES} worlds are under way on this machine`);
}

/** What a run that was killed has left: a service, or an agent, that shuts the accounts of whoever has its names next. */
function endLeftOver(place: number): void {
  for (const name of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const environment = readFileSync(`/proc/${name}/environ`, "latin1").split("\0");
      if (environment.includes(`${PLACE_VARIABLE}=${place}`)) process.kill(Number(name), "SIGKILL");
    } catch {
      // It has just ended.
    }
  }
}

/** All that it says until it ends. */
export function outputOf(child: ChildProcess): Promise<string> {
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
  }
  return new Promise((resolve) => child.once("close", () => resolve(said)));
}

/** Those of the host's accounts that are the world's. */
export function accountsOf({ prefix }: World): readonly string[] {
  return [...readAccounts().passwd.keys()].filter((name) => name.startsWith(hostAccountOf(prefix)));
}

/** The processor time of all of its threads (proc_pid_stat(5), utime and stime, in hundredths of a second). */
function workOf(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    // It served, and has just ended.
    return 0;
  }
}

/** For how long the process's first thread was ready to run, and another had the processor (sched-stats, run_delay). */
function delayOf(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[1]) / 1e6;
  } catch {
    return 0;
  }
}
