/** `bun run console`: bundles the console's scripts and styles into one file that the service reads, or the binary carries. */

import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { brotliCompressSync, constants } from "node:zlib";
import type { BuildArtifact } from "bun";
import { ASSET_ROOT } from "../server/console/bundle.ts";
import type { ConsoleBundle, ConsoleFile } from "../server/console/carried.ts";
import { PROJECT } from "./packages.ts";

/** Where the service finds the bundle when it runs from source. */
export const CONSOLE_BUNDLE = join(PROJECT, "dist/console.json");

/** Bundles the console. File names carry a hash of the content; the same sources give the same bytes. */
export async function bundleConsole(): Promise<ConsoleBundle> {
  const result = await Bun.build({
    entrypoints: [join(PROJECT, "src/console/main.tsx")],
    root: join(PROJECT, "src/console"),
    target: "browser",
    format: "esm",
    splitting: true,
    minify: true,
    publicPath: `${ASSET_ROOT}/`,
    naming: { entry: "[name]-[hash].[ext]", chunk: "[name]-[hash].[ext]", asset: "[name]-[hash].[ext]" },
    define: { "process.env.NODE_ENV": '"production"' },
  });
  for (const message of result.logs) console.error(String(message));
  if (!result.success) throw new Error("The console could not be bundled.");
  const files: Record<string, ConsoleFile> = {};
  for (const output of [...result.outputs].sort((a, b) => (a.path < b.path ? -1 : 1))) {
    files[nameOf(output)] = await packed(output);
  }
  return { page: pageOf(result.outputs), files };
}

const BEST = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };

/** Compressed once, here, as small as it gets: the service only hands it out. */
async function packed(output: BuildArtifact): Promise<ConsoleFile> {
  const content = Buffer.from(await output.arrayBuffer());
  // The model for fonts suits scripts, too, often a little better than the general one.
  const [br] = [constants.BROTLI_MODE_GENERIC, constants.BROTLI_MODE_FONT]
    .map((mode) => brotliCompressSync(content, { params: { ...BEST, [constants.BROTLI_PARAM_MODE]: mode } }))
    .sort((a, b) => a.byteLength - b.byteLength);
  if (br === undefined) throw new Error("There is no mode to compress in.");
  return {
    type: output.path.endsWith(".css") ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8",
    br: br.toString("base64"),
  };
}

/**
 * The one document of all pages. People without scripts see what it shows before the script runs, so it says what they need.
 */
function pageOf(outputs: readonly BuildArtifact[]): string {
  const script = outputs.find(({ kind, path }) => kind === "entry-point" && path.endsWith(".js"));
  const style = outputs.find(({ path }) => path.endsWith(".css"));
  if (script === undefined || style === undefined) throw new Error("The console has no script or no style sheet.");
  return `<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="Time-limited SSH access for external users">
<meta name="robots" content="noindex">
<title>User access</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(ICON)}">
<link rel="preload" href="/api/v1/console/config" as="fetch" crossorigin>
<link rel="stylesheet" href="${ASSET_ROOT}/${nameOf(style)}">
<script type="module" src="${ASSET_ROOT}/${nameOf(script)}"></script>
</head>
<body>
<div id="app"><main class="shell"><h1>User access</h1><p>One moment …</p><noscript><p>These pages need JavaScript. Everything they do can also be done with the API: see /api/v1/openapi.json.</p></noscript></main></div>
</body>
</html>
`;
}

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0f5c6e"/><path d="M8 11l5 5-5 5M16 22h8" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/></svg>';

function nameOf({ path }: BuildArtifact): string {
  return path.replace(/^(?:\.\/|.*\/)/, "");
}

/** Writes the bundle to `file`; it appears complete or not at all, also beside another build. */
export async function writeConsole(file: string): Promise<void> {
  mkdirSync(dirname(file), { recursive: true });
  const partial = `${file}.${process.pid}`;
  writeFileSync(partial, JSON.stringify(await bundleConsole()));
  renameSync(partial, file);
}

if (import.meta.main) await writeConsole(CONSOLE_BUNDLE);
