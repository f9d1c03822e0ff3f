/**
 * The operator's terminal stays with root: what runs for root as another user has a session without a terminal, and pipes in place
 * of its descriptors, and root's process passes on what is typed and printed. Whoever may trace that program could otherwise
 * open the terminal in it, and type into root's shell.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { constants, openSync, readFileSync, read as readInto, writeSync } from "node:fs";
import { constants as system } from "node:os";
import process from "node:process";
import type { Readable } from "node:stream";
import { isatty } from "node:tty";
import { promisify } from "node:util";

/** A program to run, with its whole environment. */
export interface Program {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The operator's terminal, as a program knows it that has it only through root's process. */
export interface DistantTerminal {
  /** Its width; undefined if it has none, or standard output is something else. */
  readonly columns: number | undefined;
  readonly isError: boolean;
  /** Standard output and standard error are both the terminal: what is written to only one of them keeps its order. */
  readonly isBoth: boolean;
  /** Asks for what is typed: the next line, or everything to its end. Undefined if standard input is something else. */
  readonly request: ((what: Request) => void) | undefined;
}

type Request = "line" | "all";

/** Root's report on the terminal. A caller cannot set it: `asServiceUser` passes on no variable of that name. */
const VARIABLE = "OPERATOR_TERMINAL";
const INPUT = 0;
const OUTPUT = 1;
const ERROR = 2;
/** Where the program asks for what is typed: what nobody asked for is typed for the next command. */
const REQUESTS = 3;
const PASSED_ON = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;
/** Of what the program left behind with its output open, nothing is waited for that takes longer, in milliseconds. */
const QUIET = 250;
/** A terminal may obey any control character; only these move on in a text. */
const OBEYED = /[^\P{Cc}\t\n\r]/gu;

/**
 * Runs the program to its end and ends this process in the same way, with its exit code or by its signal. Signals are passed on, and
 * descriptors that are no terminal. Throws if the program cannot be started.
 */
export async function runBehindTerminal({ argv: [command = "", ...args], env }: Program): Promise<never> {
  const [input, output, error] = [INPUT, OUTPUT, ERROR].map((fd) => isatty(fd));
  const said = [output ? (process.stdout.columns ?? 0) : "-", error ? "error" : "-", input ? "input" : "-"];
  // From before there is a child: it is in a session that Ctrl-C does not reach.
  for (const signal of PASSED_ON) if (!isIgnored(signal)) process.on(signal, () => void child.kill(signal));
  const child = spawn(command, args, {
    env: { ...env, [VARIABLE]: said.join(" ") },
    stdio: [...[input, output, error].map((is) => (is ? "pipe" : "inherit")), ...(input ? ["pipe" as const] : [])],
    // A session of its own, without a terminal.
    detached: true,
  });
  let last = performance.now();
  const passOn = (stream: Readable | null, fd: number): void => {
    if (stream !== null) printOn(stream, openAgain(fd, constants.O_WRONLY), () => (last = performance.now()));
  };
  passOn(child.stdout, OUTPUT);
  passOn(child.stderr, ERROR);
  const requests = child.stdio[REQUESTS];
  if (requests !== null && requests !== undefined) answerRequests(child, requests as Readable);
  return await new Promise((_, reject) => {
    child.on("error", reject);
    child.on("close", () => endAs(child));
    child.on("exit", () => {
      last = performance.now();
      setInterval(() => performance.now() - last > QUIET && endAs(child), QUIET / 5);
    });
  });
}

/** The report of root's process; undefined for a program that it did not start. */
export function distantTerminal(variables: Readonly<Record<string, string | undefined>>): DistantTerminal | undefined {
  const [columns = "-", error, input] = (variables[VARIABLE] ?? "").split(" ");
  if (error === undefined) return undefined;
  return {
    columns: columns === "-" ? undefined : Number(columns) || undefined,
    isError: error === "error",
    isBoth: error === "error" && columns !== "-",
    request: input === "input" ? (what) => void writeSync(REQUESTS, `${what}\n`) : undefined,
  };
}

/** Opened anew: whoever shares the descriptor may have set it not to wait. */
function openAgain(fd: number, flags: number): number {
  return openSync(`/proc/self/fd/${fd}`, flags | constants.O_NOCTTY);
}

/** Prints what comes, without what a terminal would obey: the program may be in others' hands. */
function printOn(stream: Readable, terminal: number, onText: () => void): void {
  stream.setEncoding("utf8").on("data", (text: string) => {
    onText();
    const bytes = Buffer.from(text.replace(OBEYED, visible));
    try {
      for (let done = 0; done < bytes.length; ) done += writeSync(terminal, bytes, done);
    } catch {
      // The terminal is gone. The program finishes its work all the same, as it would behind a pipe that nobody reads.
    }
  });
}

function visible(character: string): string {
  return `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
}

/** Reads the terminal only when the program asks, and only as much. */
function answerRequests(child: ChildProcess, requests: Readable): void {
  let answering: Promise<void> | undefined;
  let rest = "";
  requests.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = (lines.pop() ?? "").slice(0, 8);
    const wanted = lines.includes("all") ? "all" : lines.includes("line") ? "line" : undefined;
    if (wanted === undefined || answering !== undefined) return;
    answering = passInput(child, wanted).finally(() => {
      answering = undefined;
    });
  });
}

async function passInput({ stdin }: ChildProcess, wanted: Request): Promise<void> {
  const terminal = openAgain(INPUT, constants.O_RDONLY);
  const buffer = Buffer.alloc(4096);
  for (;;) {
    const { bytesRead } = await promisify(readInto)(terminal, buffer, 0, buffer.length, null).catch(() => NOTHING);
    if (bytesRead === 0) return void stdin?.end();
    const chunk = Buffer.from(buffer.subarray(0, bytesRead));
    stdin?.write(chunk);
    if (wanted === "line" && chunk.at(-1) === LINE_END) return;
  }
}

const NOTHING = { bytesRead: 0 } as const;
const LINE_END = 0x0a;

/** nohup(1) and the like: what ignores a signal goes on ignoring it. */
function isIgnored(signal: NodeJS.Signals): boolean {
  const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "0";
  return ((BigInt(`0x${mask}`) >> BigInt(system.signals[signal] - 1)) & 1n) === 1n;
}

function endAs({ exitCode, signalCode }: ChildProcess): never {
  if (signalCode !== null) {
    // A shell looks at how a command ended: after Ctrl-C it ends a loop of commands only if the command died of it.
    process.removeAllListeners(signalCode);
    process.kill(process.pid, signalCode);
  }
  process.exit(exitCode ?? 128 + system.signals[signalCode ?? "SIGTERM"]);
}
