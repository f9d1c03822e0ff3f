/** A backup that is elsewhere: a program of the host takes it on its standard input, and another gives it back. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { UamError } from "../../shared/errors.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import type { BackupSummary } from "./backup.ts";
import { verifyBackup } from "./backup-reader.ts";

/** A program to run, without a shell. */
export interface Program {
  /** Its path and its arguments. */
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where what it says goes, its standard error and, when it takes a backup, its standard output. */
  readonly said: (text: string) => void;
}

/** Programs of this host that keep backups in another place. */
export interface Elsewhere {
  readonly send: Program;
  /** Gives it back, to be read again; without one it counts as made once it was taken. */
  readonly fetch: Program | undefined;
}

/** What stands for the backup's name in the words of a program. */
const NAME = "{name}";
/** The service's own configuration, secrets included, and what the runtime inside this program obeys. */
const OWN = /^(?:UAM|BUN)_/;
/** Its last line at most, in the sentence that says that it failed. */
const LAST_WORDS = 300;
/** Milliseconds for what is still on its way of them. */
const LAST_WORDS_WAIT = 1000;

/** The words of a program with the backup's name in them. */
export function withName(words: readonly string[], name: string): readonly string[] {
  return words.map((word) => word.replaceAll(NAME, name));
}

/** Lets `write` write a backup that is kept elsewhere. Throws `conflict` or `invalid` unless it was taken, and given back as it was. */
export async function sendAway(
  { send, fetch }: Elsewhere,
  signal: AbortSignal,
  write: (sink: Writable) => Promise<BackupSummary>,
): Promise<BackupSummary> {
  const sent = await sendTo(send, signal, write);
  if (fetch === undefined) return sent;
  const back = await receiveFrom(fetch, signal, (bytes) => verifyBackup(bytes, signal));
  if (back.bytes === sent.bytes && back.header.createdAt === sent.header.createdAt) return sent;
  throw failed(fetch, `gave back another backup, of ${formatTimestamp(new Date(back.header.createdAt))}`);
}

/**
 * Lets `write` fill the program's standard input. On return it has read all of it and ended well; else it throws `conflict`, and if
 * the backup did not come to its end the program was killed first, so that it does not take the part for the whole.
 */
async function sendTo<T>(program: Program, signal: AbortSignal, write: (sink: Writable) => Promise<T>): Promise<T> {
  const child = start(program, "pipe");
  const ended = endOf(child, program);
  ended.catch(() => {});
  const sink = inputOf(child);
  try {
    const result = await write(sink);
    await orStopped(ended, signal);
    return result;
  } catch (cause) {
    // What it says as it fails is the reason; that it left its input unread only follows from that.
    if (!signal.aborted && cause === sink.errored) {
      await orStopped(ended, signal);
      throw failed(program, "left before it had read all of the backup", cause);
    }
    throw cause;
  } finally {
    kill(child);
  }
}

/** Lets `read` read the program's standard output. On return the program has ended well; else it throws `conflict`, and ends it. */
async function receiveFrom<T>(
  program: Program,
  signal: AbortSignal,
  read: (bytes: AsyncIterable<Buffer>) => Promise<T>,
): Promise<T> {
  const child = start(program, "ignore");
  const ended = endOf(child, program);
  ended.catch(() => {});
  try {
    const result = await read(child.stdout as AsyncIterable<Buffer>);
    await orStopped(ended, signal);
    return result;
  } catch (cause) {
    // Of a program that failed by itself there is only a part, which is no backup for that reason.
    if (!signal.aborted && child.stdout?.readableEnded) await orStopped(ended, signal);
    throw cause;
  } finally {
    kill(child);
  }
}

function start(program: Program, input: "pipe" | "ignore"): ChildProcess {
  const [path = "", ...args] = program.argv;
  const env = Object.fromEntries(Object.entries(program.environment).filter(([name]) => !OWN.test(name)));
  // A group of its own, so that what it starts can be ended with it.
  const child = spawn(path, args, { env, stdio: [input, "pipe", "pipe"], cwd: "/", detached: true });
  if (input === "pipe") child.stdout?.setEncoding("utf8").on("data", program.said);
  return child;
}

/** Resolves when it has ended well. What it started may go on with its output: that is not waited for. */
async function endOf(child: ChildProcess, program: Program): Promise<void> {
  let last = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    program.said(text);
    last = (last + text).slice(-LAST_WORDS);
  });
  const silent = new Promise((resolve) => child.stderr?.once("close", resolve));
  const [code, by] = await once(child, "exit").catch((cause: Error) => {
    throw failed(program, `cannot be run: ${cause.message}`, cause);
  });
  if (code === 0) return;
  await Promise.race([silent, sleep(LAST_WORDS_WAIT, undefined, { ref: false })]);
  const how = code === null ? `was ended by ${by}` : `ended with exit code ${code}`;
  const words = last.trim().split("\n").at(-1) ?? "";
  throw failed(program, words === "" ? how : `${how}: ${words}`);
}

async function orStopped<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) throw signal.reason;
  return await Promise.race([work, once(signal, "abort").then(() => Promise.reject(signal.reason))]);
}

/** Its standard input; destroyed before its end, it kills the program before the end of the input can be seen. */
function inputOf(child: ChildProcess): Writable {
  const { stdin } = child;
  let isWhole = false;
  const sink = new Writable({
    write: (chunk, _, done) => void stdin?.write(chunk, done),
    final: (done) => {
      isWhole = true;
      stdin?.end(done);
    },
    destroy: (error, done) => {
      if (!isWhole) kill(child);
      stdin?.destroy();
      done(error);
    },
  });
  stdin?.on("error", (error) => sink.destroy(error));
  // Whoever writes learns of it; it can also come afterwards.
  sink.on("error", () => {});
  return sink;
}

function kill(child: ChildProcess): void {
  child.stdout?.destroy();
  child.stderr?.destroy();
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    child.kill("SIGKILL");
  }
}

function failed({ argv }: Program, how: string, cause?: unknown): UamError {
  return new UamError("conflict", `${argv[0]} ${how}. The backup does not count as made.`, { cause });
}
