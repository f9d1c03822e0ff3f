/** What each part of the binary weighs, read from the file itself: nothing of it is run. */

import { readFileSync } from "node:fs";
import { basename } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { BINARY } from "../support/service.ts";

/** What Bun puts behind the modules that it carries; before it, where they are. */
const TRAILER = "\n---- Bun! ----\n";
const TRAILER_OFFSETS = 32;
/** One module: where its name, content, source map, compiled code, information and its origin lie, and four bytes about it. */
const MODULE = 52;
const AIM = 110;

interface Carried {
  readonly name: string;
  readonly content: number;
}

/** Prints megabytes, which add up to those of the file. Throws if another version of Bun has put them otherwise. */
export async function benchSize(): Promise<void> {
  const file = readFileSync(BINARY);
  const { modules, size } = carriedIn(file);
  const of = (pattern: RegExp) => sum(modules.filter(({ name }) => pattern.test(name)).map(({ content }) => content));
  const [server, addons] = [of(/^postgres-.*\.zst$/), of(/\.node-.*\.zst$/)];
  const content = sum(modules.map((module) => module.content));
  // Compiled code has a part that all modules share; it belongs to none of them.
  const compiled = size - content;
  const rows: readonly (readonly [string, number])[] = [
    [`Bun ${manifest.engines.bun}, and room up to a whole page`, file.length - size],
    ["PostgreSQL (zstd 19)", server],
    ["the native addons (zstd 19)", addons],
    [`JavaScript, ${modules.length} files, with the console's`, content - server - addons],
    ["its compiled code", compiled],
  ];
  console.log(`\n## Size of the binary\n\n${BINARY}`);
  for (const [what, bytes] of rows) console.log(`${what.padEnd(44)} ${megabytes(bytes)} MB`);
  console.log(`${"all".padEnd(44)} ${megabytes(file.length)} MB (aim under ${AIM})`);
}

function carriedIn(file: Buffer): { readonly modules: readonly Carried[]; readonly size: number } {
  const end = file.lastIndexOf(TRAILER);
  const offsets = end - TRAILER_OFFSETS;
  if (offsets < 0) throw new Error(`${BINARY} carries nothing: was it stripped?`);
  const size = Number(file.readBigUInt64LE(offsets));
  const [list, length] = [file.readUInt32LE(offsets + 8), file.readUInt32LE(offsets + 12)];
  if (size > offsets || list + length > size || length % MODULE !== 0)
    throw new Error(`${BINARY} has its modules otherwise than Bun ${manifest.engines.bun}: see MODULE`);
  const begin = offsets - size;
  const at = (module: number, field: number) => file.readUInt32LE(begin + list + module * MODULE + field * 4);
  const modules = Array.from({ length: length / MODULE }, (_, module) => {
    const name = file.toString("utf8", begin + at(module, 0), begin + at(module, 0) + at(module, 1));
    return { name: basename(name), content: at(module, 3) };
  });
  return { modules, size };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1).padStart(6);
}
