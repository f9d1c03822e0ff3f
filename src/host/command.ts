/** Running a command of the host: an argv array, an absolute path, no shell, a fixed environment, no terminal, a time limit. */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { UamError } from "../shared/errors.ts";

const DIRECTORIES = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"] as const;
const ENVIRONMENT = { LC_ALL: "C", PATH: DIRECTORIES.join(":"), TZ: "UTC" } as const;
/** Milliseconds between SIGTERM and SIGKILL. */
const GRACE = 500;
/** Milliseconds after SIGKILL that a command gets to end. */
const UNKILLABLE = 2000;
/** Output still in flight when a command has ended counts as complete after so many empty reads, so many milliseconds apart. */
export const QUIET = { times: 5, pause: 50 } as const;
const MAX_OUTPUT = 16 * 1024 * 1024;

export interface CommandResult {
  /** -1 if the command was ended by a signal, the time limit included. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The path on this host of a command that plans name by its usual path; undefined if it has none. */
export function findCommand(path: string): string | undefined {
  if (existsSync(path)) return path;
  const name = path.slice(path.lastIndexOf("/") + 1);
  return DIRECTORIES.map((directory) => `${directory}/${name}`).find((candidate) => existsSync(candidate));
}

/**
 * Runs it to its end; a failure is in the result. Returns within its time limit and a few seconds, also if what it started goes
 * on with its output open, or nothing can end it. Throws `internal` only if the host has no such command.
 */
export function runCommand(argv: readonly string[], timeout = 30_000): Promise<CommandResult> {
  const [path = "", ...args] = argv;
  const command = findCommand(path);
  if (command === undefined) return Promise.reject(new UamError("internal", `This host has no ${path}: install it`));
  return new Promise((resolve, reject) => {
    const child = start(command, args);
    const output = { stdout: "", stderr: "" };
    let quiet = 0;
    const collect = (stream: "stdout" | "stderr") => (chunk: Buffer) => {
      quiet = 0;
      if (output[stream].length < MAX_OUTPUT) output[stream] += chunk.toString("utf8");
    };
    child.stdout.on("data", collect("stdout"));
    child.stderr.on("data", collect("stderr"));
    const settle = (exitCode: number): void => {
      clearTimeout(timer);
      child.stdout.destroy();
      child.stderr.destroy();
      child.unref();
      resolve({ exitCode, ...output });
    };
    const kill = (): void => {
      child.kill("SIGKILL");
      // A disk that does not answer keeps even a killed process alive; a caller that waits for the next command must not wait for it.
      timer = setTimeout(settle, UNKILLABLE, -1);
    };
    // SIGTERM first: shadow-utils remove their lock files. A hostile owner may have stopped a command that runs as them.
    let timer = setTimeout(() => {
      child.kill("SIGTERM");
      timer = setTimeout(kill, GRACE);
    }, timeout);
    child.on("error", (cause) => {
      clearTimeout(timer);
      reject(new UamError("internal", `Cannot run ${command}`, { cause }));
    });
    child.on("close", (code) => settle(code ?? -1));
    // Not only "close": a process that the command left behind may keep its output open indefinitely.
    const settleOnceQuiet = (exitCode: number): void => {
      if (quiet++ === QUIET.times) settle(exitCode);
      else timer = setTimeout(settleOnceQuiet, QUIET.pause, exitCode);
    };
    child.on("exit", (code) => {
      clearTimeout(timer);
      settleOnceQuiet(code ?? -1);
    });
  });
}

/** A failure to start a process is reported by an event, or thrown at once. */
function start(command: string, args: readonly string[]) {
  try {
    // A session of its own: no command needs the operator's terminal, which whoever may trace it could type into.
    return spawn(command, args, { env: ENVIRONMENT, stdio: ["ignore", "pipe", "pipe"], cwd: "/", detached: true });
  } catch (cause) {
    throw new UamError("internal", `Cannot run ${command}`, { cause });
  }
}

/** A lock within this process: work given to it runs one at a time, in order of arrival. */
export function createMutex(): <T>(work: () => Promise<T>) => Promise<T> {
  let tail: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = tail.then(work);
    tail = result.catch(() => undefined);
    return result;
  };
}
