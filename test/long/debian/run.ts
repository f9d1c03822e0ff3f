/**
 * `bun run test:long debian [--suite NAME]`: the built program on each Debian that there is, booted: everything on the one that it is
 * made for, the essentials on the others; and an upgrade of one to the next with people logged in. See test/debian/run.ts.
 */

import { join } from "node:path";
import process from "node:process";
import { SUITES, UPGRADED } from "../../debian/tree.ts";

const RUN = join(import.meta.dir, "../../debian/run.ts");
const given = process.argv.slice(2);

for (const options of given.length > 0 ? [given] : [...SUITES, UPGRADED.name].map((suite) => ["--suite", suite])) {
  const status = await Bun.spawn([process.execPath, RUN, ...options], { stdio: ["ignore", "inherit", "inherit"] })
    .exited;
  if (status !== 0) process.exitCode = 1;
}
