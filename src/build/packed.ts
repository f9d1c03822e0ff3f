/** The parts that the binary carries compressed. */

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { constants, zstdCompress } from "node:zlib";

const compress = promisify(zstdCompress);

/** Twelve digits of the content's SHA-256, for a name. */
export function digestOf(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex").slice(0, 12);
}

/** Compresses `content` at zstd `level` into `directory`, unless a file of this `name` is there: the name has to tell the content. Returns its path. */
export async function packFile(
  directory: string,
  { name, content, level }: { readonly name: string; readonly content: Uint8Array; readonly level: number },
): Promise<string> {
  const path = join(directory, `${name}-${level}.zst`);
  if (existsSync(path)) return path;
  mkdirSync(directory, { recursive: true });
  const packed = await compress(content, { params: { [constants.ZSTD_c_compressionLevel]: level } });
  // It gets its name by a rename, so a file with this name is complete.
  writeFileSync(`${path}.part`, packed);
  renameSync(`${path}.part`, path);
  return path;
}
