/**
 * `bun src/build/postgres/server.ts`: PostgreSQL's programs as a release carries them, built from Debian's source in a tree of Debian 11,
 * so that they run with every glibc from 2.31 on. What was built stays in a cache, and is used only if its checksum is the pinned one.
 */

import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { BuildError, parseArchitecture, runWithArguments } from "../arguments.ts";
import type { Architecture } from "../packages.ts";
import { alone } from "./alone.ts";
import { archivesWith, CannotFetch, download, fromFirst } from "./apt.ts";
import { BUILT, DEBIAN, OLD_RELEASES, SERVER_VERSION, SOURCE, SOURCE_DAY } from "./pinned.ts";
import { BUILD, cannotBuild, makeTree, runInTree } from "./tree.ts";

const SHARED_CACHE = "/var/cache/uam-build";
const WORK = "work-";
/** Where an archive has the source (Debian Policy, 5.6.1). */
const SOURCE_POOL = `pool/main/${SOURCE.name[0]}/${SOURCE.name}`;
const TRIPLETS: Readonly<Record<Architecture, string>> = { x64: "x86_64-linux-gnu", arm64: "aarch64-linux-gnu" };

/** Directories with what was built and fetched; the last is written to. */
export type Caches = readonly [...string[], string];

/**
 * The paths of the servers' tars, in the order asked for; builds those that no cache has, or all of them if `again`. Throws a sentence
 * if that is not possible here, or if what comes out is not what is pinned.
 */
export async function requireServers(
  architectures: readonly Architecture[],
  { caches = cachesOf(process.env), again = false }: { readonly caches?: Caches; readonly again?: boolean } = {},
): Promise<readonly string[]> {
  const isMissing = (each: Architecture) => again || findBuilt(each, caches) === undefined;
  const missing = architectures.filter(isMissing);
  if (missing.length > 0) {
    const obstacle = cannotBuild();
    if (obstacle !== undefined) throw new BuildError(explain(obstacle, missing));
    // The build that this one waited for may have built them.
    await alone(join(writable(caches), "lock"), () => buildServers(architectures.filter(isMissing), caches));
  }
  return architectures.map((each) => {
    const path = findBuilt(each, caches);
    if (path === undefined) throw new Error(`${nameOf(each)} was built, and is not in ${caches.at(-1)}.`);
    return path;
  });
}

/** The tar in a cache, undefined if none has it with the pinned checksum. */
export function findBuilt(architecture: Architecture, caches: Caches = cachesOf(process.env)): string | undefined {
  return cached({ name: nameOf(architecture), sum: BUILT[architecture] }, caches);
}

/** Root's cache is read by everybody. */
export function cachesOf({ XDG_CACHE_HOME }: Readonly<Record<string, string | undefined>>): Caches {
  if (process.getuid?.() === 0) return [SHARED_CACHE];
  return [SHARED_CACHE, join(XDG_CACHE_HOME || join(homedir(), ".cache"), "uam-build")];
}

