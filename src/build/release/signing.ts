/** The checksums of a release and their signatures, by minisign(1): the key is the packager's. */

import { createHash } from "node:crypto";
import { createReadStream, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BuildError } from "../arguments.ts";

export const CHECKSUMS = "SHA256SUMS";

/** The SHA-256 of a file, in hexadecimal. */
export async function checksumOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const part of createReadStream(path)) hash.update(part);
  return hash.digest("hex");
}

/** Writes SHA256SUMS of the files in `directory`, by name, as sha256sum(1) reads it. */
export function writeChecksums(directory: string, sums: ReadonlyMap<string, string>): void {
  const lines = [...sums].sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, sum]) => `${sum}  ${name}\n`);
  writeFileSync(join(directory, CHECKSUMS), lines.join(""));
}

/**
 * Signs the files, each into NAME.minisig beside it, with a comment that the signature covers. Asks for the password of the key once, on
 * the terminal. Throws BuildError if minisign does not sign; what it says is on standard error.
 */
export function sign(
  files: readonly string[],
  { key, comment }: { readonly key: string; readonly comment: string },
): void {
  const argv = ["minisign", "-S", "-s", key, "-t", comment, "-m", ...files];
  const { success } = Bun.spawnSync(argv, { stdin: "inherit", stdout: "ignore", stderr: "inherit" });
  if (!success) throw new BuildError(`minisign did not sign with ${key}.`);
}
