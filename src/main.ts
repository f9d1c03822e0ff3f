#!/usr/bin/env bun
/** argv in, exit code out. */

import { spawnSync } from "node:child_process";
import { writeSync } from "node:fs";
import process from "node:process";
import { installedVariables } from "./cli/commands/service/installed.ts";
import { asServiceUser, belongsToService, type Replacement, unitUser } from "./cli/commands/service/service-user.ts";
import { unitCredentials } from "./cli/commands/service/unit-credentials.ts";
import { runProgram } from "./cli/program.ts";
import type { CliEnvironment } from "./cli/terminal/environment.ts";
import { shellWord } from "./cli/terminal/shell-word.ts";
import { keepOutputClosed } from "./runtime/closed-output.ts";
import { findHostUser, operatorOf, readLoginUid } from "./runtime/operator.ts";
import { distantTerminal, runBehindTerminal } from "./runtime/operator-terminal.ts";
import type { Runtime } from "./runtime/runtime.ts";
import { createErrorWriter } from "./runtime/standard-error.ts";
import { harmlessLines } from "./shared/text/text.ts";
import { COMMIT } from "./shared/version.ts";

keepOutputClosed();

const write = createErrorWriter((bytes) => writeSync(2, bytes));
/** Many sentences hold text that a host's accounts or the service's user can write, and root reads them at a terminal. */
const err = (text: string): void => write(harmlessLines(text));

let stopping: Promise<void> | undefined;

// The reader may stop reading, as head(1) does: work under way is finished all the same.
process.stdout.on("error", (error) => {
  if (!isBrokenPipe(error)) refuse(`uam: The standard output cannot be written: ${error.message}\n`, 1);
});

const args = process.argv.slice(2);
const installed = COMMIT === "source" ? {} : installedVariables(refuse);
const configured = { ...installed, ...process.env };
const variables = { ...configured, ...(COMMIT === "source" ? {} : unitCredentials(configured)) };
const operator = operatorOf({
  uid: process.getuid?.(),
  loginUid: readLoginUid(),
  variables: process.env,
  find: findHostUser,
});
const serviceUser =
  COMMIT !== "source" && process.getuid?.() === 0 && variables.UAM_HOST_MODE === "sudo" ? unitUser() : undefined;
const terminal = distantTerminal(process.env);

const environment: CliEnvironment = {
  variables,
  installed,
  program: COMMIT === "source" ? undefined : process.execPath,
  currentDirectory: process.cwd(),
  isRoot: process.getuid?.() === 0,
  invocation: COMMIT === "source" ? `npx -y bun@1.4.4 ${shellWord(process.argv[1] ?? "")}` : callable(process.argv0),
  operator: operator.name,
  runAsService: serviceUser === undefined ? undefined : (given) => run(asService(serviceUser, given)),
  isTerminal: process.stderr.isTTY === true || terminal?.isError === true,
  columns: process.stdout.isTTY ? process.stdout.columns : terminal?.columns,
  runtime: await thisRuntime(),
  out: (text) => void process.stdout.write(process.stdout.isTTY ? harmlessLines(text) : text),
  outStream,
  err: terminal?.isBoth ? (text) => void process.stdout.write(harmlessLines(text)) : err,
  log: terminal?.isBoth ? (text) => void process.stdout.write(text) : write,
  readStandardInput: async () => {
    terminal?.request?.("all");
    return (await import("node:stream/consumers")).text(process.stdin);
  },
  ask: mayAsk() ? ask : undefined,
  untilStopped,
  onReload: (listener) => void process.on("SIGHUP", listener),
};
if (serviceUser !== undefined && belongsToService(args)) {
  const isLock = args[0] === "lock";
  const given = isLock
    ? await (await import("./cli/commands/users/lock-as-root.ts")).lockAsRoot(args, environment)
    : args;
  await become(asService(serviceUser, given));
}
process.exitCode = await runProgram(args, environment);

/** A name that a shell finds from any directory. */
function callable(name: string): string {
  return name.includes("/") ? shellWord(process.execPath) : name;
}

function asService(user: string, given: readonly string[]): Replacement {
  return asServiceUser(user, { program: process.execPath, args: given, variables: process.env, operator });
}

/** Runs the program in this one's place; this process keeps nothing but the terminal. */
async function become(replacement: Replacement): Promise<never> {
  try {
    return await runBehindTerminal(replacement);
  } catch (error) {
    return refuse(`uam: Cannot switch to the service's user: ${error instanceof Error ? error.message : error}\n`, 1);
  }
}

function run({ argv: [program = "", ...rest], env }: Replacement): string {
  // A session without the terminal, as for what it is when run by itself.
  const options = { env, encoding: "utf8", maxBuffer: 64 * 1024 * 1024, detached: true } as const;
  return spawnSync(program, rest, options).stdout ?? "";
}

function mayAsk(): boolean {
  if (terminal !== undefined) return terminal.request !== undefined && terminal.isError;
  return process.stdin.isTTY && process.stderr.isTTY;
}

function untilStopped(): Promise<void> {
  stopping ??= new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => resolve());
  });
  return stopping;
}

/** Loads only the module of the current runtime: each file uses its runtime's globals. */
async function thisRuntime(): Promise<Runtime> {
  if (typeof Bun === "undefined") return (await import("./runtime/deno.ts")).denoRuntime;
  return (await import("./runtime/bun.ts")).bunRuntime;
}

function refuse(message: string, exitCode: number): never {
  err(message);
  process.exit(exitCode);
}

async function outStream(stream: ReadableStream<Uint8Array>): Promise<void> {
  for await (const chunk of stream) {
    const error = await new Promise((resolve) => process.stdout.write(chunk, resolve));
    if (isBrokenPipe(error)) return;
    if (error instanceof Error) throw error;
  }
}

function isBrokenPipe(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EPIPE";
}

/** One line from the terminal; end of input and Ctrl-C count as no answer. */
async function ask(question: string): Promise<string> {
  const { createInterface } = await import("node:readline");
  const lines = createInterface({ input: process.stdin, output: terminal?.isBoth ? process.stdout : process.stderr });
  terminal?.request?.("line");
  try {
    return await new Promise((resolve) => {
      lines.question(harmlessLines(question), resolve);
      lines.on("close", () => resolve(""));
      void untilStopped().then(() => lines.close());
    });
  } finally {
    lines.close();
  }
}
