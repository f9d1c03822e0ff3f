/** The logins that sshd's own log proves, read on from where the last reading stopped. */

import { spawn } from "node:child_process";
import type { Login, LoginLog } from "../../protocol/host.ts";
import { findCommand } from "../execute/command.ts";
import type { HostSettings } from "../settings.ts";
import { parseAccepted } from "./accepted.ts";
import { parseObject } from "./journal.ts";

const JOURNALCTL = "/usr/bin/journalctl";
/** The most lines that one reading takes, however full the log: sshd writes some for each stranger who knocks. */
const MOST_LINES = 50_000;
/** Characters of a line; journalctl leaves out a field of more than 4096 bytes. */
const LONGEST_LINE = 65_536;
const TIMEOUT = 20_000;
const ENVIRONMENT = { LC_ALL: "C", PATH: "/usr/sbin:/usr/bin:/sbin:/bin", TZ: "UTC" } as const;
/** As journald makes them (systemd.journal-fields(7), __CURSOR). */
const CURSOR = /^[A-Za-z0-9=;]{1,400}$/;
const PROGRAM = /\/sshd(?:-session)?(?: \(deleted\))?$/;
const COMMAND = /^sshd(?:-session)?$/;

export interface LoginReader {
  /** Reads on behind the cursor, or from the beginning if it is "" or the journal does not know it. */
  read(cursor: string): Promise<LoginLog>;
}

/** Reads the host's journal, or another that the tools name. Without one, or if it does not answer, there are no logins. */
export function openLoginLog(tools: HostSettings["tools"], mostLines = MOST_LINES): LoginReader {
  const journalctl = tools?.journalctl ?? JOURNALCTL;
  return {
    async read(cursor) {
      if (findCommand(journalctl) === undefined) return { logins: [], next: cursor };
      const after = CURSOR.test(cursor) ? cursor : "";
      const first = await readLines(journalctl, after, mostLines);
      if (!first.failed || after === "") return first.log;
      // A journal that was cleared or replaced does not know the place. To read a login twice does no harm.
      return (await readLines(journalctl, "", mostLines)).log;
    },
  };
}

/**
 * The login that a line of `journalctl --output=json` proves. journald takes `_UID`, `_COMM` and `_EXE` from the kernel; it
 * may lack the last two of a process that ended at once. Undefined for anything else, such as what a user sent with
 * logger(1). Pure.
 */
export function parseLogin(line: Readonly<Record<string, unknown>>): Login | undefined {
  const { MESSAGE: message, _UID: uid, _EXE: program = "/sshd", _COMM: command = "sshd" } = line;
  const isSshd = uid === "0" && PROGRAM.test(String(program)) && COMMAND.test(String(command));
  if (!isSshd || typeof message !== "string") return undefined;
  const accepted = parseAccepted(message);
  const microseconds = Number(line.__REALTIME_TIMESTAMP ?? Number.NaN);
  if (accepted === undefined || !Number.isSafeInteger(microseconds)) return undefined;
  return { ...accepted, at: new Date(Math.floor(microseconds / 1000)) };
}

interface Reading {
  readonly log: LoginLog;
  /** journalctl refused, without having printed anything. */
  readonly failed: boolean;
}

/** Line by line, so that a long journal takes no memory; journalctl is stopped once there are enough. */
function readLines(journalctl: string, cursor: string, most: number): Promise<Reading> {
  const argv = [
    ...["--quiet", "--no-pager", "--output=json", "--output-fields=MESSAGE,_UID,_COMM,_EXE"],
    ...(cursor === "" ? [] : [`--after-cursor=${cursor}`]),
    ...["_UID=0", "SYSLOG_IDENTIFIER=sshd", "SYSLOG_IDENTIFIER=sshd-session"],
  ];
  return new Promise((resolve) => {
    const stdio = ["ignore", "pipe", "ignore"] as const;
    const child = spawn(journalctl, argv, { env: ENVIRONMENT, stdio: [...stdio], cwd: "/", detached: true });
    const logins: Login[] = [];
    let next = cursor;
    let lines = 0;
    let rest = "";
    const finish = (failed: boolean): void => {
      clearTimeout(timer);
      child.kill("SIGKILL");
      resolve({ log: { logins, next }, failed: failed && lines === 0 });
    };
    const timer = setTimeout(() => finish(false), TIMEOUT);
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const parts = (rest + text).split("\n");
      rest = parts.pop() ?? "";
      for (const part of parts) {
        if (lines++ >= most) break;
        const line = parseObject(part);
        if (typeof line.__CURSOR !== "string" || !CURSOR.test(line.__CURSOR)) continue;
        next = line.__CURSOR;
        const login = parseLogin(line);
        if (login !== undefined) logins.push(login);
      }
      if (lines >= most || rest.length > LONGEST_LINE) finish(false);
    });
    child.on("error", () => finish(true));
    child.on("close", (code) => finish(code !== 0));
  });
}
