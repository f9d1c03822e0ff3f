/** Puts the PostgreSQL programs on disk, from the archive in the binary or from node_modules. */

import { randomBytes } from "node:crypto";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createZstdDecompress } from "node:zlib";
import { UamError } from "../../shared/errors.ts";
import type { PostgresArchive } from "./postgres-archive.ts";
import { installedPackage, minimalPostgresTree, type PostgresTree } from "./postgres-tree.ts";

const UNPACKING = ".unpacking-";

/**
 * The directory under `parent` with PostgreSQL's bin/, lib/ and share/, unpacked first if it is missing.
 * It is complete whenever it exists; several processes may ask at once.
 */
export async function installPostgres(parent: string, archive: PostgresArchive | undefined): Promise<string> {
  const tree = archive === undefined ? minimalPostgresTree(installedPackage(process.arch)) : undefined;
  const id = archive?.id ?? tree?.id ?? "";
  const home = join(parent, id);
  if (existsSync(home)) return home;
  const staging = join(parent, `${UNPACKING}${id}-${randomBytes(6).toString("hex")}`);
  try {
    mkdirSync(staging, { recursive: true, mode: 0o755 });
    if (archive !== undefined) await unpackArchive(archive, staging);
    else if (tree !== undefined) copyTree(tree, staging);
    openDirectories(staging);
    publish(staging, home);
  } catch (cause) {
    rmSync(staging, { recursive: true, force: true });
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UamError("internal", `PostgreSQL could not be unpacked to ${home}: ${reason}`, { cause });
  }
  return home;
}

/** Removes other and half-unpacked versions beside `home`; only safe while the caller holds the directory's gate. */
export function removeOtherVersions(home: string): void {
  const parent = dirname(home);
  for (const name of readdirSync(parent)) {
    const other = join(parent, name);
    const ours = name.startsWith(UNPACKING) || /^\d+\.\d+(\.\d+)?-[0-9a-f]{12}$/.test(name);
    if (ours && other !== home) rmSync(other, { recursive: true, force: true });
  }
}

async function unpackArchive(archive: PostgresArchive, into: string): Promise<void> {
  // One 64 KiB piece at a time: the unpacked tar never exists as a whole.
  const packed = readFileSync(archive.path);
  const pieces = function* () {
    for (let at = 0; at < packed.length; at += 65_536) yield packed.subarray(at, at + 65_536);
  };
  const { unpackTar } = await import("modern-tar/fs");
  await pipeline(Readable.from(pieces()), createZstdDecompress(), unpackTar(into));
}

function copyTree(tree: PostgresTree, into: string): void {
  for (const { path, source, mode } of tree.files) {
    const target = join(into, path);
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(source, target);
    chmodSync(target, mode);
  }
}

// The umask may be 0077, but the server's own uid has to get in.
function openDirectories(top: string): void {
  chmodSync(top, 0o755);
  for (const entry of readdirSync(top, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) chmodSync(path, 0o755);
    else chmodSync(path, /\/(bin|lib)\//.test(path.slice(top.length)) ? 0o755 : 0o644);
  }
}

function publish(staging: string, home: string): void {
  try {
    renameSync(staging, home);
  } catch (error) {
    // Another process was faster: a directory is never renamed over a full one, and its copy equals ours.
    if (!existsSync(join(home, "bin/postgres"))) throw error;
    rmSync(staging, { recursive: true, force: true });
  }
}
