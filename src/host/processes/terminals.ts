/** Terminals that sshd made for an account's sessions: which there are, when somebody typed there, and a line to whoever sits there. */

import { closeSync, constants, fstatSync, openSync, statSync, writeSync } from "node:fs";
import { errorCode } from "../safe-open.ts";
import { fieldsAfterName, readProc } from "./processes.ts";

/** The kernel's number for a terminal that a program made (Linux, devices.txt). */
const PTY_MAJOR = 136;
/** Among the fields of /proc/PID/stat after the name: state, parent, group, session, terminal. */
const TERMINAL = 4;

/** The number of the terminal by which the process is controlled, if a program made that. */
export function terminalOf(pid: number): number | undefined {
  const device = Number(fieldsAfterName(readProc(`/proc/${pid}/stat`) ?? "")[TERMINAL]);
  // Twenty bits of a minor number around twelve of a major one.
  if (((device >> 8) & 0xfff) !== PTY_MAJOR) return undefined;
  return (device & 0xff) | ((device >>> 12) & 0xfff00);
}

/** When somebody typed there last, in milliseconds since 1970 and to eight seconds, as the kernel notes it; undefined if it is not the account's. */
export function lastInput(terminal: number, uid: number): number | undefined {
  const stat = statSync(pathOf(terminal), { throwIfNoEntry: false });
  return stat?.uid === uid && stat.isCharacterDevice() ? stat.atimeMs : undefined;
}

/** Writes a line on the terminal if it is the account's. Never waits: where its owner has stopped the output, the line is lost. */
export function writeToTerminal(terminal: number, uid: number, line: string): void {
  const { O_WRONLY, O_NOCTTY, O_NONBLOCK, O_NOFOLLOW } = constants;
  try {
    const fd = openSync(pathOf(terminal), O_WRONLY | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
    try {
      const stat = fstatSync(fd);
      if (stat.uid === uid && stat.isCharacterDevice()) writeSync(fd, `\r\n${line}\r\n`);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (errorCode(error) === "") throw error;
  }
}

function pathOf(terminal: number): string {
  return `/dev/pts/${terminal}`;
}
