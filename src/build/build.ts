/** `bun run build`: dist/uam, one file that holds the program, its native addons and PostgreSQL. */

import { existsSync, renameSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { BunPlugin } from "bun";
import type { PostgresArchive } from "../db/postgres-archive.ts";
import { buildPostgresArchive } from "./postgres-archive.ts";

const TARGETS = ["linux-x64", "linux-arm64"] as const;
type Target = (typeof TARGETS)[number];

export interface BuildOptions {
  readonly target: Target;
  readonly entry: string;
  readonly outfile: string;
  /** Where the PostgreSQL archive is kept from build to build. */
  readonly cache: string;
  /** Of zstd; 19 takes 20 s once and 15 MB, 1 takes one second and 20 MB. */
  readonly level: number;
}

const LEVEL = 19;

const project = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Builds the binary and returns its size in bytes; the file appears complete or not at all. */
export async function build(options: BuildOptions): Promise<number> {
  const arch = options.target.slice("linux-".length);
  requireAddons(arch);
  const archive = await buildPostgresArchive(options.cache, arch, options.level);
  // The binary records its file name: a fixed one keeps builds of the same sources the same.
  const partial = join(options.cache, "uam");
  const result = await Bun.build({
    entrypoints: [options.entry],
    root: project,
    target: "bun",
    format: "esm",
    minify: true,
    bytecode: true,
    define: {
      UAM_BUILD_COMMIT: JSON.stringify(commit()),
    },
    plugins: [carryPostgres(archive), bindAddons(arch)],
    compile: {
      target: `bun-${options.target}`,
      outfile: partial,
      ...(options.target === ownTarget() ? { executablePath: process.execPath } : {}),
      // Root may start the binary in any directory: nothing found there may become code or configuration.
      autoloadBunfig: false,
      autoloadDotenv: false,
      autoloadPackageJson: false,
      autoloadTsconfig: false,
    },
  });
  for (const message of result.logs) console.error(String(message));
  if (!result.success) throw new Error("The bundle could not be built.");
  renameSync(partial, options.outfile);
  return Bun.file(options.outfile).size;
}

// The module that says "no archive" when run from source says which one in the binary.
function carryPostgres(archive: PostgresArchive): BunPlugin {
  return {
    name: "carry-postgres",
    setup(builder) {
      builder.onLoad({ filter: /\/src\/db\/postgres-archive\.ts$/ }, () => ({
        loader: "ts",
        contents: `import path from ${JSON.stringify(resolve(archive.path))} with { type: "file" };
export const carriedPostgres = { path, id: ${JSON.stringify(archive.id)} };`,
      }));
    },
  };
}

// The packages' own loaders try every platform, run ldd, obey NAPI_RS_NATIVE_LIBRARY_PATH and keep the path of this
// checkout; in the binary there is one addon, and nothing to look for.
function bindAddons(arch: string): BunPlugin {
  return {
    name: "bind-addons",
    setup(builder) {
      for (const { loader, addon } of addons(arch)) {
        const filter = new RegExp(`/node_modules/${loader.replaceAll(".", "\\.")}$`);
        const contents = `module.exports = Object.assign({}, require(${JSON.stringify(addon)}));`;
        builder.onLoad({ filter }, () => ({ loader: "js", contents }));
      }
    },
  };
}

function addons(arch: string): readonly { readonly loader: string; readonly addon: string }[] {
  return [
    { loader: "@node-rs/argon2/index.js", addon: `@node-rs/argon2-linux-${arch}-gnu` },
    { loader: "@resvg/resvg-js/js-binding.js", addon: `@resvg/resvg-js-linux-${arch}-gnu` },
  ];
}

function requireAddons(arch: string): void {
  for (const { loader, addon } of addons(arch)) {
    if (!existsSync(join(project, "node_modules", loader))) throw new Error(`${loader} is gone; look at bindAddons.`);
    if (existsSync(join(project, "node_modules", addon))) continue;
    throw new Error(
      `${addon} is not installed; run "bun install --os linux --cpu ${arch}" before a build for ${arch}.`,
    );
  }
}

function ownTarget(): string {
  return `${process.platform}-${process.arch}`;
}

function commit(): string {
  const answer = Bun.spawnSync(["git", "-C", project, "rev-parse", "--short=12", "HEAD"], { stderr: "ignore" });
  return answer.success ? answer.stdout.toString().trim() : "unknown";
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      target: { type: "string", default: ownTarget() },
      entry: { type: "string", default: join(project, "src/main.ts") },
      outfile: { type: "string", default: join(project, "dist/uam") },
    },
  });
  const target = TARGETS.find((known) => known === values.target);
  if (target === undefined) throw new Error(`Unknown target "${values.target}"; known: ${TARGETS.join(", ")}.`);
  const cache = join(project, "dist/cache");
  const began = performance.now();
  const size = await build({ target, entry: values.entry, outfile: values.outfile, cache, level: LEVEL });
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(`${values.outfile}: ${(size / 1e6).toFixed(1)} MB for ${target}, built in ${seconds} s`);
}

if (import.meta.main) await main();
