/** The PostgreSQL archive inside the compiled binary; `bun run build` replaces this module, a run from source has none. */

export interface PostgresArchive {
  /** Path of the tar.zst, readable with `node:fs` (inside the binary it starts with /$bunfs). */
  readonly path: string;
  /** Names the set of files in it: the directory it is unpacked to. */
  readonly id: string;
  /** As PostgreSQL itself says it, e.g. "18.6". */
  readonly version: string;
  /** Whose build it is, e.g. "Debian's postgresql-18 18.6-3". */
  readonly origin: string;
}

export const carriedPostgres: PostgresArchive | undefined = undefined;
