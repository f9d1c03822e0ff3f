/** Reads the journal line by line, so that a long one takes no memory. */

import { spawn } from "node:child_process";

/** The program, unless the tools name another. */
export const JOURNALCTL = "/usr/bin/journalctl";
/** Characters of a line; journalctl leaves out a field of more than 4096 bytes. */
const LONGEST_LINE = 65_536;
const TIMEOUT = 20_000;
const ENVIRONMENT = { LC_ALL: "C", PATH: "/usr/sbin:/usr/bin:/sbin:/bin", TZ: "UTC" } as const;

/** How a reading ended: with the last line, because it was enough, or because journalctl failed or took too long. */
export type ReadingEnd = "all" | "enough" | "failed";

/** Gives `take` each line that journalctl prints, and stops it once that returns false. Never throws. */
export function readJournalLines(
  argv: readonly [string, ...string[]],
  take: (line: string) => boolean,
  timeout = TIMEOUT,
): Promise<ReadingEnd> {
  const [journalctl, ...rest] = argv;
  return new Promise((resolve) => {
    const stdio = ["ignore", "pipe", "ignore"] as const;
    const child = spawn(journalctl, rest, { env: ENVIRONMENT, stdio: [...stdio], cwd: "/", detached: true });
    let unfinished = "";
    let isOver = false;
    const finish = (end: ReadingEnd): void => {
      isOver = true;
      clearTimeout(timer);
      child.kill("SIGKILL");
      resolve(end);
    };
    const timer = setTimeout(() => finish("failed"), timeout);
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      if (isOver) return;
      const lines = (unfinished + text).split("\n");
      unfinished = lines.pop() ?? "";
      if (!lines.every(take) || unfinished.length > LONGEST_LINE) finish("enough");
    });
    child.on("error", () => finish("failed"));
    child.on("close", (code) => finish(code === 0 ? "all" : "failed"));
  });
}

/** When journald received a line of `journalctl --output=json`; undefined if it does not say. Pure. */
export function timeOf(line: Readonly<Record<string, unknown>>): Date | undefined {
  const microseconds = Number(line.__REALTIME_TIMESTAMP ?? Number.NaN);
  return Number.isSafeInteger(microseconds) ? new Date(Math.floor(microseconds / 1000)) : undefined;
}
