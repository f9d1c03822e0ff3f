/** `bun run build`: one file with the program, its native addons and PostgreSQL. */

import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import type { BunPlugin } from "bun";
import type { ConsoleBundle } from "../server/console/carried.ts";
import type { PostgresArchive } from "../store/postgres/postgres-archive.ts";
import { RELEASE_OPTIONS, RELEASE_USAGE, type ReleaseArguments, readRelease, runWithArguments } from "./arguments.ts";
import { shortCommit } from "./commit.ts";
import { bundleConsole } from "./console.ts";
import { leaveOutFaultPoints } from "./fault-points.ts";
import { type Architecture, installParts, ownArchitecture, PROJECT, requireBun } from "./packages.ts";
import { digestOf, packFile } from "./packed.ts";
import { packNpmServer, packServer } from "./postgres-archive.ts";
import { carriedComponents, renderSbom } from "./sbom.ts";

export interface BuildOptions extends ReleaseArguments {
  readonly entry: string;
  readonly outfile: string;
  /** Where parts that are slow to get are kept between builds. */
  readonly cache: string;
  /** The zstd level; 19 takes 20 s once and 10 MB, 1 takes one second and 14 MB. */
  readonly level: number;
  /** The pages that it serves; the console unless given. */
  readonly console?: ConsoleBundle;
  /** Whether it keeps the places at which tests end it (shared/work/fault-point.ts): never what is shipped. */
  readonly faultPoints?: boolean;
}

const LEVEL = 19;

