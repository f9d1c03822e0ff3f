/** Reads sshd's lines in the journal since the machine was booted. */

import { randomBytes } from "node:crypto";
import { readlinkSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type CommandResult, findCommand, runCommand } from "../command.ts";
import type { HostSettings } from "../settings.ts";
import { JOURNALCTL } from "./journal-lines.ts";
import type { ListedProcess } from "./processes.ts";

/** Where journald takes the output of programs (systemd-journald.service(8)). */
const STREAM = "/run/systemd/journal/stdout";
/** One per line: identifier, no unit, priority 7, no priority prefixes in lines, nothing forwarded. */
const HEADER = "uam\n\n7\n0\n0\n0\n0\n";
const COMMAND_TIMEOUT = 10_000;
/** Milliseconds until journald has written what was sent to it. */
const PATIENCE = 5_000;
const PAUSE = 50;

/** A line of the journal, with the fields that journald takes from the kernel and no sender can choose. */
export interface JournalEntry {
  readonly pid: number;
  readonly uid: number;
  /** Microseconds since boot. */
  readonly monotonic: number;
  readonly message: string;
}

export interface Journal {
  /** The lines that root's processes with these pids wrote in this boot; empty if there is no journal, or it does not answer. */
  entriesOf(processes: readonly ListedProcess[]): Promise<readonly JournalEntry[]>;
}

/** The host's journal, or another that the tools name. */
export function openJournal(tools: HostSettings["tools"], patience = PATIENCE): Journal {
  const journalctl = tools?.journalctl ?? JOURNALCTL;
  const find = (fields: string, matches: readonly string[]) => ask(journalctl, fields, matches);
  let boot: string | undefined;
  return {
    async entriesOf(processes) {
      if (processes.length === 0 || findCommand(journalctl) === undefined) return [];
      // The boot cannot change while this process runs.
      boot ??= await findBoot({ find, stream: tools?.journalStream ?? STREAM, patience });
      if (boot === undefined) return [];
      const pids = processes.map(({ pid }) => `_PID=${pid}`);
      return parseJournal(await find("MESSAGE,_PID,_UID", [`_BOOT_ID=${boot}`, "_UID=0", ...pids]));
    },
  };
}

interface BootQuestion {
  readonly find: (fields: string, matches: readonly string[]) => Promise<string>;
  readonly stream: string;
  readonly patience: number;
}

/**
 * The id that journald gives this boot. `journalctl --boot` compares with the kernel's own, which differs in a container,
 * and which `/proc` of a sandbox shows. So a line is written now that nobody could have written before, since nobody knew its
 * text, and that counts only if journald attributes it to root and this process: its boot is this one.
 */
async function findBoot({ find, stream, patience }: BootQuestion): Promise<string | undefined> {
  const message = `uam asks which boot this is: ${randomBytes(16).toString("hex")}`;
  if (!(await write(stream, message))) return undefined;
  // The pid as /proc has it, which everything else is compared with.
  const matches = [`MESSAGE=${message}`, "_UID=0", `_PID=${readlinkSync("/proc/self")}`];
  const end = performance.now() + patience;
  do {
    const [line = ""] = (await find("_BOOT_ID", matches)).split("\n");
    const id = parseObject(line)._BOOT_ID;
    if (typeof id === "string" && /^[0-9a-f]{32}$/.test(id)) return id;
    await sleep(PAUSE);
  } while (performance.now() < end);
  return undefined;
}

/** Sends journald a line over a connection whose sender the kernel attests; false if there is no journald. */
function write(stream: string, line: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path: stream });
    socket.setTimeout(PATIENCE, () => socket.destroy());
    socket.once("error", () => resolve(false));
    socket.once("connect", () => socket.end(`${HEADER}${line}\n`));
    socket.once("close", (failed) => resolve(!failed));
    // journald sends nothing back; the end of its side is awaited all the same.
    socket.resume();
  });
}

/** The output of journalctl for the matches, or nothing: without an answer there is no evidence. */
async function ask(journalctl: string, fields: string, matches: readonly string[]): Promise<string> {
  const argv = [journalctl, "--quiet", "--no-pager", "--output=json", `--output-fields=${fields}`, ...matches];
  const nothing: CommandResult = { exitCode: -1, stdout: "", stderr: "" };
  const result = await runCommand(argv, COMMAND_TIMEOUT).catch(() => nothing);
  return result.exitCode === 0 ? result.stdout : "";
}

/** Parses `journalctl --output=json`; lines without the trusted fields, and messages that are not text, are dropped. Pure. */
export function parseJournal(text: string): readonly JournalEntry[] {
  return text.split("\n").flatMap((line) => {
    const entry = parseObject(line);
    const pid = Number(entry._PID ?? Number.NaN);
    const uid = Number(entry._UID ?? Number.NaN);
    const monotonic = Number(entry.__MONOTONIC_TIMESTAMP ?? Number.NaN);
    const message = entry.MESSAGE;
    const whole = [pid, uid, monotonic].every((number) => Number.isSafeInteger(number));
    return whole && typeof message === "string" ? [{ pid, uid, monotonic, message }] : [];
  });
}

/** A line of `journalctl --output=json`; empty for anything but a JSON object. Pure. */
export function parseObject(line: string): Readonly<Record<string, unknown>> {
  if (line === "") return {};
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}
