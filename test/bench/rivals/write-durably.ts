/** The bare work of a key file: what the floors of key changes do. */

import { closeSync, fsyncSync, openSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";

/** One file that is on disk before it has its name, and its name on disk before this returns. */
export function writeDurably(directory: string, text: string): void {
  const temporary = join(directory, "temporary");
  const file = openSync(temporary, "w", 0o600);
  writeSync(file, text);
  fsyncSync(file);
  closeSync(file);
  renameSync(temporary, join(directory, "authorized_keys"));
  const parent = openSync(directory, "r");
  fsyncSync(parent);
  closeSync(parent);
}
