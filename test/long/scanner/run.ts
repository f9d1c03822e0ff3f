/** `bun run test:long scanner [--each N]`: a mail scanner that opens some 1,000 links by GET, HEAD and in Chromium, twice, and decides none. */

import { join } from "node:path";
import { parseArgs } from "node:util";

const { values } = parseArgs({ options: { each: { type: "string", default: "406" } } });
const test = join(import.meta.dir, "../../console/scanner.browser.test.ts");
const scanned = Bun.spawn([process.execPath, "test", "--timeout", "3600000", test], {
  env: { ...process.env, UAM_TEST_BROWSER: "1", UAM_TEST_SCANNED: values.each },
  stdio: ["inherit", "inherit", "inherit"],
});
process.exitCode = await scanned.exited;
