/** The arguments and usage texts of the build programs. */

import process from "node:process";
import { type ParseArgsConfig, parseArgs } from "node:util";
import { VERSION } from "../shared/version.ts";
import { type Architecture, ownArchitecture } from "./packages.ts";
import type { PostgresOrigin } from "./postgres/pinned.ts";

/** A mistake in the arguments, or in the variables that replace some. */
export class UsageError extends Error {}

/** Something cannot be built; the message is a sentence for the person who builds. */
export class BuildError extends Error {}

/** The options of both `bun run build` and `bun run deb`. */
export interface ReleaseArguments {
  readonly architecture: Architecture;
  readonly version: string;
  readonly postgres: PostgresOrigin;
}

/** The lines of a usage text about `--arch` and `--version`. */
export const RELEASE_USAGE = `  --arch ARCH      x64 or arm64; the default is this machine's
  --version X      the version that the program reports; the default is that of package.json (${VERSION})
  --npm-postgres   carry npm's server, which is older, instead of the one from source: to try out, not to ship
  -h, --help       print this`;

/** `--arch`, `--version` and `--npm-postgres`. */
export const RELEASE_OPTIONS = {
  arch: { type: "string" },
  version: { type: "string" },
  "npm-postgres": { type: "boolean" },
} as const;

/** Checks what was given for RELEASE_OPTIONS. Throws UsageError. */
export function readRelease({
  arch,
  version,
  "npm-postgres": isNpms = false,
}: {
  readonly arch?: string;
  readonly version?: string;
  readonly "npm-postgres"?: boolean;
}): ReleaseArguments {
  return {
    architecture: arch === undefined ? ownArchitecture() : parseArchitecture(arch),
    version: version === undefined ? VERSION : parseVersion(version),
    postgres: isNpms ? "npm" : "source",
  };
}

/**
 * Runs a program with `args`, or its own arguments. `-h` and `--help` print the usage; a UsageError, from the arguments or from the program, is
 * printed as a sentence and the usage, with exit code 2; a BuildError as a sentence, with exit code 1.
 */
export async function runWithArguments<const Options extends NonNullable<ParseArgsConfig["options"]>>(
  { usage, options, args }: { readonly usage: string; readonly options: Options; readonly args?: readonly string[] },
  main: (values: ReturnType<typeof parseArgs<{ options: Options }>>["values"]) => Promise<void>,
): Promise<void> {
  const given = [...(args ?? process.argv.slice(2))];
  if (given.includes("--help") || given.includes("-h")) {
    console.log(usage);
    return;
  }
  try {
    await main(parse({ options, args: given }));
  } catch (error) {
    if (error instanceof BuildError) {
      console.error(error.message);
      process.exitCode = 1;
      return;
    }
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\n\n${usage}`);
    process.exitCode = 2;
  }
}

function parse<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>>["values"] {
  try {
    return parseArgs(config).values;
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** Throws UsageError. */
export function parseArchitecture(text: string): Architecture {
  if (text !== "x64" && text !== "arm64")
    throw new UsageError(`There are no binaries for "${text}", only for x64 and arm64.`);
  return text;
}

/** A version that Debian's tools and this program's own messages accept; see deb-version(7). */
function parseVersion(text: string): string {
  if (!/^\d[A-Za-z0-9.+~]*$/.test(text)) {
    throw new UsageError(
      `"${text}" is not a version such as ${VERSION}: a digit, then letters, digits, ".", "+" and "~".`,
    );
  }
  return text;
}
