/** The logins that sshd's own log proves, read on from where the last reading stopped. */

import type { Login, LoginLog } from "../../protocol/logins.ts";
import { findCommand } from "../command.ts";
import type { HostSettings } from "../settings.ts";
import { parseAccepted } from "./accepted-line.ts";
import { parseObject } from "./journal.ts";
import { JOURNALCTL, readJournalLines, timeOf } from "./journal-lines.ts";

/** The most lines that one reading takes, however full the log: sshd writes some for each stranger who knocks. */
const MOST_LINES = 50_000;
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
 * The message of a line of `journalctl --output=json` if it is sshd's own. journald takes `_UID`, `_COMM` and `_EXE` from the kernel; it
 * may lack the last two of a process that ended at once. Undefined for anything else, such as what a user sent with
 * logger(1). Pure.
 */
export function messageOfSshd(line: Readonly<Record<string, unknown>>): string | undefined {
  const { MESSAGE: message, _UID: uid, _EXE: program = "/sshd", _COMM: command = "sshd" } = line;
  const isSshd = uid === "0" && PROGRAM.test(String(program)) && COMMAND.test(String(command));
  return isSshd && typeof message === "string" ? message : undefined;
}

/** The login that such a line proves; undefined for any other. Pure. */
export function parseLogin(line: Readonly<Record<string, unknown>>): Login | undefined {
  const message = messageOfSshd(line);
  if (message === undefined) return undefined;
  const accepted = parseAccepted(message);
  const at = timeOf(line);
  return accepted === undefined || at === undefined ? undefined : { ...accepted, at };
}

interface Reading {
  readonly log: LoginLog;
  /** journalctl refused, without having printed anything. */
  readonly failed: boolean;
}

/** journalctl is stopped once there are enough. */
async function readLines(journalctl: string, cursor: string, most: number): Promise<Reading> {
  const logins: Login[] = [];
  let next = cursor;
  let lines = 0;
  const end = await readJournalLines(
    [journalctl, ...ofSshd(cursor === "" ? [] : [`--after-cursor=${cursor}`])],
    (text) => {
      lines++;
      const line = parseObject(text);
      if (typeof line.__CURSOR === "string" && CURSOR.test(line.__CURSOR)) {
        next = line.__CURSOR;
        const login = parseLogin(line);
        if (login !== undefined) logins.push(login);
      }
      return lines < most;
    },
  );
  return { log: { logins, next }, failed: end === "failed" && lines === 0 };
}

/** What asks journalctl for root's lines under sshd's names. */
export function ofSshd(how: readonly string[], more: readonly string[] = []): readonly string[] {
  const fields = ["MESSAGE", "_UID", "_COMM", "_EXE", ...more];
  return [
    ...["--quiet", "--no-pager", "--output=json", `--output-fields=${fields.join(",")}`, ...how],
    ...["_UID=0", "SYSLOG_IDENTIFIER=sshd", "SYSLOG_IDENTIFIER=sshd-session"],
  ];
}
