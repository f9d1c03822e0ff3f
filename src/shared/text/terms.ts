/** The terms of use that users accept, from a file. */

import { createHash } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";
import { UamError } from "../errors.ts";

/** Larger than any that somebody reads. */
export const MAX_TERMS = 64 * 1024;

export interface Terms {
  /** The SHA-256 of the file, in hexadecimal digits. */
  readonly version: string;
  readonly text: string;
}

/** Reads the file once, when it is first called; undefined without a file. Throws `invalid` for one that holds no text. */
export type ReadTerms = () => Terms | undefined;

/** The terms of that file. */
export function termsIn(path: string | undefined): ReadTerms {
  let read: Terms | undefined;
  return () => {
    read ??= path === undefined ? undefined : readTerms(path);
    return read;
  };
}

function readTerms(path: string): Terms {
  const bytes = readStart(path);
  if (bytes.length > MAX_TERMS) throw new UamError("invalid", `${path} has more than ${MAX_TERMS / 1024} KiB`);
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (text.trim() === "") throw new UamError("invalid", `${path} is empty`);
    return { version: createHash("sha256").update(bytes).digest("hex"), text };
  } catch (error) {
    if (error instanceof UamError) throw error;
    throw new UamError("invalid", `${path} is not a text in UTF-8`);
  }
}

/** A file that never ends is not read to its end. */
function readStart(path: string): Uint8Array {
  try {
    const file = openSync(path, "r");
    try {
      const bytes = new Uint8Array(MAX_TERMS + 1);
      let length = 0;
      for (let more = -1; more !== 0; length += more) more = readSync(file, bytes, length, bytes.length - length, null);
      return bytes.subarray(0, length);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UamError("invalid", `${path} cannot be read: ${why}`);
  }
}