/** Builds the binary and returns its size in bytes; the file appears complete or not at all. */
export async function build(options: BuildOptions): Promise<number> {
  const { architecture, level } = options;
  requireBun(Bun.version);
  const { bun, modules } = installParts(options.cache, architecture);
  const contents = { architecture, modules, level };
  const pack = options.postgres === "npm" ? packNpmServer : packServer;
  const archive = await pack(options.cache, contents);
  // The binary records its file name: a fixed one keeps builds of the same sources identical.
  const partial = join(options.cache, "uam");
  const result = await Bun.build({
    entrypoints: [options.entry],
    root: PROJECT,
    target: "bun",
    format: "esm",
    minify: true,
    bytecode: true,
    // Modules that a command does not import are not loaded: less memory, and a third off the short commands (docs/decisions/memory.md).
    splitting: true,
    define: {
      UAM_BUILD_COMMIT: JSON.stringify(shortCommit()),
      UAM_BUILD_VERSION: JSON.stringify(options.version),
    },
    plugins: [
      carryPostgres(archive),
      nameComponents(options),
      carryConsole(options.console ?? (await bundleConsole())),
      bindAddons(await packAddons(options.cache, contents)),
      leaveOutCertificates(),
      ...(options.faultPoints === true ? [] : [leaveOutFaultPoints(join(PROJECT, "src"))]),
      writeNoticesInAscii(),
    ],
    compile: {
      target: `bun-linux-${architecture}`,
      outfile: partial,
      executablePath: bun,
      // Root may start the binary in any directory: no file there may become code or configuration.
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

// The module that reports no archive when run from source names it in the binary.
function carryPostgres(archive: PostgresArchive): BunPlugin {
  return {
    name: "carry-postgres",
    setup(builder) {
      builder.onLoad({ filter: /\/src\/store\/postgres\/postgres-archive\.ts$/ }, () => ({
        loader: "ts",
        contents: `import path from ${JSON.stringify(resolve(archive.path))} with { type: "file" };
export const carriedPostgres = { ...${JSON.stringify({ ...archive, path: undefined })}, path };`,
      }));
    },
  };
}

// Names the components of the binary, for `uam version --json`, as in the bill of materials beside it.
function nameComponents(release: ReleaseArguments): BunPlugin {
  const components = carriedComponents(release).map(({ name, version, purl, cpe, hashes }) => ({
    ...{ name, version, purl },
    ...(cpe === undefined ? {} : { cpe }),
    hashes,
  }));
  return {
    name: "name-components",
    setup(builder) {
      builder.onLoad({ filter: /\/src\/cli\/commands\/service\/carried\.ts$/ }, () => ({
        loader: "ts",
        contents: `export const carriedComponents = ${JSON.stringify(components)};`,
      }));
    },
  };
}

function carryConsole(bundle: ConsoleBundle): BunPlugin {
  return {
    name: "carry-console",
    setup(builder) {
      builder.onLoad({ filter: /\/src\/server\/console\/carried\.ts$/ }, () => ({
        loader: "ts",
        contents: `export const carriedConsole = ${JSON.stringify(bundle)};`,
      }));
    },
  };
}

// The packages' own loaders try every platform, run ldd, obey NAPI_RS_NATIVE_LIBRARY_PATH and keep the path of this
// checkout; in the binary there is only one addon, and nothing to look for. Bun would carry it as it is, and write it to TMPDIR.
function bindAddons(all: readonly Addon[]): BunPlugin {
  const lazyAddon = JSON.stringify(join(PROJECT, "src/runtime/addon.ts"));
  return {
    name: "bind-addons",
    setup(builder) {
      for (const { loader, functions, packed } of all) {
        const filter = new RegExp(`/node_modules/${loader.replaceAll(".", "\\.")}$`);
        const contents = `import path from ${JSON.stringify(packed)} with { type: "file" };
import { lazyAddon } from ${lazyAddon};
module.exports = lazyAddon(path, ${JSON.stringify(functions)});`;
        builder.onLoad({ filter }, () => ({ loader: "js", contents }));
      }
    },
  };
}

/** The functions by which @simplewebauthn/server reads certificates, each the only export of the module of that name. */
const CERTIFICATES =
  /@simplewebauthn\/server\/esm\/.*\/(convertX509PublicKeyToCOSE|getCertificateInfo|isCertRevoked|mapX509SignatureAlgToCOSEAlg|validateCertificatePath|validateExtFIDOGenCEAAGUID|verifyAttestation(?:AndroidKey|Apple|TPM))\.js$/;

// Passkeys with certificates are refused before (domain/auth/factors/webauthn.ts). What would read them is a megabyte of the binary, and
// asks for a global object that a bundle makes too late.
function leaveOutCertificates(): BunPlugin {
  return {
    name: "leave-out-certificates",
    setup(builder) {
      builder.onLoad({ filter: CERTIFICATES }, ({ path }) => ({
        loader: "js",
        contents: `export function ${basename(path, ".js")}() { throw new Error("certificates are not read"); }`,
      }));
    },
  };
}

// One letter beyond ASCII in a notice that has to stay, and the whole bundle is kept with two bytes for each: 3 MB.
function writeNoticesInAscii(): BunPlugin {
  return {
    name: "write-notices-in-ascii",
    setup(builder) {
      builder.onLoad({ filter: /\/node_modules\/otpauth\/dist\/.*\.m?js$/ }, ({ path }) => ({
        loader: "js",
        contents: readFileSync(path, "utf8").replace(/^\/\/!.*$/m, (notice) =>
          notice.replace(/[^ -~]/g, (letter) => `\\u{${letter.codePointAt(0)?.toString(16)}}`),
        ),
      }));
    },
  };
}

interface Addon {
  /** The module that loads it, as JavaScript. */
  readonly loader: string;
  /** The functions used of it. */
  readonly functions: readonly string[];
  /** The addon, compressed. */
  readonly packed: string;
}

/** Compresses both into `directory`; throws if one is missing. */
async function packAddons(
  directory: string,
  { architecture, modules, level }: Pick<BuildOptions, "architecture" | "level"> & { readonly modules: string },
): Promise<readonly Addon[]> {
  const platform = `linux-${architecture}-gnu`;
  const all = [
    {
      loader: "@node-rs/argon2/index.js",
      file: join(modules, `@node-rs/argon2-${platform}/argon2.${platform}.node`),
      functions: ["hash", "verify"],
    },
    {
      loader: "@resvg/resvg-js/js-binding.js",
      file: join(modules, `@resvg/resvg-js-${platform}/resvgjs.${platform}.node`),
      functions: ["renderAsync", "Resvg"],
    },
  ];
  for (const path of all.flatMap(({ loader, file }) => [join(PROJECT, "node_modules", loader), file])) {
    if (!existsSync(path)) throw new Error(`${path} is missing; run "bun install", or check the addons in build.ts.`);
  }
  return await Promise.all(
    all.map(async ({ file, ...addon }) => {
      const content = readFileSync(file);
      return {
        ...addon,
        packed: await packFile(directory, { name: `${basename(file)}-${digestOf(content)}`, content, level }),
      };
    }),
  );
}

/** Where a release's binary is: the one for this machine has no architecture in its name. */
export function binaryPath(architecture: Architecture): string {
  return join(PROJECT, architecture === ownArchitecture() ? "dist/uam" : `dist/uam-${architecture}`);
}

/** Where its bill of materials is, beside it. */
export function sbomPath(architecture: Architecture): string {
  return `${binaryPath(architecture)}.cdx.json`;
}

/** Builds what is shipped, and prints the result on the terminal. */
export async function buildRelease(release: ReleaseArguments): Promise<void> {
  const { architecture, version } = release;
  const outfile = binaryPath(architecture);
  const began = performance.now();
  const entry = join(PROJECT, "src/main.ts");
  const size = await build({ ...release, entry, outfile, cache: join(PROJECT, "dist/cache"), level: LEVEL });
  writeFileSync(sbomPath(architecture), renderSbom(release));
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(
    `${outfile}: ${(size / 1e6).toFixed(1)} MB, uam ${version} for linux-${architecture}, built in ${seconds} s`,
  );
}

const USAGE = `Usage: bun run build [--arch ARCH] [--version X] [--npm-postgres]

Builds dist/uam, or dist/uam-ARCH for another machine's architecture. The first build on a machine compiles PostgreSQL, which takes
minutes, a Debian on amd64 with apt, and root or user namespaces.

${RELEASE_USAGE}`;

if (import.meta.main) {
  await runWithArguments({ usage: USAGE, options: RELEASE_OPTIONS }, (values) => buildRelease(readRelease(values)));
}
