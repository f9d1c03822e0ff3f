#!/usr/bin/env bun
/** argv in, exit code out. */

import { readFileSync, writeSync } from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { installedVariables } from "./cli/installed.ts";
import { runProgram } from "./cli/program.ts";
import { keepOutputClosed } from "./runtime/closed-output.ts";
import type { Runtime } from "./runtime/runtime.ts";
import { COMMIT } from "./shared/version.ts";

keepOutputClosed();

let stopping: Promise<void> | undefined;

// Whoever reads may stop reading, as head(1) does: what is under way is finished all the same.
process.stdout.on("error", (error) => {
  if (!isBrokenPipe(error)) refuse(`uam: The standard output cannot be written: ${error.message}\n`, 1);
});

process.exitCode = await runProgram(process.argv.slice(2), {
  variables: { ...(COMMIT === "source" ? {} : installedVariables(refuse)), ...process.env },
  program: COMMIT === "source" ? undefined : process.execPath,
  currentDirectory: process.cwd(),
  isRoot: process.getuid?.() === 0,
  invocation: COMMIT === "source" ? "npx -y bun@1.4.4 src/main.ts" : process.argv0,
  operator: operator(),
  isTerminal: process.stderr.isTTY === true,
  columns: process.stdout.isTTY ? process.stdout.columns : undefined,
  runtime: await thisRuntime(),
  out: (text) => void process.stdout.write(text),
  outStream,
  err,
  readStandardInput: () => text(process.stdin),
  ask: process.stdin.isTTY && process.stderr.isTTY ? ask : undefined,
  untilStopped,
  onReload: (listener) => void process.on("SIGHUP", listener),
});

/** Who is at the keyboard. Variables such as USER are anybody's to set; SUDO_USER counts only as root, whom nothing binds. */
function operator(): string {
  const uid = process.getuid?.();
  if (uid === 0 && process.env.SUDO_USER !== undefined) return process.env.SUDO_USER;
  const accounts = readFileSync("/etc/passwd", "utf8").split("\n");
  const own = accounts.map((line) => line.split(":")).find((fields) => fields[2] === String(uid));
  return own?.[0] ?? `uid ${uid}`;
}

function untilStopped(): Promise<void> {
  stopping ??= new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => resolve());
  });
  return stopping;
}

/** Loads only the one that is there: each file names its runtime's globals. */
async function thisRuntime(): Promise<Runtime> {
  if (typeof Bun === "undefined") return (await import("./runtime/deno.ts")).denoRuntime;
  return (await import("./runtime/bun.ts")).bunRuntime;
}

/** A full disk or a reader that is gone must neither end the service nor make a command that did its work fail. */
function err(text: string): void {
  try {
    writeSync(2, text);
  } catch {
    // There is nowhere left to say it.
  }
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

/** One line from the terminal; the end of input, or of patience (Ctrl-C), is no answer. */
async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await new Promise((resolve) => {
      lines.question(question, resolve);
      lines.on("close", () => resolve(""));
      void untilStopped().then(() => lines.close());
    });
  } finally {
    lines.close();
  }
}
