/** Mail written to a file instead of sent, for hosts without a mail server: one JSON object a line. */

import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { UamError } from "../../shared/errors.ts";
import type { Clock } from "../../shared/time/clock.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import { faultOf, type MailTransport, oneLine } from "./mail.ts";

/** The file holds one-time codes and reset tokens: only its owner may read it. */
const MODE = 0o600;
const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = constants;

/**
 * Appends `{time, to, subject, text}` to the file, which is created with mode 0600 or set to it, never followed if it is a link, and
 * opened again for each message, so that it can be rotated. A message counts as sent when it is on the disk.
 */
export function createLogTransport({ path, clock }: { readonly path: string; readonly clock: Clock }): MailTransport {
  return {
    async send(message) {
      const fault = faultOf(message);
      if (fault !== undefined) return { kind: "reject", reason: fault };
      const { to, subject, text } = message;
      const line = Buffer.from(`${JSON.stringify({ time: formatTimestamp(clock.now()), to, subject, text })}\n`);
      try {
        await withFile(path, (file) => append(file, line));
        return { kind: "sent" };
      } catch (error) {
        return { kind: "retry", reason: `The mail log cannot be written: ${oneLine(String(error))}` };
      }
    },
    async verify() {
      try {
        await withFile(path, async () => {});
      } catch (cause) {
        throw new UamError("internal", `The mail log cannot be written: ${oneLine(String(cause))}`, { cause });
      }
    },
    async close() {},
  };
}

async function withFile(path: string, use: (file: FileHandle) => Promise<void>): Promise<void> {
  // O_NONBLOCK: a device must not make us wait. O_RDWR: to see how the last line ended.
  const file = await open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, MODE);
  try {
    const status = await file.stat();
    if (!status.isFile()) throw new Error(`${path} is not a regular file`);
    if ((status.mode & 0o777) !== MODE) await file.chmod(MODE);
    await use(file);
  } finally {
    await file.close();
  }
}

/** One write, so that lines of several processes do not mix; after a line that was torn (disk full) on a line of its own. */
async function append(file: FileHandle, line: Buffer): Promise<void> {
  const { size } = await file.stat();
  const last = Buffer.from("\n");
  if (size > 0) await file.read(last, 0, 1, size - 1);
  const whole = last.toString("latin1") === "\n" ? line : Buffer.concat([Buffer.from("\n"), line]);
  const { bytesWritten } = await file.write(whole);
  if (bytesWritten !== whole.length) throw new Error("no space is left for the whole message");
  await file.sync();
}
