/** Debian packages, made of files by path. */

import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { must } from "./programs.ts";

/** The content of a package. Paths are those of the installed files; control files are under DEBIAN. */
export interface Content {
  readonly files: ReadonlyMap<string, string | Uint8Array>;
  /** Files that are copied from elsewhere. */
  readonly copies?: ReadonlyMap<string, string>;
  readonly executable?: ReadonlySet<string>;
  /** The time of each file. */
  readonly date: Date;
  /** Options of dpkg-deb(1). */
  readonly compression: readonly string[];
}

/** Makes the package in the file `output`: the same bytes for the same content. */
export function makePackage(
  output: string,
  { files, copies = new Map(), executable = new Set(), date, compression }: Content,
): void {
  mkdirSync(dirname(output), { recursive: true });
  const tree = mkdtempSync(join(dirname(output), "deb-"));
  try {
    chmodSync(tree, 0o755);
    for (const [path, source] of copies) copyFileSync(source, placeFor(tree, path));
    for (const [path, content] of files) writeFileSync(placeFor(tree, path), content);
    for (const path of [...copies.keys(), ...files.keys()])
      chmodSync(join(tree, path), executable.has(path) ? 0o755 : 0o644);
    // dpkg-deb(1): the latest time stamp of the package and the files in it.
    const time = { SOURCE_DATE_EPOCH: String(date.getTime() / 1000) };
    must(["dpkg-deb", "--root-owner-group", ...compression, "--build", tree, output], time);
  } finally {
    rmSync(tree, { recursive: true });
  }
}

/** A package's copyright file in the machine-readable format (Debian's copyright-format 1.0), which calls the MIT licence Expat. */
export function renderCopyright(licence: string): string {
  const [, holder = "", ...text] = licence.trim().split(/\n\n/);
  const lines = text.join("\n\n").split("\n");
  return `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: uam

Files: *
${holder.replace(/^Copyright \(c\)/, "Copyright:")}
License: Expat

License: Expat
${lines.map((line) => ` ${line === "" ? "." : line}`).join("\n")}
`;
}

/** The path of a file in the tree, whose directories are created with mode 0755, whatever the umask. */
function placeFor(tree: string, path: string): string {
  const parts = path.split("/");
  for (const count of parts.keys()) {
    const directory = join(tree, ...parts.slice(0, count));
    mkdirSync(directory, { recursive: true });
    chmodSync(directory, 0o755);
  }
  return join(tree, path);
}
