/** `bun run test:long two-years [--people N]`: two years of joining, extending, disabling, expiring and recycling, of 10,000 users. */

import { join } from "node:path";
import { parseArgs } from "node:util";

const { values } = parseArgs({ options: { people: { type: "string", default: "10000" } } });
const test = join(import.meta.dir, "../../domain/lifecycle/two-years.test.ts");
const years = Bun.spawn([process.execPath, "test", "--timeout", "3600000", test], {
  env: { ...process.env, UAM_TEST_PEOPLE: values.people },
  stdio: ["inherit", "inherit", "inherit"],
});
process.exitCode = await years.exited;