async function buildServers(architectures: readonly Architecture[], caches: Caches): Promise<void> {
  if (architectures.length === 0) return;
  const cache = writable(caches);
  // Nobody else is at work: what lies there is of a build that was killed.
  for (const name of readdirSync(cache))
    if (name.startsWith(WORK)) rmSync(join(cache, name), { recursive: true, force: true });
  const work = mkdtempSync(join(cache, WORK));
  try {
    const tree = join(work, "tree");
    await fetchAll({ work, tree, caches });
    const began = performance.now();
    const targets = architectures.map((each) => TRIPLETS[each]);
    console.log(
      `compiling PostgreSQL ${SERVER_VERSION} for ${architectures.join(" and ")}, once for this machine: some minutes`,
    );
    await runInTree(tree, join(import.meta.dirname, "compile.sh"), targets);
    console.log(`compiled in ${Math.round((performance.now() - began) / 1000)} s`);
    const unexpected = architectures.flatMap((architecture) => {
      const made = join(tree, BUILD, `${TRIPLETS[architecture]}.tar`);
      const sum = sha256(made);
      if (sum !== BUILT[architecture])
        return [`${keep(made, join(cache, `unexpected-${architecture}.tar`))} is ${sum}`];
      keep(made, join(cache, nameOf(architecture)));
      return [];
    });
    // The compiler or the archive gave other bytes than at the time of pinning: they are not used unseen.
    if (unexpected.length > 0)
      throw new BuildError(
        `PostgreSQL came out other than src/build/postgres/pinned.ts has it: ${unexpected.join(", ")}.`,
      );
  } catch (error) {
    if (error instanceof CannotFetch) throw new BuildError(explain(error.message, architectures), { cause: error });
    throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

interface Place {
  readonly work: string;
  readonly tree: string;
  readonly caches: Caches;
}

/** Debian 11 and PostgreSQL's source in the tree. */
async function fetchAll({ work, tree, caches }: Place): Promise<void> {
  await makeTree(tree, { work, archives: archivesWith([DEBIAN, OLD_RELEASES]) });
  for (const [name, sum] of Object.entries(SOURCE.files)) {
    const path = cached({ name, sum }, caches) ?? (await fetchSource({ name, sum }, { work, caches }));
    copyFileSync(path, join(tree, BUILD, name));
  }
}

/** Fetches a file of the source into the cache. Throws `CannotFetch` if no archive has it with that checksum. */
export async function fetchSource(
  { name, sum }: { readonly name: string; readonly sum: string },
  {
    work,
    caches,
    archives = archivesWith([DEBIAN, SOURCE_DAY]),
  }: Pick<Place, "work" | "caches"> & { readonly archives?: readonly string[] },
): Promise<string> {
  const target = join(work, name);
  await fromFirst(name, archives, (archive) => download(`${archive}/${SOURCE_POOL}/${name}`, { target, sum }));
  return keep(target, join(writable(caches), name));
}

function explain(obstacle: string, architectures: readonly Architecture[]): string {
  const names = architectures.map(nameOf).join(" and ");
  return (
    `A release carries PostgreSQL ${SERVER_VERSION}, compiled once on each machine that builds, and that is not possible here: ${obstacle.replace(/\.$/, "")}. ` +
    "It takes a Debian on amd64 with apt and a network, 2 GB of disk, and root or user namespaces. " +
    `Or copy ${names} from a machine where it was built into ${SHARED_CACHE}; or, to try out only, build with --npm-postgres, which carries npm's older server.`
  );
}

/** Named by what it is made of, so that one cache serves several checkouts. */
function nameOf(architecture: Architecture): string {
  return `postgresql-${SOURCE.version}-${architecture}-${BUILT[architecture].slice(0, 12)}.tar`;
}

/** Where that file is, if a cache has it with that checksum. */
function cached({ name, sum }: { readonly name: string; readonly sum: string }, caches: Caches): string | undefined {
  return caches.map((cache) => join(cache, name)).find((path) => existsSync(path) && sha256(path) === sum);
}

function writable(caches: Caches): string {
  const cache = caches.at(-1) ?? SHARED_CACHE;
  mkdirSync(cache, { recursive: true, mode: 0o755 });
  return cache;
}

/** Moves it there, from the same file system: it is there whole or not at all. */
function keep(path: string, target: string): string {
  renameSync(path, target);
  return target;
}

function sha256(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

const USAGE = `Usage: bun src/build/postgres/server.ts [--arch ARCH] [--again]

Compiles the PostgreSQL that a release carries, unless a cache has it, and prints where it is.

  --arch ARCH      x64 or arm64; both unless given
  --again          compile although a cache has it: fails if the bytes are others
  -h, --help       print this`;

const OPTIONS = { arch: { type: "string" }, again: { type: "boolean" } } as const;

if (import.meta.main) {
  await runWithArguments({ usage: USAGE, options: OPTIONS }, async ({ arch, again }) => {
    const architectures = arch === undefined ? (["x64", "arm64"] as const) : [parseArchitecture(arch)];
    for (const path of await requireServers(architectures, { again: again === true })) console.log(path);
  });
}
