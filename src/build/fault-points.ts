/** Leaves the fault points out of the binary: neither their names nor the variable that arms one is in it. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type BunPlugin, Glob } from "bun";

const IMPORT = /^import \{ faultPoint \} from "[./a-z-]*\/fault-point\.ts";\n/gm;
const CALL = /^ *faultPoint\("[^"\n]+"\);\n/gm;

/** A module's text without its fault points, each of which is a statement on a line of its own. */
export function withoutFaultPoints(text: string): string {
  return text.replace(IMPORT, "").replace(CALL, "");
}

/** For the modules below the directory. */
export function leaveOutFaultPoints(directory: string): BunPlugin {
  const holders = [...new Glob("**/*.ts").scanSync(directory)]
    .map((name) => join(directory, name))
    .filter((path) => readFileSync(path, "utf8").search(IMPORT) >= 0);
  const filter = new RegExp(`^(?:${holders.map((path) => path.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})$`);
  return {
    name: "leave-out-fault-points",
    setup(builder) {
      builder.onLoad({ filter }, ({ path }) => ({
        loader: "ts",
        contents: withoutFaultPoints(readFileSync(path, "utf8")),
      }));
    },
  };
}
