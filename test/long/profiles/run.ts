/**
 * `bun run test:long profiles [--seed N]`: a hostile owner's 344 ways out of `sftp`, `forward` and `command` in an order of that seed, and the service
 * killed at each step of a profile's changes, as root.
 */

import { join } from "node:path";
import { parseArgs } from "node:util";

const { values } = parseArgs({ options: { seed: { type: "string", default: String(Date.now() % 1_000_000) } } });
const tests = join(import.meta.dir, "../../host/profiles");
const tried = Bun.spawn([process.execPath, "test", "--timeout", "1800000", tests], {
  env: {
    ...process.env,
    UAM_TEST_HOST: "1",
    UAM_TEST_TRIES: "1000",
    UAM_TEST_STEPS: "1000",
    UAM_TEST_SEED: values.seed,
  },
  stdio: ["inherit", "inherit", "inherit"],
});
process.exitCode = await tried.exited;
