/** The console as the build made it: carried by the binary, or a file beside the sources. */

import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type ConsoleBundle, carriedConsole } from "./carried.ts";

/** Below this path are the scripts and styles, named by their content. */
export const ASSET_ROOT = "/assets";

/** The console, or undefined where it runs from source and was not built ("bun run console" does). */
export function loadConsole(): ConsoleBundle | undefined {
  if (carriedConsole !== undefined) return carriedConsole;
  const file = fileURLToPath(new URL("../../../dist/console.json", import.meta.url));
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as ConsoleBundle) : undefined;
}
