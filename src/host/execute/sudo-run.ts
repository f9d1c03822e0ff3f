/** Running one command through `sudo -n`, with a time limit and without a terminal. */

import { spawn } from "node:child_process";
import { UamError } from "../../shared/errors.ts";
import { type CommandResult, findCommand, QUIET } from "../command.ts";
import type { SudoCommand } from "./sudo-commands.ts";
import { describeRefusal, findSudoFault, isRefusal } from "./sudo-program.ts";

const ENVIRONMENT = { LC_ALL: "C", PATH: "/usr/sbin:/usr/bin:/sbin:/bin", TZ: "UTC" } as const;
const MAX_OUTPUT = 16 * 1024 * 1024;
/** The way to fix a missing rule; ends every message about one. */
export const REMEDY = 'write what "uam sudoers" prints to /etc/sudoers.d/uam';

export interface SudoOptions {
  /** The account's name; for commands that do not run as root. */
  readonly user?: string;
  /** An open file for standard input; without it, nothing. */
  readonly input?: number;
  /** Milliseconds; 30 s by default. */
  readonly timeout?: number;
}

/**
 * Runs it to its end, or gives up on it: then the exit code is -1. Throws `internal`, naming the remedy, if sudo does not
 * allow it. A hostile owner may stop a command that runs as them, or pass its output pipe on to another process of
 * theirs, and it cannot always be killed from here; neither prevents this call from ending.
 */
export function runSudo(command: SudoCommand, options: SudoOptions = {}): Promise<CommandResult> {
  return execute(["-n", ...userOptions(command, options), "--", ...resolve(command.argv)], options).then((result) => {
    if (result.exitCode === 0 || !isRefusal(result.stderr)) return result;
    // Another sudo may have come in this one's place since the start: then no rule helps.
    throw new UamError("internal", describeRefusal(command.argv, findSudoFault() ?? { remedy: REMEDY }));
  });
}

/** True if the rules allow the command; it is not run. */
export async function isAllowed(command: SudoCommand, user?: string): Promise<boolean> {
  const options = user === undefined ? {} : { user };
  const argv = ["-n", "-l", ...userOptions(command, options), "--", ...resolve(command.argv)];
  return (await execute(argv, { timeout: 10_000 })).exitCode === 0;
}

/** Runs sudo itself, `-V` or `-l`. */
export function askSudo(...argv: readonly string[]): Promise<CommandResult> {
  return execute(argv, { timeout: 10_000 });
}

/** The path where sudo will find the command; one that is not the system's may be where only root can look. */
export function locateForRoot(path: string): string | undefined {
  return findCommand(path) ?? (/^(?:\/usr)?\/s?bin\/[^/]+$/.test(path) ? undefined : path);
}

function userOptions(command: SudoCommand, { user }: SudoOptions): readonly string[] {
  if (command.as === "root") return [];
  if (user === undefined) throw new Error("a command as an account's owner needs the account");
  return ["-u", user];
}

function resolve(argv: readonly string[]): readonly string[] {
  const [path = "", ...rest] = argv;
  const found = locateForRoot(path);
  if (found === undefined) throw new UamError("internal", `This host has no ${path}: install it`);
  return [found, ...rest];
}

function execute(args: readonly string[], options: SudoOptions): Promise<CommandResult> {
  const sudo = findCommand("/usr/bin/sudo");
  if (sudo === undefined) return Promise.reject(new UamError("internal", "This host has no sudo: install it"));
  return new Promise((done, reject) => {
    const child = start(sudo, args, options.input);
    const chunks: { readonly stdout: Buffer[]; readonly stderr: Buffer[] } = { stdout: [], stderr: [] };
    let length = 0;
    let quiet = 0;
    for (const stream of ["stdout", "stderr"] as const) {
      child[stream]?.on("data", (chunk: Buffer) => {
        quiet = 0;
        length += chunk.length;
        if (length > MAX_OUTPUT) child[stream]?.destroy();
        else chunks[stream].push(chunk);
      });
    }
    let settled = false;
    const settle = (exitCode: number): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      child.stdout?.destroy();
      child.stderr?.destroy();
      child.unref();
      const text = (stream: "stdout" | "stderr") => Buffer.concat(chunks[stream]).toString("utf8");
      done({ exitCode, stdout: text("stdout"), stderr: text("stderr") });
    };
    const timer = setTimeout(() => {
      settle(-1);
      // Fails for a process of root's or the owner's, as an error of the child: the next ending of processes reaches it.
      child.kill("SIGKILL");
    }, options.timeout ?? 30_000);
    child.on("error", (cause) => {
      clearTimeout(timer);
      reject(new UamError("internal", `Cannot run ${sudo}`, { cause }));
    });
    child.on("close", (code) => settle(code ?? -1));
    // In turns: output that arrived while this process was busy with something else is read between two of them.
    const settleOnceQuiet = (exitCode: number): void => {
      if (quiet++ === QUIET.times) settle(exitCode);
      else if (!settled) setTimeout(settleOnceQuiet, QUIET.pause, exitCode);
    };
    child.on("exit", (code) => settleOnceQuiet(code ?? -1));
  });
}

/** A failure to start a process is reported by an event, or thrown at once. */
function start(sudo: string, args: readonly string[], input: number | undefined) {
  try {
    // The account's owner can trace its processes and type into their terminal, so they get a session without one.
    return spawn(sudo, args, {
      ...{ env: ENVIRONMENT, stdio: [input ?? "ignore", "pipe", "pipe"], cwd: "/" },
      detached: true,
    });
  } catch (cause) {
    throw new UamError("internal", `Cannot run ${sudo}`, { cause });
  }
}
