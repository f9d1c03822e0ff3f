/** The files of src, and what they import. */

import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { Glob } from "bun";
import { CHECKER } from "./rules.ts";

/** Texts of files by their paths below src. */
export type Source = ReadonlyMap<string, string>;

export interface Import {
  readonly from: string;
  /** A path below src for our own files, "../" for those beside it, else the package. */
  readonly to: string;
  /** Else a package. */
  readonly isOwn: boolean;
  readonly isType: boolean;
}

/** All files of src, in the order of their paths. */
export function readSource(): Source {
  return readAll("src", "**/*.{ts,tsx}");
}

/** All tests by their paths below test, in the order of these. */
export function readTests(): Source {
  return readAll("test", "**/*.test.ts");
}

/** The checker of histories, with its tests (rules.ts). */
export function readChecker(): Source {
  return readAll("test", `${CHECKER.folder}/**/*.ts`);
}

function readAll(folder: string, pattern: string): Source {
  const root = join(import.meta.dir, "../..", folder);
  const paths = [...new Glob(pattern).scanSync(root)].sort();
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), "utf8")]));
}

/** The text without its comments; literals stay, for imports are in them. */
export function codeOf(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "$1");
}

/** What the files import, types included. */
export function importsOf(source: Source): readonly Import[] {
  const statements = /^(?:import|export)\s+(type\s)?(?:[^"';]*?\sfrom\s+)?"([^"]+)"|\bimport\(\s*"([^"]+)"\s*\)/gm;
  return [...source].flatMap(([from, text]) =>
    [...codeOf(text).matchAll(statements)].map((match) => {
      const name = match[2] ?? match[3] ?? "";
      const isOwn = name.startsWith(".");
      const to = isOwn ? posix.join(posix.dirname(from), name) : name;
      return { from, to, isOwn, isType: match[1] !== undefined };
    }),
  );
}
