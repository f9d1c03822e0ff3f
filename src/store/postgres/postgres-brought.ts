/** Which PostgreSQL this program brings along. */

import process from "node:process";
import { carriedPostgres, type PostgresArchive } from "./postgres-archive.ts";
import { installedPackage, minimalPostgresTree } from "./postgres-tree.ts";

/** Its version as PostgreSQL says it, and whose build it is. */
export type BroughtPostgres = Pick<PostgresArchive, "version" | "origin">;

/** Npm's is for trials: a release carries its own, which is newer. */
export function isNpms({ origin }: BroughtPostgres): boolean {
  return origin.startsWith("npm's ");
}

/** Of the archive, or of npm's package where there is none; `internal` if that is not installed. */
export function broughtPostgres(archive: PostgresArchive | undefined = carriedPostgres): BroughtPostgres {
  const { version, origin } = archive ?? minimalPostgresTree(installedPackage(process.arch));
  return { version, origin };
}
