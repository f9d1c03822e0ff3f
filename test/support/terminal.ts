/** A real terminal (script(1)) with a command on it, and an attacker who traces what runs as an account. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** What a traced process could do. */
export interface Robbed {
  readonly pid: number;
  /** The descriptor that open("/dev/tty") returned in it, or a negative error number. */
  readonly opened: number;
  /** The number of its controlling terminal, 0 without one. */
  readonly terminal: number;
  readonly descriptors: readonly string[];
}

export interface Thief {
  /** The next process that was robbed. */
  next(): Promise<Robbed>;
  stop(): void;
}

export interface Typed {
  /** What the terminal has shown so far. */
  readonly shown: () => string;
  readonly type: (text: string) => void;
  /** Resolves to the exit code of the command. */
  readonly ended: Promise<number | null>;
  readonly process: ChildProcess;
}

/** Starts the attacker as that user and returns once it looks for processes with that name. */
export async function startThief(user: string, name: string): Promise<Thief> {
  const program = [process.execPath, join(import.meta.dir, "terminal-thief.ts"), name];
  const argv = ["--reuid", user, "--regid", user, "--clear-groups", "--", ...program];
  const child = spawn("/usr/bin/setpriv", argv, { stdio: ["ignore", "pipe", "inherit"], cwd: "/", env: {} });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  await lines.next();
  return {
    next: async () => JSON.parse((await lines.next()).value ?? "null"),
    stop: () => void child.kill("SIGKILL"),
  };
}

/** Runs a shell command line at a terminal of its own; its session ends with the terminal. */
export function atTerminal(command: string, env: Readonly<Record<string, string>> = {}): Typed {
  const child = spawn("script", ["-qefc", command, "/dev/null"], {
    cwd: "/",
    env: { PATH: "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", SHELL: "/bin/sh", TERM: "xterm", ...env },
    stdio: "pipe",
  });
  let shown = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
  });
  const ended = once(child, "close").then(([code]): number | null => code);
  return { shown: () => shown, type: (text) => void child.stdin.write(text), ended, process: child };
}
