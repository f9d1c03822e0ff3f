/** The built binary as a real process, and a client for it. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "./port.ts";

export const BINARY = join(import.meta.dir, "../../dist/uam");

export interface Service {
  readonly origin: string;
  readonly pid: number;
  /** Runs another command of the program with the service's configuration. */
  run(args: readonly string[], input?: string): CommandOutcome;
  /** The same while this process goes on: for a command that can wait for something this process does. */
  runAside(args: readonly string[]): Promise<CommandOutcome>;
  /** Calls the API; `cookie` is a session cookie or "". */
  call(method: string, path: string, cookie: string, body?: unknown): Promise<ServiceAnswer>;
  /** What the service has logged. */
  log(): string;
  /** Sends the signal and waits for the end; returns the exit code, or null if a signal ended it. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface CommandOutcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ServiceAnswer {
  readonly status: number;
  readonly cookie: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly body: any;
}

/** The tests' own certificates are nobody's. */
const ANY_CERTIFICATE = { tls: { rejectUnauthorized: false } };

/**
 * Starts `uam serve` in the directory, which also has its data, and waits until it answers. `as` is a command that runs
 * another, as another user.
 */
export async function startService(
  directory: string,
  variables: Record<string, string> = {},
  as: readonly string[] = [],
): Promise<Service> {
  if (!existsSync(BINARY)) throw new Error(`${BINARY} is missing: run "bun run build" first`);
  return await startProgram([...as, BINARY], directory, variables);
}

/** The same for the program run in another way: from source, on another runtime. */
export async function startProgram(
  [program = "", ...before]: readonly string[],
  directory: string,
  variables: Record<string, string> = {},
): Promise<Service> {
  const listen = variables.UAM_LISTEN ?? `127.0.0.1:${await freePort()}`;
  const socket = /^unix:(.*)/.exec(listen)?.[1];
  const origin = `${variables.UAM_TLS_CERT === undefined ? "http" : "https"}://${socket === undefined ? listen : "localhost"}`;
  const way = { ...ANY_CERTIFICATE, ...(socket === undefined ? {} : { unix: socket }) };
  const environment = {
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    UAM_DATA_DIR: join(directory, "data"),
    UAM_LISTEN: listen,
    UAM_BASE_URL: origin,
    UAM_LOG_FORMAT: "json",
    ...variables,
  };
  const child = spawn(program, [...before, "serve"], {
    cwd: directory,
    env: environment,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log += text;
  });
  const ended = new Promise<number | null>((resolve) => child.on("close", (code) => resolve(code)));
  await healthy(
    () => fetch(`${origin}/api/v1/healthz`, way),
    child,
    () => log,
  );
  return {
    origin,
    pid: child.pid ?? 0,
    run: (args, input = "") => {
      const { status, stdout, stderr } = spawnSync(program, [...before, ...args], {
        cwd: directory,
        env: environment,
        encoding: "utf8",
        input,
      });
      return { status, stdout, stderr };
    },
    runAside: async (args) => {
      const command = Bun.spawn([program, ...before, ...args], {
        ...{ cwd: directory, env: environment, stdin: "ignore", stdout: "pipe", stderr: "pipe" },
      });
      const [status, stdout, stderr] = await Promise.all([
        command.exited,
        new Response(command.stdout).text(),
        new Response(command.stderr).text(),
      ]);
      return { status, stdout, stderr };
    },
    call: async (method, path, cookie, body) => {
      const response = await fetch(`${origin}/api/v1${path}`, {
        method,
        headers: {
          ...(cookie === "" ? {} : { cookie }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        body: body === undefined ? null : JSON.stringify(body),
        ...way,
      });
      const set = response.headers.get("set-cookie")?.split(";")[0] ?? "";
      return { status: response.status, cookie: set, body: await response.json() };
    },
    log: () => log,
    stop: async (signal = "SIGTERM") => {
      child.kill(signal);
      return await ended;
    },
  };
}

async function healthy(ask: () => Promise<Response>, child: ChildProcess, log: () => string): Promise<void> {
  for (let attempt = 0; attempt < 6000 && child.exitCode === null; attempt++) {
    const response = await ask().catch(() => undefined);
    if (response?.ok) return;
    await Bun.sleep(10);
  }
  child.kill("SIGKILL");
  throw new Error(`the service does not answer:\n${log()}`);
}
