/** The ways to run the program: on Bun and on Deno from source, and as the built binary. */

import { join } from "node:path";
import { BINARY } from "./service.ts";

const ROOT = join(import.meta.dir, "../..");

/** The command of each. */
export function programs(): Readonly<Record<"bun" | "deno" | "binary", readonly string[]>> {
  const main = join(ROOT, "src/main.ts");
  return {
    bun: [process.execPath, main],
    deno: [denoPath(), "run", "--allow-all", "--no-prompt", main],
    binary: [BINARY],
  };
}

/** The program itself: the package's launcher needs Node. */
function denoPath(): string {
  const arch = process.arch === "arm64" ? "arm64" : "x64";
  return join(ROOT, `node_modules/@deno/linux-${arch}-glibc/deno`);
}
